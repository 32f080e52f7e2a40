// A database is restored from a backup, and loses what was committed since; then `tenured
// bump-terms` runs.
#include <fstream>

#include "tests/contract/raw_sql.h"
#include "tests/rpc/service_fixture.h"
#include "tests/rpc/tool.h"
#include "tests/support/sql_application.h"

namespace tenure::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// Each test loses the same commits: after the backup, in which alice leads "kept" in term 1, carol
// came to lead it in term 3, and dave came to lead an election that the backup does not have.
class RestoreTest : public ServiceTest {
 protected:
  void SetUp() override {
    ServiceTest::SetUp();
    alice_ = Campaign(A(), {.election = "kept", .candidate = "alice", .lease_ttl = 1h})
                 .session()
                 .session_id();
    Backup();
    Campaign(B(), {.election = "kept", .candidate = "bob", .request_id = "0123456789abcdef"});
    Resign(A(), alice_, "kept");
    carol_ = Campaign(A(), {"kept", "carol"}).session().session_id();
    const auto bob =
        Campaign(B(), {.election = "kept", .candidate = "bob", .request_id = "0123456789abcdef"});
    ASSERT_EQ(bob.elected().term(), 2u);
    Resign(B(), bob.session().session_id(), "kept");
    ASSERT_EQ(Campaign(B(), {"lost", "dave"}).elected().term(), 1u);
    const auto before = Leader(A(), "kept");
    ASSERT_EQ(before.term(), 3u);
    seen_ = before.revision();

    LoseWhatCameAfterTheBackup();
  }

  void LoseWhatCameAfterTheBackup() {
    for (const auto& server : servers_) server->Kill();
    Restore();
    origin_ = BumpTerms(url_);
    for (const auto& server : servers_) server->Start();
  }

  void Backup() {
    if (GetParam() == StoreKind::kMariaDb) return Database().Dump("tenure", backup());
    QueryRows(url_, "VACUUM INTO '" + backup().string() + "'");
  }

  void Restore() {
    if (GetParam() == StoreKind::kMariaDb) return Database().Restore("tenure", backup());
    const auto file = folder_.path() / "tenure.db";
    for (const char* suffix : {"", "-wal", "-shm"}) {
      std::filesystem::remove(file.string() + suffix);
    }
    std::filesystem::copy(backup(), file);
  }

  std::filesystem::path backup() const { return folder_.path() / "backup"; }

  std::string alice_;  // sessions
  std::string carol_;
  uint64_t seen_ = 0;    // the revision at which "kept" was
  uint64_t origin_ = 0;  // after which all numbers begin now
};

INSTANTIATE_TEST_SUITE_P(Stores, RestoreTest,
                         ::testing::Values(StoreKind::kSqlite, StoreKind::kMariaDb), StoreKindName);

TEST_P(RestoreTest, TheNextTermIsAboveEveryTermGrantedBefore) {
  EXPECT_GT(origin_, 3u);
  EXPECT_EQ(Campaign(A(), {"kept", "eve"}).elected().term(), origin_ + 1);
}

TEST_P(RestoreTest, TheFirstTermOfAnElectionMissingInTheBackupIsHigherToo) {
  EXPECT_EQ(Campaign(B(), {"lost", "eve"}).elected().term(), origin_ + 1);
}

TEST_P(RestoreTest, RestoringTheSameBackupAgainRepeatsNoTerm) {
  const uint64_t kept = Campaign(A(), {"kept", "eve"}).elected().term();
  const uint64_t lost = Campaign(B(), {"lost", "eve"}).elected().term();

  LoseWhatCameAfterTheBackup();

  EXPECT_GT(Campaign(A(), {"kept", "eve"}).elected().term(), kept);
  EXPECT_GT(Campaign(B(), {"lost", "eve"}).elected().term(), lost);
}

TEST_P(RestoreTest, OldLeadersLoseTheirSeatsAndLearnOfIt) {
  EXPECT_FALSE(Leader(A(), "kept").has_leader());

  EXPECT_EQ(Renew(B(), alice_).ended(), v1::CAUSE_DEPOSED);
  EXPECT_TRUE(Renew(B(), carol_).not_found());
}

