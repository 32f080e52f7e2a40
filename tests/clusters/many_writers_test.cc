// Tenure on clusters whose servers all take writes: a commit reaches the other servers later, and
// only the server that took a row lock knows of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "tenure/observer.h"
#include "tests/clusters/terms.h"
#include "tests/support/contention.h"
#include "tests/support/galera.h"
#include "tests/support/group_replication.h"
#include "tests/support/sql_application.h"
#include "tests/support/tenured.h"

namespace tenure::testing {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

class GaleraNodes : public Galera {
 public:
  static constexpr char kName[] = "Galera node";
  void EndLag() {}  // it ends by itself
};

class Primaries : public GroupReplication {
 public:
  static constexpr char kName[] = "multi-primary";
  Primaries() : GroupReplication(std::vector<Host>(3), Mode::kMultiPrimary) {}

  // Commits are applied in their order, and the first of them waits for this lock.
  void MakeLag(size_t number) {
    constexpr char kMake[] =
        "CREATE DATABASE IF NOT EXISTS behind; CREATE TABLE IF NOT EXISTS behind.rows_ (id INT "
        "AUTO_INCREMENT PRIMARY KEY)";
    server(number).Ask(kMake);
    lock_ =
        std::make_unique<SqlApplication>("mysql://root@" + server(number).address() + "/behind");
    lock_->Run("LOCK TABLES rows_ READ");
    DatabaseServer& other = server(number == 0 ? 1 : 0);
    EXPECT_TRUE(Eventually(
        [&] { return other.Query("INSERT INTO behind.rows_ VALUES ()").exit_code == 0; }));
  }
  void EndLag() { lock_.reset(); }

 private:
  std::unique_ptr<SqlApplication> lock_;
};

template <typename Cluster>
class ManyWritersTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { cluster_ = std::make_unique<Cluster>(); }
  static void TearDownTestSuite() { cluster_.reset(); }

  void SetUp() override { cluster_->server(0).FreshDatabase("tenure"); }

  static inline std::unique_ptr<Cluster> cluster_;
};
using Clusters = ::testing::Types<GaleraNodes, Primaries>;
TYPED_TEST_SUITE(ManyWritersTest, Clusters);

TYPED_TEST(ManyWritersTest, TwoFirstStartsAtOnceMakeOneSchema) {
  std::vector<std::unique_ptr<Tenured>> servers;
  for (size_t first = 0; first < 3; ++first) {
    servers.push_back(std::make_unique<Tenured>(this->cluster_->Url("tenure", first),
                                                std::vector<std::string>(), false));
  }
  for (const auto& server : servers) server->WaitUntilReady();

  Terms terms;
  for (const auto& server : servers) terms.Take(*server);
  EXPECT_EQ(*terms.given().rbegin(), 3U);
}

TYPED_TEST(ManyWritersTest, ReplicasOnDifferentServersSeeWhatTheOthersDid) {
  Tenured a(this->cluster_->Url("tenure", 0));
  Tenured b(this->cluster_->Url("tenure", 1));
  Terms terms;
  Observer observer(b, Election("orders", 1));
  for (int i = 0; i < 50; ++i) {
    Tenured& server = i % 2 == 0 ? a : b;
    Tenured& other = i % 2 == 0 ? b : a;
    const uint64_t term = terms.Take(server);
    EXPECT_EQ(Leader(other, "orders").term(), term);
  }

  EXPECT_EQ(*terms.given().rbegin(), 50U);
  EXPECT_THAT(observer.WaitForEvents(99), SizeIs(99));
  for (Tenured* server : {&a, &b}) {
    EXPECT_THAT(server->process().Errors(), Not(HasSubstr("lost commits")));
    EXPECT_THAT(server->process().Errors(), HasSubstr(TypeParam::kName));
  }
}

// All of them contend for the same rows, each on a node that may be behind.
TYPED_TEST(ManyWritersTest, ReplicasOnDifferentServersGiveNoTermTwiceUnderLoad) {
  std::vector<std::unique_ptr<Tenured>> servers;
  for (size_t i = 0; i < 3; ++i) {
    servers.push_back(std::make_unique<Tenured>(this->cluster_->Url("tenure", i)));
  }
  Chronicle chronicle;
  tenure::Observer observer({.endpoints = servers[0]->endpoint(),
                             .names = {""},
                             .prefix = true,
                             .from_revision = 1,
                             .on_event = [&](const v1::Event& event) { chronicle.Add(event); }});
  Load load(servers);
  load.WaitForCycles(1000, 4 * kPatience);
  load.Stop();

  ExpectNothingLost(load, chronicle, *servers[0]);
  for (const auto& server : servers) {
    EXPECT_THAT(server->process().Errors(),
                Not(AnyOf(HasSubstr("lost commits"), HasSubstr("MySQL error"))));
  }
}

// The server where it runs gets the other server's commit before it commits itself.
TYPED_TEST(ManyWritersTest, ATransactionEndedByAnotherServersCommitCanBeRetried) {
  this->cluster_->server(0).FreshDatabase("work");
  this->cluster_->server(0).Ask(
      "CREATE TABLE work.counts (id INT PRIMARY KEY, n INT) ENGINE = InnoDB;"
      " INSERT INTO work.counts VALUES (1, 0)");
  const auto count_is = [&](size_t server, const std::string& n) {
    const std::string query = "SELECT n FROM work.counts WHERE id = 1";
    return this->cluster_->server(server).Query(query).output == n + "\n";
  };
  EXPECT_TRUE(Eventually([&] { return count_is(1, "0"); }));
  SqlApplication application("mysql://root@" + this->cluster_->server(0).address() + "/work");
  application.Run("START TRANSACTION");
  application.Run("UPDATE counts SET n = n + 1 WHERE id = 1");

  this->cluster_->server(1).Ask("UPDATE work.counts SET n = n + 100");
  EXPECT_TRUE(Eventually([&] { return count_is(0, "100"); }));
  try {
    application.Run("COMMIT");
    ADD_FAILURE() << "the transaction had ended";
  } catch (const mysql::MySqlError& error) {
    EXPECT_EQ(error.kind, mysql::MySqlError::Kind::kConflict) << error.what();
  }
  EXPECT_TRUE(count_is(0, "100"));
}

