// A database that an older tenured left is migrated, and keeps everything that it holds.
#include <fmt/format.h>

#include <future>

#include "base/hex.h"
#include "storage/schema/migrations.h"
#include "storage/sqlite/open.h"
#include "tests/contract/admin_fixture.h"

namespace tenure::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

std::string Bytes(std::string_view bytes) { return "x'" + ToHex(bytes) + "'"; }
std::string Bytes(const SessionId& id) { return "x'" + id.Hex() + "'"; }

class MigrationContract : public AdminFixture {
 protected:
  void SetUp() override {
    url_ = FreshUrl();
    store_ = Open();
  }

  std::span<const Migration> Migrations() const {
    return GetParam() == Kind::kServer ? MySqlMigrations() : SqliteMigrations();
  }

  void RunMigration(int version) {
    constexpr std::string_view kReplace = "CREATE OR REPLACE PROCEDURE";  // MySQL has none
    for (std::string statement : Migrations()[static_cast<size_t>(version - 1)].statements) {
      if (statement.starts_with(kReplace)) {
        Query("DROP PROCEDURE IF EXISTS tenure_fence");
        statement.replace(0, kReplace.size(), "CREATE PROCEDURE");
      }
      Query(statement);
    }
  }

  // Makes a database as a `tenured` of this version left it.
  void MakeVersion(int version) {
    Query(
        "CREATE TABLE schema_version (one INTEGER NOT NULL PRIMARY KEY, version INTEGER NOT NULL)");
    for (int step = 1; step <= version; ++step) RunMigration(step);
    Query(fmt::format("INSERT INTO schema_version VALUES (1, {})", version));
  }

  void AddSession(const SessionId& id, const std::string& candidate) {
    Query(fmt::format(
        "INSERT INTO sessions (id, candidate, lease_ttl_us, expires_at_us, state,"
        " cause) VALUES ({}, {}, 60000000, {}, 0, 0)",
        Bytes(id), Bytes(candidate), (sqlite::SystemDbTime() + 1h).since_epoch.count()));
  }

  void AddCandidacy(const std::string& election, const SessionId& session, int ticket) {
    Query(
        fmt::format("INSERT INTO candidacies (election, session, ticket, precedence, value,"
                    " attempt) VALUES ({}, {}, {}, -1, {}, 7)",
                    Bytes(election), Bytes(session), ticket, Bytes("v")));
  }

  void AddEvent(const std::string& election, int revision, EventType type, Cause cause, int term,
                const SessionId& session, const std::string& candidate) {
    const DbTime at{10s * revision};
    Query(
        fmt::format("INSERT INTO events (election, revision, type, cause, term, session,"
                    " candidate, lease_ttl_us, value, elected_at_us, at_us, lane, position)"
                    " VALUES ({}, {}, {}, {}, {}, {}, {}, 60000000, {}, {}, {}, {}, {})",
                    Bytes(election), revision, static_cast<int>(type), static_cast<int>(cause),
                    term, Bytes(session), Bytes(candidate), Bytes("v"), at.since_epoch.count(),
                    at.since_epoch.count(), PartitionOf({election}), revision));
  }

  // Adds an election that "new" leads in term 2, after "old", and for which "first" and "second"
  // wait.
  void AddElection() {
    AddSession(leader_, "new");
    AddSession(first_, "first");
    AddSession(second_, "second");
    Query(fmt::format("INSERT INTO elections VALUES ({}, 2, 3, 9, 2, {}, {}, 60000000, {}, 5, 6)",
                      Bytes("e"), Bytes(leader_), Bytes("new"), Bytes("v")));
    AddCandidacy("e", second_, 8);
    AddCandidacy("e", first_, 7);
    AddEvent("e", 1, EventType::kElected, Cause::kNone, 1, NewSessionId(), "old");
    AddEvent("e", 2, EventType::kVacated, Cause::kExpired, 1, NewSessionId(), "old");
    AddEvent("e", 3, EventType::kElected, Cause::kNone, 2, leader_, "new");
    Query(fmt::format("UPDATE lanes SET position = 3 WHERE lane = {}", PartitionOf({"e"})));
  }