TEST_P(RestoreTest, AnObserverAheadOfTheBackupIsResynchronised) {
  Campaign(A(), {"lost", "eve"});
  for (const auto& [election, next] : {std::pair("kept", seen_ + 1), std::pair("lost", 2ul)}) {
    SCOPED_TRACE(election);
    Observer observer(B(), Election(election, next));

    observer.WaitUntilOpen();

    ASSERT_FALSE(observer.Messages().empty());
    EXPECT_EQ(observer.Messages()[0].snapshot().reason(), v1::Snapshot::REASON_RESYNC);
    EXPECT_GE(observer.Messages()[0].snapshot().revision(), origin_);
  }
}

TEST_P(RestoreTest, AnObserverOfFutureElectionsMissesNothing) {
  Observer by_name(A(), Election("lost"));
  Observer by_prefix(B(), Prefix("l"));
  by_name.WaitUntilOpen();
  by_prefix.WaitUntilOpen();

  const auto session = Campaign(A(), {"lost", "eve"}).session().session_id();
  Resign(B(), session, "lost");

  const std::string term = std::to_string(origin_ + 1);
  for (Observer* observer : {&by_name, &by_prefix}) {
    EXPECT_THAT(Texts(observer->WaitForEvents(2)),
                ElementsAre("ELECTED eve " + term, "VACATED eve " + term + " RESIGNED"));
  }
}

TEST_P(RestoreTest, TheFenceRefusesEveryEarlierTerm) {
  if (GetParam() == StoreKind::kSqlite) GTEST_SKIP() << "SQLite has no fence";
  SqlApplication application(url_);
  for (const int term : {1, 2, 3}) {
    EXPECT_NE(application.Guard("'kept'", std::to_string(term)), "") << term;
  }
  Campaign(A(), {"kept", "eve"});
  Campaign(A(), {"lost", "eve"});

  for (const int term : {1, 2, 3}) {
    EXPECT_NE(application.Guard("'kept'", std::to_string(term)), "") << term;
  }
  EXPECT_NE(application.Guard("'lost'", "1"), "");
  EXPECT_EQ(application.Guard("'kept'", std::to_string(origin_ + 1)), "");
}

// Observers that ask for everything from the beginning get it, as everywhere else.
TEST_P(RestoreTest, ElectionsCreatedSinceStartWithTheirFirstEvent) {
  Campaign(A(), {"lost", "eve"});
  for (const auto& selector : {Election("lost", 1), Prefix("l", 1)}) {
    Observer observer(B(), selector);

    EXPECT_THAT(Texts(observer.WaitForEvents(1)),
                ElementsAre("ELECTED eve " + std::to_string(origin_ + 1)));
  }
  Observer hidden(B(), Election("kept", 1));
  hidden.WaitUntilOpen();
  EXPECT_EQ(hidden.Messages()[0].snapshot().reason(), v1::Snapshot::REASON_RESYNC);
}

TEST_P(RestoreTest, BumpingAgainIsHarmless) {
  const uint64_t once = origin_;
  for (const auto& server : servers_) server->Kill();

  const Finished again = RunToEnd({Program("tenured"), "bump-terms", "--store", url_});

  EXPECT_EQ(again.exit_code, 0) << again.errors;
  EXPECT_THAT(again.output,
              AllOf(HasSubstr(url_), HasSubstr("raised 1 elections, ended 0 sessions")));
  for (const auto& server : servers_) server->Start();
  EXPECT_GT(Campaign(A(), {"kept", "eve"}).elected().term(), once + 1);
}

// With the users that docs/operations.md makes. A dump carries nobody's rights, and on a new server
// the fence's owner has only those.
TEST(RestoredElsewhereTest, TheFenceWorksOnAServerThatHasNeverSeenIt) {
  constexpr char kUsers[] =
      "CREATE USER owner; CREATE USER application; GRANT CREATE, ALTER, DROP, INDEX, CREATE VIEW, "
      "CREATE"
      " ROUTINE, ALTER ROUTINE, EXECUTE, SELECT, INSERT, UPDATE, DELETE ON tenure.* TO owner";
  const auto migrate = [](const DatabaseServer& database) {
    return RunToEnd({Program("tenured"), "migrate", "--store",
                     "mysql://owner@" + database.address() + "/tenure"});
  };
  const TempDir folder;
  {
    DatabaseServer old;
    const std::string url = old.FreshDatabase("tenure");
    old.Ask(kUsers);
    ASSERT_EQ(migrate(old).exit_code, 0);
    Tenured server(url, {"--no-migrate"});
    Campaign(server, {.election = "orders", .candidate = "a", .lease_ttl = 1h});
    old.Dump("tenure", folder.path() / "backup");
  }

  DatabaseServer fresh;
  fresh.Restore("tenure", folder.path() / "backup");
  fresh.Ask(kUsers);
  EXPECT_EQ(migrate(fresh).exit_code, 0);
  fresh.Ask("GRANT EXECUTE ON PROCEDURE tenure.tenure_fence TO application");
  SqlApplication application("mysql://application@" + fresh.address() + "/tenure");
  EXPECT_EQ(application.Guard("'orders'", "1"), "");
  EXPECT_NE(application.Guard("'orders'", "2"), "");

  fresh.Ask("REVOKE EXECUTE ON tenure.* FROM owner");
  const Finished checked = migrate(fresh);
  EXPECT_EQ(checked.exit_code, 1);
  EXPECT_THAT(checked.errors, HasSubstr("Its definer needs EXECUTE"));
}

