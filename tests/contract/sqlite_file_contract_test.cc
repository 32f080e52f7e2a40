// A SQLite file that is removed, moved or replaced under a running replica: nothing is read from it
// or written to it any more, since a replica started on the path has another file.
#include <fmt/format.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <functional>

#include "core/law/law_testing.h"
#include "tests/contract/store_contract.h"

namespace tenure::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;

// Something that happens to the files of a store that is open, by a path that may lead through a
// symbolic link.
struct Accident {
  std::string name;
  std::string says;  // part of why nothing is served
  std::function<void(const fs::path& folder)> happen;
};

// The store opens FOLDER/current/tenure.db, where `current` is a link to FOLDER/data.
class SqliteFile : public ::testing::Test {
 protected:
  SqliteFile() {
    fs::create_directory(folder_.path() / "data");
    fs::create_directory_symlink("data", folder_.path() / "current");
  }

  std::unique_ptr<Store> Open() {
    auto store = OpenUrl("sqlite:" + Path().string());
    EXPECT_TRUE(store->Migrate());
    return store;
  }
  [[nodiscard]] fs::path Path() const { return folder_.path() / "current" / "tenure.db"; }

  // What a replica does: it grants a seat in a new election.
  static Result<Committed> Grant(Store& store, const std::string& election) {
    Campaign campaign = FirstCampaignBy(election);
    campaign.election = {election};
    return store.Transact(LockSetOf({campaign}), {}, [&](TransactionState& transaction) {
      EXPECT_TRUE(Apply(transaction, Limits(), campaign));
    });
  }

  const TempDir folder_;
};

class SqliteFileContract : public SqliteFile, public ::testing::WithParamInterface<Accident> {};

INSTANTIATE_TEST_SUITE_P(
    Accidents, SqliteFileContract,
    ::testing::Values(
        Accident{"Removed", "was removed or moved away",
                 [](const fs::path& folder) { fs::remove(folder / "data/tenure.db"); }},
        Accident{"RemovedWithItsLog", "was removed or moved away",
                 [](const fs::path& folder) {
                   for (const char* suffix : {"", "-wal", "-shm"}) {
                     fs::remove(folder / ("data/tenure.db" + std::string(suffix)));
                   }
                 }},
        Accident{"MovedAway", "was removed or moved away",
                 [](const fs::path& folder) {
                   fs::rename(folder / "data/tenure.db", folder / "data/old.db");
                 }},
        Accident{"Recreated", "another one has taken its place",
                 [](const fs::path& folder) {
                   fs::rename(folder / "data/tenure.db", folder / "data/old.db");
                   std::ofstream(folder / "data/tenure.db") << "";
                 }},
        Accident{"MovedOver", "another one has taken its place",
                 [](const fs::path& folder) {
                   fs::copy_file(folder / "data/tenure.db", folder / "data/copy.db");
                   fs::rename(folder / "data/copy.db", folder / "data/tenure.db");
                 }},
        Accident{"LogRemoved", "tenure.db-wal' was removed or moved away",
                 [](const fs::path& folder) { fs::remove(folder / "data/tenure.db-wal"); }},
        Accident{"IndexRemoved", "tenure.db-shm' was removed or moved away",
                 [](const fs::path& folder) { fs::remove(folder / "data/tenure.db-shm"); }},
        Accident{"FolderMoved", "was removed or moved away",
                 [](const fs::path& folder) { fs::rename(folder / "data", folder / "old"); }},
        Accident{"FolderReplaced", "another one has taken its place",
                 [](const fs::path& folder) {
                   fs::rename(folder / "data", folder / "old");
                   fs::create_directory(folder / "data");
                   std::ofstream(folder / "data/tenure.db") << "";
                 }},
        Accident{"LinkChanged", "another one has taken its place",
                 [](const fs::path& folder) {
                   fs::create_directory(folder / "other");
                   std::ofstream(folder / "other/tenure.db") << "";
                   fs::remove(folder / "current");
                   fs::create_directory_symlink("other", folder / "current");
                 }},
        Accident{"LinkRemoved", "was removed or moved away",
                 [](const fs::path& folder) { fs::remove(folder / "current"); }},
        Accident{"SecondName", "has 2 names",
                 [](const fs::path& folder) {
                   fs::create_hard_link(folder / "data/tenure.db", folder / "data/second.db");
                 }}),
    [](const auto& info) { return info.param.name; });

