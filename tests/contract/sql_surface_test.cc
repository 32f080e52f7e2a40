// The promises to applications that use plain SQL: the views, and the guard of a transaction.
// Checked on the engines of tests/support/database_server.h, and the views on SQLite, too.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <future>
#include <random>

#include "core/law/law.h"
#include "storage/mysql/connection.h"
#include "storage/open_store.h"
#include "tests/contract/raw_sql.h"
#include "tests/contract/server.h"
#include "tests/support/sql_application.h"

namespace tenure {
namespace {

using namespace std::chrono_literals;
using ::tenure::testing::Eventually;
using ::tenure::testing::Server;
using ::tenure::testing::ServerName;
using ::tenure::testing::SqlApplication;
using ::tenure::testing::TempDir;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::SizeIs;

enum class Kind { kSqliteFile, kServer };

std::string KindName(const ::testing::TestParamInfo<Kind>& info) {
  if (info.param == Kind::kSqliteFile) return "SqliteFile";
  return ServerName();
}

SessionId NewSessionId() {
  thread_local std::mt19937_64 random{std::random_device{}()};
  SessionId id;
  for (uint8_t& byte : id.bytes) byte = static_cast<uint8_t>(random());
  return id;
}

std::unique_ptr<Store> OpenUrl(const std::string& url) {
  return OpenStore(ParseStoreUrl(url).value()).value();
}

// Elections, sessions and their histories, made as tenured makes them.
class SqlSurface {
 public:
  explicit SqlSurface(std::string url) : url_(std::move(url)), store_(OpenUrl(url_)) {
    const auto migrated = store_->Migrate();
    EXPECT_TRUE(migrated) << migrated.error().message;
  }

  const std::string& url() const { return url_; }
  Store& store() { return *store_; }

  // Nothing if the election is locked by another transaction.
  std::optional<Result<Answer>> Try(const Command& command) {
    std::optional<Result<Answer>> answer;
    const auto committed =
        store_->Transact(LockSetOf({&command}), {}, [&](TransactionState& transaction) {
          answer.reset();
          if (transaction.busy.empty()) answer = Apply(transaction, {}, command);
        });
    EXPECT_TRUE(committed) << committed.error().message;
    return answer;
  }

  bool IsBusy(const std::string& election) { return !Try(Reconcile{{election}, {}}).has_value(); }

  CampaignAnswer Stand(const std::string& election, const SessionId& session,
                       const std::string& candidate, Duration ttl = 60s, int32_t priority = 0) {
    const Campaign campaign{{election}, session, Campaign::Opening{candidate, ttl}, {}, "v",
                            priority,   CallId{}};
    return std::get<CampaignAnswer>(Try(campaign).value().value());
  }

  void Leave(const std::string& election, const SessionId& session) {
    const auto answer = std::get<ResignAnswer>(Try(Resign{{election}, session, {}})->value());
    EXPECT_NE(answer.outcome, ResignOutcome::kNotStanding);
  }

  // The first step of an end: the session's elections are not settled.
  void End(const SessionId& session, Cause cause) {
    EXPECT_TRUE(store_->Transact({{}, {session}}, {}, [&](TransactionState& transaction) {
      EXPECT_TRUE(EndSession(transaction, session, cause));
    }));
  }

  // Moves a session to a new home.
  void Move(const SessionId& session, HomeId home) {
    EXPECT_TRUE(store_->BeginHome({.id = home, .good_for = std::chrono::seconds(3)}).value());
    EXPECT_TRUE(store_->Transact({{}, {session}}, {}, [&](TransactionState& transaction) {
      transaction.home = home;
      EXPECT_TRUE(Adopt(transaction, session));
    }));
  }

  bool CanMove(const SessionId& session) {
    bool moved = false;
    EXPECT_TRUE(store_->Transact({{}, {session}}, {}, [&](TransactionState& transaction) {
      moved = tenure::Adopt(transaction, session).has_value();
    }));
    return moved;
  }

 private:
  std::string url_;
  std::unique_ptr<Store> store_;
};

class PlainSqlTest : public ::testing::TestWithParam<Kind> {
 protected:
  void SetUp() override {
    const bool sqlite = GetParam() == Kind::kSqliteFile;
    url_ = sqlite ? "sqlite:" + path() : Server().FreshDatabase("tenure");
    surface_ = std::make_unique<SqlSurface>(url_);
  }

