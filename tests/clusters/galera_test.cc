// Tenure on three nodes of Galera.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "tenure/observer.h"
#include "tests/client/contests.h"
#include "tests/clusters/terms.h"
#include "tests/support/galera.h"
#include "tests/support/sql_application.h"
#include "tests/support/tenured.h"

namespace tenure::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

class GaleraTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { galera_ = std::make_unique<Galera>(); }
  static void TearDownTestSuite() { galera_.reset(); }

  void SetUp() override { galera_->node(0).FreshDatabase("tenure"); }

  static std::unique_ptr<Galera> galera_;
};
std::unique_ptr<Galera> GaleraTest::galera_;

TEST_F(GaleraTest, TwoFirstStartsAtOnceMakeOneSchema) {
  std::vector<std::unique_ptr<Tenured>> servers;
  for (size_t first = 0; first < 3; ++first) {
    servers.push_back(std::make_unique<Tenured>(galera_->Url("tenure", first),
                                                std::vector<std::string>(), false));
  }
  for (const auto& server : servers) server->WaitUntilReady();

  Terms terms;
  for (const auto& server : servers) terms.Take(*server);
  EXPECT_EQ(*terms.given().rbegin(), 3U);
}

TEST_F(GaleraTest, TheCheckKnowsItsNodes) {
  const Finished checked = RunToEnd({Program("tenured"), "check", "--store", galera_->Url("x")});
  EXPECT_EQ(checked.exit_code, 1) << "there is no such database";
  const Finished right = RunToEnd({Program("tenured"), "check", "--store", galera_->Url("tenure")});
  EXPECT_EQ(right.exit_code, 0);
  EXPECT_THAT(right.output, HasSubstr(galera_->node(1).address() + ": MariaDB 10.11"));
  EXPECT_THAT(right.output, HasSubstr("Galera node n3, Synced, cluster of 3: may be used"));
}

TEST_F(GaleraTest, ReplicasOnDifferentNodesSeeWhatTheOthersDid) {
  Tenured a(galera_->Url("tenure", 0));
  Tenured b(galera_->Url("tenure", 1));
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
    EXPECT_THAT(server->process().Errors(), HasSubstr("Galera node"));
  }
}

// All of them contend for the same rows, each on a node that may be behind.
TEST_F(GaleraTest, ReplicasOnDifferentNodesGiveNoTermTwiceUnderLoad) {
  std::vector<std::unique_ptr<Tenured>> servers;
  for (size_t i = 0; i < 3; ++i) {
    servers.push_back(std::make_unique<Tenured>(galera_->Url("tenure", i)));
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
    EXPECT_THAT(server->process().Errors(), Not(HasSubstr("lost commits")));
  }
}

// The node where the transaction runs is behind when it commits, and knows only its own locks.
TEST_F(GaleraTest, AStaleGuardedTransactionOnALaggingNodeIsRefused) {
  Tenured server(galera_->Url("tenure", 1));
  Campaign(server, {"orders", "first"});
  ASSERT_TRUE(Campaign(server, {"orders", "second"}).has_standing());
  galera_->node(0).FreshDatabase("work");
  galera_->node(0).Ask("CREATE TABLE work.done (term INT) ENGINE = InnoDB");
  const std::string url = "mysql://root@" + galera_->node(0).address() + "/tenure";
  for (const bool guarded_before : {false, true}) {
    SCOPED_TRACE(guarded_before);
    const auto leader = Leader(server, "orders");
    const std::string term = std::to_string(leader.term());
    SqlApplication application(url);
    application.Run("START TRANSACTION");
    ASSERT_EQ(application.Guard("'orders'", term), "");
    application.Run("INSERT INTO work.done VALUES (" + term + ")");

    std::thread lag([&] { galera_->MakeLag(0); });
    lag.join();
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

    EXPECT_FALSE(application.Try("COMMIT")) << "the term is over: nothing may be committed in it";
  }
  EXPECT_EQ(galera_->node(1).Ask("SELECT COUNT(*) FROM work.done"), "0");
}

// The documented rights, given on one node. The right to execute a procedure that its creation
// gives stays on the node where it was made.
TEST_F(GaleraTest, TheFenceCanBeCalledOnEveryNode) {
  galera_->node(0).Ask(
      "CREATE OR REPLACE USER owner; CREATE OR REPLACE USER application;"
      " GRANT CREATE, ALTER, INDEX, CREATE VIEW, CREATE ROUTINE, ALTER ROUTINE, EXECUTE, SELECT,"
      " INSERT, UPDATE, DELETE ON tenure.* TO owner");
  const auto url_of = [&](const std::string& user, size_t node) {
    return "mysql://" + user + "@" + galera_->node(node).address() + "/tenure";
  };
  const Finished migrated =
      RunToEnd({Program("tenured"), "migrate", "--store", url_of("owner", 0)});
  ASSERT_EQ(migrated.exit_code, 0) << migrated.errors;
  galera_->node(0).Ask("GRANT EXECUTE ON PROCEDURE tenure.tenure_fence TO application");
  Tenured server(url_of("owner", 0), {"--no-migrate"});
  Campaign(server, {"orders", "first"});

  for (size_t node = 0; node < 3; ++node) {
    SqlApplication application(url_of("application", node));
    EXPECT_TRUE(Eventually([&] { return application.Guard("'orders'", "1").empty(); }))
        << node << application.Guard("'orders'", "1");
  }

  galera_->node(0).Ask("REVOKE EXECUTE ON tenure.* FROM owner");
  const Finished checked = RunToEnd({Program("tenured"), "migrate", "--store", url_of("owner", 1)});
  EXPECT_EQ(checked.exit_code, 1);
  EXPECT_THAT(checked.errors, HasSubstr("Its definer needs EXECUTE"));
}

TEST_F(GaleraTest, GuardedTransactionsCommitWhileTheTermStands) {
  Tenured server(galera_->Url("tenure", 1));
  Campaign(server, {"orders", "first"});
  SqlApplication application("mysql://root@" + galera_->node(0).address() + "/tenure");
  EXPECT_TRUE(Eventually([&] { return application.Guard("'orders'", "1").empty(); }));
  for (int i = 0; i < 20; ++i) {
    application.Run("START TRANSACTION");
    EXPECT_EQ(application.Guard("'orders'", "1"), "");
    EXPECT_TRUE(application.Try("COMMIT"));
  }
  EXPECT_NE(application.Guard("'orders'", "2"), "");
  EXPECT_EQ(galera_->node(2).Ask("SELECT COUNT(*) FROM tenure.fences"), "8");
}

TEST_F(GaleraTest, AKilledNodeLosesNothing) {
  Tenured a(galera_->Url("tenure", 0));
  Tenured b(galera_->Url("tenure", 0));
  Terms terms;
  for (int i = 0; i < 5; ++i) terms.Take(i % 2 == 0 ? a : b);

  galera_->node(0).Kill();
  for (int i = 0; i < 5; ++i) terms.Take(i % 2 == 0 ? a : b);
  galera_->Rejoin(0);
  for (int i = 0; i < 5; ++i) terms.Take(i % 2 == 0 ? a : b);

  EXPECT_EQ(*terms.given().rbegin(), 15U);
  EXPECT_EQ(galera_->node(0).Ask("SET wsrep_sync_wait = 1; SELECT term FROM tenure.elections"),
            "15");
  EXPECT_THAT(a.process().Errors(), Not(HasSubstr("lost commits")));
}

}  // namespace
}  // namespace tenure::testing