// The node where the transaction runs is behind when it commits, and knows only its own locks.
TYPED_TEST(ManyWritersTest, AStaleGuardedTransactionOnALaggingServerIsRefused) {
  Tenured server(this->cluster_->Url("tenure", 1));
  Campaign(server, {"orders", "first"});
  ASSERT_TRUE(Campaign(server, {"orders", "second"}).has_standing());
  this->cluster_->server(0).FreshDatabase("work");
  this->cluster_->server(0).Ask("CREATE TABLE work.done (term INT PRIMARY KEY) ENGINE = InnoDB");
  const std::string url = "mysql://root@" + this->cluster_->server(0).address() + "/tenure";
  for (const bool guarded_before : {false, true}) {
    SCOPED_TRACE(guarded_before);
    const auto leader = Leader(server, "orders");
    const std::string term = std::to_string(leader.term());
    SqlApplication application(url);
    application.Run("START TRANSACTION");
    ASSERT_EQ(application.Guard("'orders'", term), "");
    application.Run("INSERT INTO work.done VALUES (" + term + ")");

    this->cluster_->MakeLag(0);
    const auto successor = Campaign(
        server,
        {.election = "orders", .candidate = "next", .request_id = "0123456789abcdef" + term});
    v1::DeposeRequest depose;
    depose.set_election("orders");
    depose.set_term(leader.term());
    depose.set_reason("test");
    grpc::ClientContext context;
    v1::DeposeResponse response;
    EXPECT_TRUE(server.admin().Depose(&context, depose, &response).ok());
    EXPECT_TRUE(Eventually([&] { return Leader(server, "orders").term() > leader.term(); }));

    EXPECT_FALSE(application.Try("COMMIT")) << "the term has ended: nothing may be committed in it";
    this->cluster_->EndLag();
  }
  EXPECT_EQ(this->cluster_->server(1).Ask("SELECT COUNT(*) FROM work.done"), "0");
}

// Applications on all servers, each with an election of its own that is granted on another server,
// while others contend: every second transaction is committed after its term.
TYPED_TEST(ManyWritersTest, UnderLoadGuardedTransactionsCommitInTheirTermsOnly) {
  constexpr size_t kApplications = 6;
  constexpr int kRounds = 10;
  std::vector<std::unique_ptr<Tenured>> servers;
  for (size_t i = 0; i < 3; ++i) {
    servers.push_back(std::make_unique<Tenured>(this->cluster_->Url("tenure", i)));
  }
  this->cluster_->server(0).FreshDatabase("work");
  this->cluster_->server(0).Ask(
      "CREATE TABLE work.done (election INT, term INT, stale INT, PRIMARY KEY (election, term))"
      " ENGINE = InnoDB");
  Load load(servers);
  load.WaitForCycles(10);

  const auto work = [&](size_t number) {
    Tenured& server = *servers.at((number + 1) % 3);
    const std::string election = std::to_string(number);
    Terms terms(election);
    SqlApplication application("mysql://root@" + this->cluster_->server(number % 3).address() +
                               "/tenure");
    // Returns true if it leaves a transaction open.
    const auto began = [&](const std::string& term, bool stale) {
      (void)application.Try("ROLLBACK");
      return application.Try("START TRANSACTION") &&
             application.Guard("'" + election + "'", term).empty() &&
             application.Try("INSERT INTO work.done VALUES (" + election + ", " + term + ", " +
                             (stale ? "1" : "0") + ")");
    };
    for (int i = 0; i < kRounds; ++i) {
      EXPECT_TRUE(Eventually([&] { return began(std::to_string(terms.Take(server)), true); }));
      terms.Take(server);
      EXPECT_FALSE(application.Try("COMMIT")) << "the term has ended";
      EXPECT_TRUE(Eventually([&] {
        return began(std::to_string(terms.Take(server)), false) && application.Try("COMMIT");
      }));
    }
  };
  std::vector<std::thread> applications;
  for (size_t i = 0; i < kApplications; ++i) applications.emplace_back(work, i);
  for (std::thread& application : applications) application.join();
  load.Stop();

  EXPECT_EQ(this->cluster_->server(0).Ask("SELECT SUM(stale), COUNT(*) FROM work.done"),
            "0\t" + std::to_string(kApplications * kRounds));
}

TYPED_TEST(ManyWritersTest, GuardedTransactionsCommitWhileTheTermStands) {
  Tenured server(this->cluster_->Url("tenure", 1));
  Campaign(server, {"orders", "first"});
  SqlApplication application("mysql://root@" + this->cluster_->server(0).address() + "/tenure");
  EXPECT_TRUE(Eventually([&] { return application.Guard("'orders'", "1").empty(); }));
  for (int i = 0; i < 20; ++i) {
    application.Run("START TRANSACTION");
    EXPECT_EQ(application.Guard("'orders'", "1"), "");
    EXPECT_TRUE(application.Try("COMMIT"));
  }
  EXPECT_NE(application.Guard("'orders'", "2"), "");
  EXPECT_EQ(this->cluster_->server(2).Ask("SELECT COUNT(*) FROM tenure.fences"), "8");
}

}  // namespace
}  // namespace tenure::testing