  void MigrateTwice() {
    for (int times = 0; times < 2; ++times) {
      const auto migrated = store_->Migrate();
      ASSERT_TRUE(migrated) << migrated.error().message;
    }
  }

  // Everything that was added is there, and goes on.
  void ExpectItGoesOn() {
    EXPECT_EQ(store_->CheckSchema().value(), SchemaState::kCurrent);
    Election expected{{"e"}, {2}, {3}, {9}, 2};
    expected.leader = Leader{leader_, "new", 60s, "v", {5us}, {6}};
    EXPECT_EQ(View("e").election, expected);
    EXPECT_THAT(QueueOf("e"), ElementsAre("first", "second"));

    Campaign older = CampaignOf("e", NewSessionId(), "second");
    older.supersede = true;
    EXPECT_TRUE(Run(older));
    Run(Resign{{"e"}, leader_, {}});

    EXPECT_EQ(View("e").election.leader->candidate, "first");
    EXPECT_EQ(View("e").election.leader->session, first_);
    EXPECT_THAT(QueueOf("e"), ElementsAre("second"));
    EXPECT_THAT(History("e"),
                ElementsAre("1 ELECTED old 1 ", "2 VACATED old 1 EXPIRED", "3 ELECTED new 2 ",
                            "4 VACATED new 2 RESIGNED", "5 ELECTED first 3 "));
    EXPECT_EQ(committed_.at(0).offset, 4u);
  }

  const SessionId leader_ = NewSessionId();
  const SessionId first_ = NewSessionId();
  const SessionId second_ = NewSessionId();
};

INSTANTIATE_TEST_SUITE_P(Stores, MigrationContract,
                         ::testing::Values(Kind::kSqliteFile, Kind::kServer), KindName);

TEST_P(MigrationContract, TablesOfOthersAreForeignUntilThereIsASchema) {
  EXPECT_EQ(store_->FindForeignTables().value().count, 0u);
  for (int i = 1; i <= 7; ++i) Query(fmt::format("CREATE TABLE orders_{} (id INTEGER)", i));
  Query("CREATE VIEW all_orders AS SELECT id FROM orders_1");

  const ForeignTables foreign = store_->FindForeignTables().value();
  ASSERT_TRUE(store_->Migrate());

  EXPECT_EQ(foreign.count, 8u);
  EXPECT_THAT(foreign.names,
              ElementsAre("all_orders", "orders_1", "orders_2", "orders_3", "orders_4"));
  EXPECT_THAT(foreign.in_the_way, ElementsAre());
  EXPECT_EQ(store_->FindForeignTables().value().count, 0u);
}

TEST_P(MigrationContract, ATableOfAnotherApplicationWithANameOfOursIsInTheWay) {
  Query("CREATE TABLE schema_version (version VARCHAR(10) PRIMARY KEY, description VARCHAR(10))");
  Query("INSERT INTO schema_version VALUES ('12', 'another')");
  Query("CREATE TABLE Sessions (id INTEGER)");

  EXPECT_EQ(store_->CheckSchema().value(), SchemaState::kTooOld);
  EXPECT_THAT(store_->FindForeignTables().value().in_the_way,
              UnorderedElementsAre("Sessions", "schema_version"));
}

TEST_P(MigrationContract, ADatabaseOfVersionOneKeepsAllItsData) {
  MakeVersion(1);
  AddElection();
  ASSERT_EQ(store_->CheckSchema().value(), SchemaState::kTooOld);

  MigrateTwice();

  ExpectItGoesOn();
  EXPECT_THAT(Query("SELECT candidate FROM queue"), ElementsAre("second"));
}

TEST_P(MigrationContract, ADatabaseOfVersionTwoKeepsAllItsData) {
  MakeVersion(2);
  AddElection();
  ASSERT_EQ(store_->CheckSchema().value(), SchemaState::kTooOld);

  MigrateTwice();

  ExpectItGoesOn();
}