  std::vector<std::string> Query(const std::string& sql) {
    return ::tenure::testing::QueryRows(url_, sql);
  }

  std::string path() const { return (folder_.path() / "tenure.db").string(); }
  SqlSurface& surface() { return *surface_; }

 private:
  TempDir folder_;
  std::string url_;
  std::unique_ptr<SqlSurface> surface_;
};

INSTANTIATE_TEST_SUITE_P(Stores, PlainSqlTest, ::testing::Values(Kind::kSqliteFile, Kind::kServer),
                         KindName);

TEST_P(PlainSqlTest, TheViewLeadersShowsWhoLeadsAndForHowLong) {
  const SessionId alice = NewSessionId();
  surface().Stand("e", alice, "alice", 60s);
  surface().Stand("f", NewSessionId(), "bob", 10s);
  surface().Stand("f", NewSessionId(), "carol");

  EXPECT_THAT(Query("SELECT election, term, candidate, value, lease_ttl_ms FROM leaders"
                    " ORDER BY election"),
              ElementsAre("e|1|alice|v|60000", "f|1|bob|v|10000"));

  const auto left_ms = [&] {
    return std::stoi(Query("SELECT lease_left_ms FROM leaders WHERE election = 'e'")[0]);
  };
  EXPECT_EQ(left_ms(), 0) << "nobody keeps it";
  surface().Move(alice, {7});
  EXPECT_EQ(left_ms(), 60'000);
  ASSERT_TRUE(surface().store().DeclareDead({7}, 0).value());
  EXPECT_TRUE(Eventually([&] { return left_ms() < 60'000; }));
  EXPECT_GT(left_ms(), 30'000);
}

TEST_P(PlainSqlTest, TimesAreInUtc) {
  const auto answer = surface().Stand("e", NewSessionId(), "alice");

  const auto elected_us = answer.election.leader->elected_at.since_epoch.count();
  const std::string elected_at = Query("SELECT elected_at FROM leaders").at(0);
  EXPECT_THAT(elected_at, MatchesRegex("2...-..-.. ..:..:..[.]......"));
  EXPECT_EQ(elected_at.substr(17),
            fmt::format("{:02}.{:06}", elected_us / 1'000'000 % 60, elected_us % 1'000'000));
  EXPECT_EQ(elected_at.substr(11, 2), fmt::format("{:02}", elected_us / 3'600'000'000 % 24));
  EXPECT_THAT(Query("SELECT began_at FROM terms"), ElementsAre(elected_at));
}

TEST_P(PlainSqlTest, TheViewLeadersShowsNoExpiredLeader) {
  const SessionId brief = NewSessionId();
  surface().Stand("e", brief, "brief");
  const SessionId closed = NewSessionId();
  surface().Stand("f", closed, "closed");

  surface().End(brief, Cause::kExpired);
  surface().End(closed, Cause::kSessionClosed);

  EXPECT_TRUE(Eventually([&] { return Query("SELECT * FROM leaders").empty(); }));
}

TEST_P(PlainSqlTest, TheViewQueueShowsTheNextLiveCandidates) {
  surface().Stand("e", NewSessionId(), "leader");
  const SessionId dead = NewSessionId();
  surface().Stand("e", dead, "dead", 60s, 8);
  surface().Stand("e", NewSessionId(), "first");
  surface().Stand("e", NewSessionId(), "second");
  surface().Stand("e", NewSessionId(), "last", 60s, std::numeric_limits<int32_t>::min());
  surface().Stand("e", NewSessionId(), "urgent", 60s, std::numeric_limits<int32_t>::max());
  surface().Stand("f", NewSessionId(), "leader");
  surface().Stand("f", NewSessionId(), "alone");
  surface().End(dead, Cause::kSessionClosed);

  EXPECT_THAT(Query("SELECT election, position, candidate, priority, ticket FROM queue"
                    " ORDER BY election, position"),
              ElementsAre("e|1|urgent|2147483647|5", "e|2|first|0|2", "e|3|second|0|3",
                          "e|4|last|-2147483648|4", "f|1|alone|0|1"));
}

TEST_P(PlainSqlTest, TheViewTermsShowsWhoLedFromWhenToWhenAndWhyItEnded) {
  const SessionId alice = NewSessionId();
  const SessionId bob = NewSessionId();
  surface().Stand("e", alice, "alice");
  surface().Try(Proclaim{{"e"}, alice, {1}, "w"});
  surface().Stand("e", bob, "bob");
  surface().Leave("e", alice);

  EXPECT_THAT(Query("SELECT election, term, candidate, cause FROM terms ORDER BY term"),
              ElementsAre("e|1|alice|RESIGNED", "e|2|bob|NULL"));
  EXPECT_THAT(Query("SELECT term FROM terms WHERE ended_at IS NULL"), ElementsAre("2"));
  EXPECT_THAT(Query("SELECT a.term FROM terms a JOIN terms b ON b.election = a.election"
                    " AND b.term = a.term + 1 WHERE a.began_at < a.ended_at"
                    " AND a.ended_at = b.began_at"),
              ElementsAre("1"));
}

TEST_P(PlainSqlTest, TheViewTermsNamesEveryCause) {
  const SessionId session = NewSessionId();
  for (int cause = 1; cause <= 7; ++cause) {
    surface().Stand("e", session, "a");
    surface().Leave("e", session);
    Query(fmt::format("UPDATE events SET cause = {0} WHERE term = {0} AND type = 3", cause));

    const auto told = Query(fmt::format("SELECT cause FROM terms WHERE term = {}", cause));

    EXPECT_THAT(told, ElementsAre(std::string(CauseName(static_cast<Cause>(cause)))));
  }
}

TEST_P(PlainSqlTest, NamesAreComparedExactly) {
  for (const std::string name : {"test", "TEST", "test ", "tést", "it''s"}) {
    surface().Stand(name == "it''s" ? "it's" : name, NewSessionId(), "leader of " + name);
  }

  for (const std::string name : {"test", "TEST", "test ", "tést", "it''s"}) {
    EXPECT_THAT(Query("SELECT candidate FROM leaders WHERE election = '" + name + "'"),
                ElementsAre("leader of " + name));
  }
  EXPECT_THAT(Query("SELECT candidate FROM leaders WHERE election = 'Test'"), IsEmpty());
}

TEST_P(PlainSqlTest, NoViewHasUndocumentedColumns) {
  surface().Stand("e", NewSessionId(), "a");
  surface().Stand("e", NewSessionId(), "b");
  const auto width = [&](const std::string& view) {
    const std::string row = Query("SELECT * FROM " + view).at(0);
    return 1 + std::ranges::count(row, '|');
  };

  EXPECT_EQ(width("leaders"), 7);  // and every one of them is named in a test above
  EXPECT_EQ(width("queue"), 5);
  EXPECT_EQ(width("terms"), 6);
}

// The guard, and what Tenure may do meanwhile.
class FenceTest : public ::testing::Test {
 protected:
  // The store URL of a new user that has these rights.
  std::string UserWith(const std::string& rights, const std::string& name = "somebody") {
    const auto made = Server().Query("DROP USER IF EXISTS " + name + "; CREATE USER " + name +
                                     "; GRANT " + rights + " TO " + name);
    EXPECT_EQ(made.exit_code, 0) << made.errors;
    std::string url = surface_.url();
    return url.replace(url.find("root@"), 5, name + "@");
  }

  void SetUp() override {
    surface_.Stand("e", leader_, "leader");
    surface_.Stand("f", leader_, "leader");
    surface_.Stand("e", next_, "next");
  }

  SqlSurface surface_{Server().FreshDatabase("tenure")};
  const SessionId leader_ = NewSessionId();
  const SessionId next_ = NewSessionId();
};

TEST_F(FenceTest, OnlyATakeoverWaitsForTheGuardedTransaction) {
  for (const std::string isolation : {"READ COMMITTED", "REPEATABLE READ"}) {
    SCOPED_TRACE(isolation);
    const std::string election = isolation == "READ COMMITTED" ? "rc" : "rr";
    surface_.Stand(election, leader_, "leader");
    surface_.Stand(election, next_, "next");
    SqlApplication application(surface_.url(), isolation);
    application.Run("START TRANSACTION");
    ASSERT_EQ(application.Guard("'" + election + "'", "1"), "");

    EXPECT_TRUE(surface_.IsBusy(election));
    EXPECT_FALSE(surface_.Try(Resign{{election}, leader_, {}}).has_value());
    EXPECT_FALSE(surface_.IsBusy("f"));
    EXPECT_TRUE(surface_.CanMove(leader_));
    EXPECT_TRUE(surface_.Stand("new " + election, leader_, "leader").elected);
    SqlApplication another(surface_.url(), isolation);
    another.Run("START TRANSACTION");
    EXPECT_EQ(another.Guard("'" + election + "'", "1"), "");
    another.Run("COMMIT");
    EXPECT_TRUE(surface_.IsBusy(election));

    application.Run("COMMIT");
    surface_.Leave(election, leader_);
    EXPECT_THAT(application.Guard("'" + election + "'", "1"), HasSubstr("does not stand"));
    EXPECT_EQ(application.Guard("'" + election + "'", "2"), "");
  }
}

TEST_F(FenceTest, AnEndedTermIsRefusedAndDelaysNobody) {
  surface_.Leave("e", leader_);
  surface_.Leave("f", leader_);
  SqlApplication application(surface_.url());
  application.Run("START TRANSACTION");

  EXPECT_THAT(application.Guard("'e'", "1"),
              HasSubstr("tenure_fence: term 1 of election 'e' does not stand"));
  EXPECT_NE(application.Guard("'f'", "1"), "") << "vacant";
  EXPECT_NE(application.Guard("'f'", "0"), "");
  EXPECT_NE(application.Guard("'f'", "NULL"), "");
  EXPECT_NE(application.Guard("NULL", "2"), "");
  EXPECT_NE(application.Guard("'E'", "2"), "");
  EXPECT_NE(application.Guard("'e '", "2"), "");
  EXPECT_NE(application.Guard("''", "2"), "");
  EXPECT_NE(application.Guard("'unknown'", "1"), "");
  EXPECT_NE(application.Guard("REPEAT('ü', 1000)", "1"), "");

  EXPECT_FALSE(surface_.IsBusy("e"));
  EXPECT_FALSE(surface_.IsBusy("f"));
  EXPECT_TRUE(surface_.Stand("unknown", leader_, "leader").elected) << "a gap is locked";
  EXPECT_NE(application.Guard("'e'", "3"), "") << "not granted yet";
}

TEST_F(FenceTest, NamesReachTheGuardInAnyCharacterSet) {
  surface_.Stand("tést", leader_, "leader");
  SqlApplication application(surface_.url());

  EXPECT_EQ(application.Guard("_utf8mb4 x'74c3a97374'", "1"), "");
  EXPECT_EQ(application.Guard("_latin1 x'74e97374'", "1"), "");
  EXPECT_EQ(application.Guard("x'74c3a97374'", "1"), "");
}

// A leader that does not know, or does not care, that its term has ended could otherwise hold up
// its successor indefinitely, with one transaction after the other.
TEST_F(FenceTest, AnEndedSessionIsRefusedBeforeItsElectionIsSettled) {
  SqlApplication in_flight(surface_.url());
  in_flight.Run("START TRANSACTION");
  ASSERT_EQ(in_flight.Guard("'e'", "1"), "");
  surface_.End(leader_, Cause::kSessionClosed);
  SqlApplication late(surface_.url());
  late.Run("START TRANSACTION");

  EXPECT_NE(late.Guard("'e'", "1"), "");

  EXPECT_TRUE(surface_.IsBusy("e"));
  in_flight.Run("COMMIT");
  EXPECT_FALSE(surface_.IsBusy("e"));
  EXPECT_EQ(late.Guard("'e'", "2"), "");
}

TEST_F(FenceTest, AnOldSnapshotNeitherRefusesANewTermNorAdmitsAnOldOne) {
  SqlApplication application(surface_.url(), "REPEATABLE READ");
  SqlApplication other(surface_.url(), "REPEATABLE READ");
  for (SqlApplication* one : {&application, &other}) {
    one->Run("START TRANSACTION");
    one->Run("SELECT * FROM elections");
  }

  surface_.Leave("e", leader_);

  EXPECT_NE(application.Guard("'e'", "1"), "");
  EXPECT_EQ(other.Guard("'e'", "2"), "");
}

TEST_F(FenceTest, AGuardWaitsForARunningTakeover) {
  SqlApplication application(surface_.url());
  application.Run("START TRANSACTION");
  std::future<std::string> refusal;
  const Command resign = Resign{{"e"}, leader_, {}};

  const auto committed =
      surface_.store().Transact(LockSetOf({&resign}), {}, [&](TransactionState& transaction) {
        ASSERT_TRUE(Apply(transaction, {}, resign));
        refusal = std::async(std::launch::async, [&] { return application.Guard("'e'", "1"); });
        ASSERT_TRUE(Eventually([&] {
          return Server()
                     .Query(
                         "SELECT COUNT(*) FROM information_schema.innodb_trx"
                         " WHERE trx_state = 'LOCK WAIT'")
                     .output == "1\n";
        }));
      });

  ASSERT_TRUE(committed);
  EXPECT_THAT(refusal.get(), HasSubstr("does not stand"));
}

TEST_F(FenceTest, ACallerOnlyNeedsThePrivilegeToExecute) {
  const std::string url = UserWith("EXECUTE ON PROCEDURE tenure.tenure_fence");
  SqlApplication application(url);

  EXPECT_EQ(application.Guard("'e'", "1"), "");
  EXPECT_THROW(application.Run("SELECT name FROM elections"), mysql::MySqlError);
}

// A read-only server may show old rows: the term may have ended, or begun, since.
TEST_F(FenceTest, AServerThatIsReadOnlyMayNotBeAsked) {
  SqlApplication application(UserWith("EXECUTE ON PROCEDURE tenure.tenure_fence"));
  SqlApplication root(surface_.url());
  const auto ask = [](SqlApplication& who, int term) {
    const auto answer = who.Try(fmt::format("CALL tenure_fence('e', {})", term));
    return answer ? SqlError{} : answer.error();
  };

  Server().Ask("SET GLOBAL read_only = ON");
  const std::vector<SqlError> refusals = {ask(application, 0), ask(application, 1), ask(root, 0),
                                          ask(root, 1)};
  Server().Ask("SET GLOBAL read_only = OFF");

  for (const SqlError& refusal : refusals) {
    EXPECT_EQ(refusal.code, 1290) << refusal.message;
    EXPECT_THAT(refusal.message, HasSubstr("this server is read-only and may not be asked"));
    EXPECT_EQ(MeaningOf(refusal), SqlErrorMeaning::kOther);
  }
  EXPECT_EQ(application.Guard("'e'", "1"), "");
  EXPECT_EQ(MeaningOf(ask(application, 0)), SqlErrorMeaning::kTermOver);
}

TEST_F(FenceTest, AReaderOfAViewOnlyNeedsThePrivilegeToSelect) {
  SqlApplication application(UserWith("SELECT ON tenure.leaders"));

  EXPECT_THAT(application.Run("SELECT * FROM leaders"), SizeIs(2));
  EXPECT_THROW(application.Run("SELECT name FROM elections"), mysql::MySqlError);
  EXPECT_THROW(application.Run("UPDATE leaders SET term = 9"), mysql::MySqlError);
}

TEST_F(FenceTest, TheDocumentedPlainSqlDoesTheSame) {
  SqlApplication application(UserWith("SELECT (name, term, leader_session) ON tenure.elections"));
  const auto stands = [&](int term) {
    return !application
                .Run(fmt::format("SELECT 1 FROM elections WHERE name = 'e' AND term = {}"
                                 " AND leader_session IS NOT NULL LOCK IN SHARE MODE",
                                 term))
                .empty();
  };
  application.Run("START TRANSACTION");

  EXPECT_TRUE(stands(1));
  EXPECT_TRUE(surface_.IsBusy("e"));
  application.Run("COMMIT");
  surface_.Leave("e", leader_);
  EXPECT_FALSE(stands(1));
}

// docs/operations.md
constexpr char kRightsToMigrate[] =
    "CREATE, ALTER, DROP, INDEX, CREATE VIEW, CREATE ROUTINE, ALTER ROUTINE, EXECUTE, SELECT, "
    "INSERT,"
    " UPDATE, DELETE ON tenure.*";
constexpr char kRightsToServe[] = "SELECT, INSERT, UPDATE, DELETE ON tenure.*";

TEST_F(FenceTest, TheDocumentedPrivilegesSufficeToMigrateAndToServe) {
  Server().FreshDatabase("tenure");
  const auto user = UserWith(kRightsToMigrate);

  SqlSurface surface(user);
  const SessionId session = NewSessionId();
  EXPECT_TRUE(surface.Stand("e", session, "leader").elected);
  EXPECT_EQ(SqlApplication(user).Guard("'e'", "1"), "");
}

TEST_F(FenceTest, ServingNeedsNoPrivilegeToChangeTheSchema) {
  Server().FreshDatabase("tenure");
  ASSERT_TRUE(OpenUrl(UserWith(kRightsToMigrate, "owner"))->Migrate());

  const auto store = OpenUrl(UserWith(kRightsToServe));

  EXPECT_EQ(store->CheckSchema().value(), SchemaState::kCurrent);
  EXPECT_TRUE(store->Ping());
  const SessionId session = NewSessionId();
  const Command campaign =
      Campaign{{"e"}, session, Campaign::Opening{"leader", 60s}, {}, "v", 0, CallId{}};
  const Command depose = Depose{{"e"}, {1}, 60s, {"olga", "drill"}};
  const Command deletion = Delete{{"e"}, {1}, {"olga", "drill"}};
  for (const Command* command : {&campaign, &depose, &deletion}) {
    EXPECT_TRUE(store->Transact(LockSetOf({command}), {}, [&](TransactionState& transaction) {
      EXPECT_TRUE(Apply(transaction, {}, *command));
    }));
  }
  EXPECT_TRUE(store->MarkSettled({session}));
  EXPECT_TRUE(store->ForgetSessions(1h, 10));
  EXPECT_TRUE(store->TrimHistory({1h, 1, 1us}, {}, 10));
  EXPECT_TRUE(store->ReadStatistics());
  EXPECT_TRUE(store->RaiseOrigin());
  EXPECT_TRUE(store->SessionKey());
}

TEST_F(FenceTest, TheFenceWorksWhileItsOwnersAccountIsLocked) {
  Server().FreshDatabase("tenure");
  SqlSurface surface(UserWith(kRightsToMigrate, "owner"));
  surface.Stand("e", leader_, "leader");

  ASSERT_EQ(Server().Query("ALTER USER owner ACCOUNT LOCK").exit_code, 0);

  SqlApplication application(UserWith("EXECUTE ON PROCEDURE tenure.tenure_fence"));
  EXPECT_EQ(application.Guard("'e'", "1"), "");
  SqlApplication reader(UserWith("SELECT ON tenure.leaders", "reader"));
  EXPECT_THAT(reader.Run("SELECT * FROM leaders"), SizeIs(1));
}

TEST_F(FenceTest, AMigrationOfTheFenceKeepsWhatApplicationsMayDo) {
  if (ServerName() == "MySql") {
    GTEST_SKIP() << "MySQL cannot replace a procedure: docs/compatibility.md";
  }
  Server().FreshDatabase("tenure");
  SqlSurface surface(UserWith(kRightsToMigrate, "owner"));
  surface.Stand("e", leader_, "leader");
  const auto application = UserWith("EXECUTE ON PROCEDURE tenure.tenure_fence");
  ASSERT_EQ(Server().Query("UPDATE tenure.schema_version SET version = 7").exit_code, 0);

  ASSERT_TRUE(OpenUrl(UserWith(kRightsToMigrate, "owner"))->Migrate());

  EXPECT_EQ(SqlApplication(application).Guard("'e'", "1"), "");
}

TEST_F(FenceTest, AUserThatCannotMigrateLearnsWhatIsMissing) {
  Server().FreshDatabase("tenure");
  const auto store =
      OpenUrl(UserWith("CREATE, ALTER, INDEX, SELECT, INSERT, UPDATE, DELETE ON tenure.*"));

  const auto migrated = store->Migrate();

  ASSERT_FALSE(migrated);
  EXPECT_THAT(migrated.error().message, HasSubstr("CREATE ROUTINE"));
  EXPECT_EQ(store->CheckSchema().value(), SchemaState::kTooOld);
  EXPECT_TRUE(OpenUrl(UserWith(kRightsToMigrate, "owner"))->Migrate()) << "nobody waits for it";
}

TEST_F(FenceTest, ReplicasMigrateAtTheSameTime) {
  const std::string url = Server().FreshDatabase("tenure");
  std::vector<std::future<Result<void>>> migrations;
  for (int i = 0; i < 4; ++i) {
    migrations.push_back(std::async(std::launch::async, [&] { return OpenUrl(url)->Migrate(); }));
  }

  for (auto& migration : migrations) {
    const auto migrated = migration.get();
    EXPECT_TRUE(migrated) << migrated.error().message;
  }
  SqlSurface surface(url);
  surface.Stand("e", leader_, "leader");
  EXPECT_EQ(SqlApplication(url).Guard("'e'", "1"), "");
}

}  // namespace
}  // namespace tenure