TEST(BumpTermsCommandTest, TheUserAndTheReasonOfABumpAreRecordedAndLogged) {
  const TempDir folder;
  const std::string url = "sqlite:" + (folder.path() / "tenure.db").string();
  Tenured server(url);
  Campaign(server, {.election = "orders", .candidate = "alice"});

  const Finished bumped = RunToEnd(
      {Program("tenured"), "bump-terms", "--store", url, "--reason", "restored Monday's backup"},
      {{"SUDO_USER", "olga"}});
  ASSERT_EQ(bumped.exit_code, 0) << bumped.errors;

  EXPECT_TRUE(Eventually([&] {
    const std::string log = server.process().Errors();
    return log.find("all terms were raised") != std::string::npos &&
           log.find("by=olga@") != std::string::npos &&
           log.find("why=\"restored Monday's backup\"") != std::string::npos;
  })) << server.process().Errors();
  const Finished history = RunTool(server, {"history"});
  EXPECT_EQ(history.exit_code, 0) << history.errors;
  EXPECT_THAT(history.output, AllOf(HasSubstr("TERMS_RAISED"), HasSubstr("olga@"),
                                    HasSubstr("restored Monday's backup")));
  server.Terminate();
  server.Start();
  EXPECT_THAT(server.process().Errors(), Not(HasSubstr("all terms were raised")))
      << "this process has not seen the terms from before";
}

TEST(BumpTermsCommandTest, AReasonThatCannotBeRecordedChangesNothing) {
  const TempDir folder;
  const std::string url = "sqlite:" + (folder.path() / "tenure.db").string();
  ASSERT_EQ(RunToEnd({Program("tenured"), "migrate", "--store", url}).exit_code, 0);
  for (const std::string& reason :
       {std::string(300, 'x'), std::string("\xff"), std::string("\n")}) {
    const Finished bumped =
        RunToEnd({Program("tenured"), "bump-terms", "--store", url, "--reason", reason});

    EXPECT_EQ(bumped.exit_code, 2);
    EXPECT_THAT(bumped.errors, HasSubstr("--reason: the reason "));
  }
  EXPECT_THAT(QueryRows(url, "SELECT * FROM admin_changes"), IsEmpty());
}

TEST(BumpTermsCommandTest, AnyUserNameCanBeRecorded) {
  const TempDir folder;
  const std::string url = "sqlite:" + (folder.path() / "tenure.db").string();
  ASSERT_EQ(RunToEnd({Program("tenured"), "migrate", "--store", url}).exit_code, 0);
  for (const std::string& user : {std::string("olga\xff"), std::string(300, 'x')}) {
    const Finished bumped =
        RunToEnd({Program("tenured"), "bump-terms", "--store", url}, {{"SUDO_USER", user}});
    EXPECT_EQ(bumped.exit_code, 0) << bumped.errors;
  }

  Tenured server(url);
  const Finished history = RunTool(server, {"history"});
  EXPECT_EQ(history.exit_code, 0) << history.errors;
  EXPECT_THAT(history.output, HasSubstr("olga\\xff@"));
}

TEST(BumpTermsCommandTest, AStoreWithoutASchemaGetsNone) {
  const TempDir folder;
  const std::string url = "sqlite:" + (folder.path() / "mistyped.db").string();
  std::ofstream(folder.path() / "mistyped.db") << "";

  const Finished bumped = RunToEnd({Program("tenured"), "bump-terms", "--store", url});

  EXPECT_EQ(bumped.exit_code, 1);
  EXPECT_THAT(bumped.errors, HasSubstr("run: tenured migrate --store " + url));
}

}  // namespace
}  // namespace tenure::testing