TEST_P(MigrationContract, ADatabaseOfVersionThreeKeepsAllItsData) {
  MakeVersion(2);
  AddElection();
  RunMigration(3);
  Query("UPDATE schema_version SET version = 3");
  ASSERT_EQ(store_->CheckSchema().value(), SchemaState::kTooOld);

  MigrateTwice();

  ExpectItGoesOn();
}

TEST_P(MigrationContract, ADatabaseOfVersionFourKeepsAllItsData) {
  MakeVersion(2);
  AddElection();
  RunMigration(3);
  RunMigration(4);
  Query("UPDATE schema_version SET version = 4");
  ASSERT_EQ(store_->CheckSchema().value(), SchemaState::kTooOld);

  MigrateTwice();

  ExpectItGoesOn();
}

TEST_P(MigrationContract, ReplicasMayMigrateAtTheSameTime) {
  MakeVersion(2);
  AddElection();
  std::vector<std::future<Result<void>>> migrations;
  for (int i = 0; i < 4; ++i) {
    migrations.push_back(std::async(std::launch::async, [&] { return Open()->Migrate(); }));
  }

  for (auto& migration : migrations) {
    const auto migrated = migration.get();
    EXPECT_TRUE(migrated) << migrated.error().message;
  }
  ExpectItGoesOn();
}

TEST_P(MigrationContract, AnInterruptedMigrationIsCompleted) {
  if (GetParam() != Kind::kServer) GTEST_SKIP() << "SQLite migrates in one transaction";
  MakeVersion(2);
  AddElection();
  RunMigration(3);
  Query("DROP TABLE admin_changes");  // the last step was not reached, nor was the version set

  const auto migrated = store_->Migrate();

  ASSERT_TRUE(migrated) << migrated.error().message;
  ExpectItGoesOn();
}

TEST_P(MigrationContract, AnInterruptedMigrationToHomesIsCompleted) {
  if (ServerName() != "MariaDb" || GetParam() != Kind::kServer) {
    GTEST_SKIP() << "the steps of version 11 are MariaDB's as they stand";
  }
  MakeVersion(2);
  AddElection();
  for (int version = 3; version < kHomesAloneSince; ++version) RunMigration(version);
  Query(fmt::format("UPDATE schema_version SET version = {}", kHomesAloneSince - 1));
  const auto steps = Migrations()[kHomesAloneSince - 1].statements;

  for (const char* step : steps.first(steps.size() - 1)) Query(step);
  MigrateTwice();

  ExpectItGoesOn();
}

// It judges leases by a clock that this version does not write.
TEST_P(MigrationContract, NoReplicaOf01ServesBesideThisVersion) {
  MakeVersion(2);
  AddElection();
  for (int version = 3; version <= kReplicasSince; ++version) RunMigration(version);
  Query(fmt::format("UPDATE schema_version SET version = {}", kReplicasSince));
  const auto announce = [&](Duration ago) {
    Query(fmt::format("REPLACE INTO replicas (id, address, seen_at_us) VALUES ({}, {}, {})",
                      Bytes(std::string(16, 'x')), Bytes("10.0.0.7:7070"),
                      (sqlite::SystemDbTime() + -ago).since_epoch.count()));
  };

  announce(1s);
  const auto refused = store_->Migrate();
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message,
              HasSubstr("a replica of Tenure 0.1 serves at 10.0.0.7:7070"));
  EXPECT_THAT(Query("SELECT version FROM schema_version"),
              ElementsAre(std::to_string(kReplicasSince)));

  announce(kReplicaOf01SilenceMax + 5s);
  MigrateTwice();
  ExpectItGoesOn();
}

TEST_P(MigrationContract, TheProcedureThatSavedCommitsIsDropped) {
  if (GetParam() != Kind::kServer) GTEST_SKIP() << "SQLite has no procedures";
  ASSERT_TRUE(store_->Migrate());
  Query("CREATE PROCEDURE tenure_commit_2() SELECT 1");
  Query("UPDATE schema_version SET version = 15");

  MigrateTwice();

  EXPECT_THAT(Query("SELECT routine_name FROM information_schema.routines"
                    " WHERE routine_schema = DATABASE()"),
              ElementsAre("tenure_fence"));
}

}  // namespace
}  // namespace tenure::testing