TEST_P(SqliteFileContract, NothingIsServedFromAFileThatOthersDoNotFind) {
  const auto store = Open();
  ASSERT_TRUE(Grant(*store, "before"));

  GetParam().happen(folder_.path());

  const auto says = HasSubstr(GetParam().says);
  const auto granted = Grant(*store, "after");
  ASSERT_EQ(ReasonOf(granted), Reason::kStoreUnavailable);
  EXPECT_THAT(granted.error().message, AllOf(says, HasSubstr("othing is served")));
  EXPECT_EQ(ReasonOf(store->ReadElections({{"before"}})), Reason::kStoreUnavailable);
  EXPECT_EQ(ReasonOf(store->ReadAttendance({})), Reason::kStoreUnavailable);
  EXPECT_EQ(ReasonOf(store->FindDueWork(1)), Reason::kStoreUnavailable);
  EXPECT_EQ(ReasonOf(store->Ping()), Reason::kStoreUnavailable);
  EXPECT_EQ(ReasonOf(store->CheckSchema()), Reason::kStoreUnavailable);
  EXPECT_EQ(ReasonOf(store->Migrate()), Reason::kStoreUnavailable);
}

TEST_P(SqliteFileContract, NothingIsCommittedToAFileThatIsLostDuringATransaction) {
  const auto store = Open();
  Campaign campaign = FirstCampaignBy("a");

  const auto granted = store->Transact(LockSetOf({campaign}), {}, [&](TransactionState& state) {
    EXPECT_TRUE(Apply(state, Limits(), campaign));
    GetParam().happen(folder_.path());
  });

  EXPECT_EQ(ReasonOf(granted), Reason::kStoreUnavailable);
}

TEST_F(SqliteFile, AFileThatComesBackIsServedAgain) {
  const auto store = Open();
  fs::rename(folder_.path() / "data", folder_.path() / "away");
  EXPECT_FALSE(store->Ping());

  fs::rename(folder_.path() / "away", folder_.path() / "data");

  EXPECT_TRUE(Grant(*store, "orders"));
}

TEST_F(SqliteFile, TwoReplicasShareAFileByTwoPaths) {
  const auto store = Open();
  ASSERT_TRUE(Grant(*store, "orders"));
  const auto other = OpenUrl("sqlite:" + (folder_.path() / "data/tenure.db").string());

  const auto seen = other->ReadElections({{"orders"}});

  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->size(), 1u);
  EXPECT_TRUE(Grant(*other, "jobs"));
  EXPECT_TRUE(Grant(*store, "mail"));
}

// They hold the ids of sessions.
TEST_F(SqliteFile, OnlyTheOwnerMayReadTheFiles) {
  const auto modes = [&] {
    std::vector<std::string> all;
    for (const auto& file : fs::directory_iterator(folder_.path() / "data")) {
      const auto mode = static_cast<unsigned>(fs::status(file).permissions());
      all.push_back(fmt::format("{} {:o}", file.path().filename().string(), mode));
    }
    return all;
  };
  const auto is_private = IsSupersetOf({"tenure.db 600", "tenure.db-wal 600", "tenure.db-shm 600"});
  const mode_t umask_before = umask(0);
  {
    const auto store = Open();
    EXPECT_THAT(modes(), is_private);

    // As older versions made them.
    for (const auto& file : fs::directory_iterator(folder_.path() / "data")) {
      fs::permissions(file, fs::perms(0644));
    }
    const auto other = Open();
    EXPECT_THAT(modes(), is_private);
  }
  umask(umask_before);
}

}  // namespace
}  // namespace tenure::testing
