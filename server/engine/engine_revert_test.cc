// The engine when its database goes back to an earlier state, as from a snapshot of its disk, under
// the same server: nothing in the server's name shows it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

#include "server/engine/engine_testing.h"

namespace tenure::engine {
namespace {

using namespace tenure::testing;
using namespace std::chrono_literals;
using ::testing::Contains;

struct Folder {
  Folder() {
    path = mkdtemp((std::filesystem::temp_directory_path() / "tenure-XXXXXX").string().data());
  }
  ~Folder() { std::filesystem::remove_all(path); }
  [[nodiscard]] std::filesystem::path operator/(const std::string& name) const {
    return path / name;
  }
  std::filesystem::path path;
};

// Several elections of each partition.
constexpr int kElections = 4 * kPartitionCount;

class RevertTest : public ::testing::Test {
 protected:
  RevertTest() {
    EXPECT_TRUE(store_->Migrate());
    EXPECT_TRUE(a_.engine.Start());
    Advance(100ms);
    for (int i = 0; i < kElections; ++i) EXPECT_TRUE(a_.Do(Stand(Name(i), "a")));
    // The snapshot.
    for (const char* file : {"", "-wal"}) {
      const std::string path = (folder_ / "db").string();
      if (std::filesystem::exists(path + file)) {
        std::filesystem::copy(path + file, path + ".snapshot" + file);
      }
    }
    // The snapshot lacks a term of each election, and beats of the replica.
    for (int i = 0; i < kElections; ++i) {
      EXPECT_TRUE(a_.Do(Leave(Name(i), "a")));
      EXPECT_TRUE(a_.Do(Stand(Name(i), "a")));
    }
    Advance(3s);
    reverted_ = Open("db.snapshot");
  }

  // From now on `a_` is cut off, and another replica works on the reverted database until it is
  // further in each partition than `a_` remembers.
  void LetAnotherGoOn() {
    a_.store.FailAll();
    Replica b(*reverted_);
    b.scheduler.SetNow(a_.scheduler.Now());
    EXPECT_TRUE(b.engine.Start());
    b.Run();
    for (int i = 0; i < kElections; ++i) {
      for (int turn = 0; turn < 10; ++turn) {
        EXPECT_TRUE(b.Do(Stand(Name(i), "b")));
        EXPECT_TRUE(b.Do(Leave(Name(i), turn == 0 ? "a" : "b")));
      }
    }
    b.scheduler.Die();
    a_.store.Become(*reverted_);
    a_.store.Heal();
  }

  static std::string Name(int number) { return "e" + std::to_string(number); }
  std::unique_ptr<Store> Open(const std::string& file) {
    return sqlite::OpenSqliteStore((folder_ / file).string(),
                                   [this] {
                                     return kNow +
                                            std::chrono::duration_cast<Duration>(
                                                a_.scheduler.Now() - ManualScheduler::kStart);
                                   })
        .value();
  }
  void Advance(SteadyTime::duration duration) { a_.scheduler.Advance(duration); }
  [[nodiscard]] Term TermOf(int number) {
    return reverted_->ReadElections({{Name(number)}}).value().at({Name(number)}).election.term;
  }

  const Folder folder_;
  std::unique_ptr<Store> store_ = Open("db");
  Replica a_{*store_};
  std::unique_ptr<Store> reverted_;
};

TEST_F(RevertTest, TheRevertIsNoticedWhateverOthersHaveDoneSince) {
  const Watching watching(a_.engine.hub(), {WatchElection{{Name(0)}}});
  LetAnotherGoOn();

  Advance(2s);
  EXPECT_EQ(a_.metrics.database_resets.Value(), 1);
  EXPECT_FALSE(a_.engine.Ready());

  Advance(2 * kLease);
  EXPECT_TRUE(a_.engine.Ready());
  EXPECT_THAT(watching.lines(), Contains("reset"));
  for (int i = 0; i < kElections; ++i) EXPECT_GT(TermOf(i), Term{1'000'000});
}

// Before anything has noticed it.
TEST_F(RevertTest, NoReadShowsALowerTermThanWasAcknowledged) {
  LetAnotherGoOn();
  for (int i = 0; i < kElections; ++i) {
    EXPECT_THAT(a_.Read({Name(i)}), FailsWith(Reason::kStoreUnavailable));
  }
}

TEST_F(RevertTest, NoReadShowsALowerTermEvenIfNobodyHasWrittenSince) {
  a_.store.Become(*reverted_);

  for (int i = 0; i < kElections; ++i) {
    EXPECT_THAT(a_.Read({Name(i)}), FailsWith(Reason::kStoreUnavailable));
  }
}

TEST_F(RevertTest, NoTermIsGrantedTwice) {
  LetAnotherGoOn();

  EXPECT_THAT(a_.Do(Leave(Name(0), "a")), FailsWith(Reason::kStoreUnavailable));
  EXPECT_THAT(a_.Do(Stand(Name(1), "c")), FailsWith(Reason::kStoreUnavailable));
}

}  // namespace
}  // namespace tenure::engine
