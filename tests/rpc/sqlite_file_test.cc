// A SQLite file that is taken away from a running replica: it serves nothing, is not ready and says
// why, so that it does not lead beside a replica that is started on the path.
#include <filesystem>

#include "tests/contract/raw_sql.h"
#include "tests/rpc/service_fixture.h"

namespace tenure::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class SqliteFileTest : public ::testing::Test {
 protected:
  [[nodiscard]] fs::path File() const { return folder_.path() / "tenure.db"; }
  [[nodiscard]] std::string Url() const { return "sqlite:" + File().string(); }
  void Remove() {
    for (const char* suffix : {"", "-wal", "-shm"}) fs::remove(File().string() + suffix);
  }
  static void ExpectServesNothing(Tenured& server, const std::string& why) {
    EXPECT_TRUE(Eventually([&] { return server.Get("/readyz").first == 503; }));
    EXPECT_TRUE(Eventually([&] {
      return server.process().Errors().find(why) != std::string::npos;
    })) << server.process().Errors();
    grpc::ClientContext campaigns;
    v1::CampaignResponse response;
    EXPECT_EQ(ReasonOf(server.stub().Campaign(&campaigns, ToRequest({"jobs", "carol"}), &response)),
              "STORE_UNAVAILABLE");
    grpc::ClientContext asks;
    v1::LeaderRequest request;
    request.set_election("orders");
    v1::LeaderResponse leader;
    EXPECT_EQ(ReasonOf(server.stub().Leader(&asks, request, &leader)), "STORE_UNAVAILABLE");
  }

  const TempDir folder_;
};

TEST_F(SqliteFileTest, AReplicaWhoseFileIsRemovedDoesNotLeadBesideTheNextOne) {
  Tenured first(Url());
  Campaign(first, {.election = "orders", .candidate = "alice"});

  Remove();
  Tenured second(Url());
  EXPECT_TRUE(Campaign(second, {.election = "orders", .candidate = "bob"}).has_elected());

  ExpectServesNothing(first, "another one has taken its place");
  EXPECT_EQ(Leader(second, "orders").leader().candidate(), "bob");
}

TEST_F(SqliteFileTest, AReplicaWhoseFileIsMovedAwaySaysSoAndGoesOnWhenItIsBack) {
  Tenured server(Url());
  Campaign(server, {.election = "orders", .candidate = "alice", .lease_ttl = 10min});
  const fs::path away = folder_.path() / "away.db";

  fs::rename(File(), away);
  ExpectServesNothing(server, "was removed or moved away");

  fs::rename(away, File());
  server.WaitUntilReady();
  EXPECT_EQ(Leader(server, "orders").leader().candidate(), "alice");
}

TEST_F(SqliteFileTest, ACommandOnAFileThatIsNotThereMakesNone) {
  for (const auto& [command, exit_code] : {std::pair("bump-terms", 1), std::pair("check", 0)}) {
    const Finished finished = RunToEnd({Program("tenured"), command, "--store", Url()});

    EXPECT_EQ(finished.exit_code, exit_code);
    EXPECT_NE((finished.output + finished.errors).find("is not there"), std::string::npos);
    EXPECT_FALSE(fs::exists(File())) << command;
  }
}

// As in a folder that the user may not search.
TEST_F(SqliteFileTest, ACommandOnAFileThatCannotBeLookedForSaysWhy) {
  fs::create_symlink(File(), File());  // a loop
  const std::string id(32, 'b');
  for (const std::vector<std::string>& flags :
       std::vector<std::vector<std::string>>{{"check"}, {"bump-terms"}, {"--service-id", id}}) {
    std::vector<std::string> command = {Program("tenured"), "--store", Url()};
    command.insert(command.end(), flags.begin(), flags.end());

    const Finished finished = RunToEnd(command);

    EXPECT_EQ(finished.exit_code, 1) << flags.front();
    EXPECT_THAT(finished.output + finished.errors,
                HasSubstr("cannot look for the file: Too many levels of symbolic links"));
  }
}

// Others may have to read it.
TEST_F(SqliteFileTest, AFileThatIsNotTenuresKeepsItsRights) {
  (void)QueryRows(Url(), "CREATE TABLE invoices (id INT)");
  const auto others_read = fs::perms(0644);
  fs::permissions(File(), others_read);
  for (const std::string command : {"check", "migrate", "bump-terms", ""}) {
    std::vector<std::string> line = {Program("tenured"), "--store", Url()};
    if (!command.empty()) line.push_back(command);

    EXPECT_EQ(RunToEnd(line).exit_code, 1) << command;

    EXPECT_EQ(fs::status(File()).permissions(), others_read) << command;
  }
  EXPECT_EQ(
      RunToEnd({Program("tenured"), "migrate", "--share-database", "--store", Url()}).exit_code, 0);
  EXPECT_EQ(fs::status(File()).permissions(), fs::perms(0600)) << "the ids of sessions are secrets";
}

TEST_F(SqliteFileTest, ACheckLeavesTheRightsOfAFileAsTheyAre) {
  ASSERT_EQ(RunToEnd({Program("tenured"), "migrate", "--store", Url()}).exit_code, 0);
  fs::permissions(File(), fs::perms(0644));

  EXPECT_EQ(RunToEnd({Program("tenured"), "check", "--store", Url()}).exit_code, 0);

  EXPECT_EQ(fs::status(File()).permissions(), fs::perms(0644));
}

}  // namespace
}  // namespace tenure::testing
