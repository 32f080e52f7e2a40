// Fencing inside a transaction (docs/fencing.md), against two replicas on one MariaDB: what a guard
// holds up, and what it does not.
#include <atomic>
#include <csignal>
#include <nlohmann/json.hpp>
#include <thread>

#include "tests/rpc/service_fixture.h"
#include "tests/support/sql_application.h"

namespace tenure::testing {
namespace {

using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using Json = nlohmann::json;

class FencingTest : public ServiceTest {
 protected:
  void SetUp() override {
    ServiceTest::SetUp();
    SqlApplication(url_).Run(
        "CREATE TABLE work (id BIGINT AUTO_INCREMENT PRIMARY KEY, term BIGINT NOT NULL)");
  }

  // The terms under which work was committed, in its order.
  std::vector<std::string> Work() {
    std::vector<std::string> terms;
    const mysql::Rows rows = SqlApplication(url_).Run("SELECT term FROM work ORDER BY id");
    for (const mysql::Row& row : rows) terms.push_back(row[0].value());
    return terms;
  }

  // Waits until the end of a session is marked, which does not wait for its elections.
  void WaitUntilEnded() {
    EXPECT_TRUE(Eventually([&] {
      return !SqlApplication(url_).Run("SELECT 1 FROM sessions WHERE state > 0").empty();
    }));
  }
};

INSTANTIATE_TEST_SUITE_P(Stores, FencingTest, ::testing::Values(StoreKind::kMariaDb),
                         StoreKindName);

TEST_P(FencingTest, ATakeoverWaitsUntilTheGuardedTransactionCommits) {
  const auto leader = Campaign(A(), {"e", "leader", "", "", 0ms, 1s});
  Campaign(A(), {"f", "leader", leader.session().session_id()});
  WaitingCampaign next_of_e(B(), {"e", "next"});
  WaitingCampaign next_of_f(B(), {"f", "next"});
  ASSERT_TRUE(
      Eventually([&] { return SqlApplication(url_).Run("SELECT 1 FROM queue").size() == 2; }));
  SqlApplication application(url_);
  application.Run("START TRANSACTION");
  ASSERT_EQ(application.Guard("'e'", "1"), "");
  application.Run("INSERT INTO work (term) VALUES (1)");

  WaitUntilEnded();
  EXPECT_EQ(next_of_f.Response().elected().term(), 2u);
  EXPECT_FALSE(next_of_e.Done());
  EXPECT_THAT(SqlApplication(url_).Run("SELECT candidate FROM leaders WHERE election = 'e'"),
              IsEmpty());
  application.Run("COMMIT");

  EXPECT_EQ(next_of_e.Response().elected().term(), 2u);
  EXPECT_THAT(Work(), ElementsAre("1"));
  EXPECT_NE(application.Guard("'e'", "1"), "");
  EXPECT_EQ(application.Guard("'e'", "2"), "");
}

TEST_P(FencingTest, ALongGuardedTransactionCostsNeitherTheSeatNorOtherElections) {
  const auto leader = Campaign(A(), {"e", "leader", "", "", 0ms, 1s});
  const std::string session = leader.session().session_id();
  SqlApplication application(url_);
  application.Run("START TRANSACTION");
  ASSERT_EQ(application.Guard("'e'", "1"), "");

  const auto lease_is_over = std::chrono::steady_clock::now() + 2s;
  for (int i = 0; std::chrono::steady_clock::now() < lease_is_over; ++i) {
    EXPECT_FALSE(Renew(i % 2 ? A() : B(), session).has_ended());
    const auto other = Campaign(A(), {"other " + std::to_string(i), "leader", session});
    EXPECT_EQ(other.elected().term(), 1u);
    EXPECT_EQ(Leader(B(), "e").leader().candidate(), "leader");
    std::this_thread::sleep_for(50ms);
  }

  application.Run("COMMIT");
  EXPECT_EQ(Leader(A(), "e").term(), 1u);
  EXPECT_EQ(Resign(A(), session, "e").outcome(), v1::ResignResponse::OUTCOME_RESIGNED);
}

// 13
TEST_P(FencingTest, ADelayedCommandIsNotDoneAfterItsCallHasEnded) {
  const auto leader = Campaign(A(), {"e", "leader"});
  const auto waiter = Campaign(B(), {"e", "waiter"});
  SqlApplication application(url_);
  application.Run("START TRANSACTION");
  ASSERT_EQ(application.Guard("'e'", "1"), "");
  const auto is_given_up = [&](const std::string& method, auto call) {
    grpc::ClientContext context;
    // Long enough for the replica to wait for the lock in a transaction.
    context.set_deadline(std::chrono::system_clock::now() + 2s);
    EXPECT_FALSE(call(context).ok());
    // The client may have given up before the replica.
    return Eventually([&] {
      return A().Metric("grpc_server_handled_total{grpc_code=\"Unavailable\",grpc_method=\"" +
                        method + "\",grpc_service=\"tenure.v1." +
                        (method == "Pause" ? "AdminService" : "ElectionService") +
                        "\",grpc_type=\"unary\"}") == 1;
    });
  };

  EXPECT_TRUE(is_given_up("Resign", [&](grpc::ClientContext& context) {
    v1::ResignRequest request;
    request.set_session_id(leader.session().session_id());
    request.set_election("e");
    v1::ResignResponse response;
    return A().stub().Resign(&context, request, &response);
  }));
  EXPECT_TRUE(is_given_up("Proclaim", [&](grpc::ClientContext& context) {
    v1::ProclaimRequest request;
    request.set_session_id(leader.session().session_id());
    request.set_election("e");
    request.set_term(1);
    request.set_value("late");
    v1::ProclaimResponse response;
    return A().stub().Proclaim(&context, request, &response);
  }));
  EXPECT_TRUE(is_given_up("Pause", [&](grpc::ClientContext& context) {
    v1::PauseRequest request;
    request.set_election("e");
    v1::PauseResponse response;
    return A().admin().Pause(&context, request, &response);
  }));
  application.Run("COMMIT");

  const auto later =
      Campaign(B(), {.election = "e", .session_id = waiter.session().session_id(), .wait = 500ms});
  EXPECT_EQ(later.standing().leader().candidate(), "leader");
  EXPECT_EQ(later.standing().leader().value(), "");
  EXPECT_FALSE(Describe(B(), "e").election().paused());
}

TEST_P(FencingTest, AWorkerPausedPastItsLeaseWritesNothingAndReportsTheLoss) {
  Process worker({Program("tenure"), "--json", "--endpoint", A().endpoint() + "," + B().endpoint(),
                  "campaign", "e", "--candidate", "worker", "--ttl", "1s"});
  const std::string term = std::to_string(Json::parse(worker.Line(1)).at("term").get<int>());
  SqlApplication application(url_);
  ASSERT_EQ(application.Guard("'e'", term), "");

  worker.Signal(SIGSTOP);
  WaitingCampaign successor(B(), {"e", "successor"});
  ASSERT_EQ(successor.Response().elected().term(), 2u);
  worker.Signal(SIGCONT);

  application.Run("START TRANSACTION");
  EXPECT_THAT(application.Guard("'e'", term),
              HasSubstr("tenure_fence: term 1 of election 'e' does not stand"));
  application.Run("ROLLBACK");
  EXPECT_EQ(worker.Wait(), 4);
  EXPECT_EQ(Json::parse(worker.Line(2)).at("event"), "lost");
  application.Run("START TRANSACTION");
  EXPECT_EQ(application.Guard("'e'", "2"), "");
  application.Run("COMMIT");
}

// A leader that ignores its loss, and always has a guarded transaction open, delays its successor
// by the transactions that are open when its session ends, not by those that it begins then.
TEST_P(FencingTest, ALeaderThatNeverPausesDoesNotDelayItsSuccessor) {
  Campaign(A(), {"e", "busy", "", "", 0ms, 1s});
  WaitingCampaign successor(B(), {"e", "successor"});
  std::atomic<int> committed = 0;
  std::vector<std::thread> workers;
  for (int i = 0; i < 8; ++i) {  // enough that the election is never free
    workers.emplace_back([&] {
      SqlApplication application(url_);
      while (true) {
        application.Run("START TRANSACTION");
        if (!application.Guard("'e'", "1").empty()) break;
        application.Run("INSERT INTO work (term) VALUES (1)");
        std::this_thread::sleep_for(20ms);
        application.Run("COMMIT");
        ++committed;
      }
    });
  }

  const auto elected = successor.Response().elected();
  SqlApplication application(url_);
  application.Run("START TRANSACTION");
  EXPECT_EQ(application.Guard("'e'", std::to_string(elected.term())), "");
  application.Run("INSERT INTO work (term) VALUES (2)");
  application.Run("COMMIT");
  for (std::thread& worker : workers) worker.join();

  EXPECT_GT(committed, 8);
  const auto work = Work();
  ASSERT_THAT(work, SizeIs(committed + 1));
  EXPECT_EQ(work.back(), "2") << "work was committed in term 1 after term 2 had begun";
}

// The guarded transactions of a healthy leader may overlap without a gap.
TEST_P(FencingTest, OverlappingGuardedTransactionsDoNotKeepCandidatesOut) {
  const auto leader = Campaign(A(), {"e", "busy"});
  std::atomic<bool> stop = false;
  std::atomic<int> committed = 0;
  std::vector<std::thread> workers;
  for (int i = 0; i < 8; ++i) {
    workers.emplace_back([&] {
      SqlApplication application(url_);
      while (!stop) {
        application.Run("START TRANSACTION");
        EXPECT_EQ(application.Guard("'e'", "1"), "");
        application.Run("INSERT INTO work (term) VALUES (1)");
        std::this_thread::sleep_for(20ms);  // the work
        application.Run("COMMIT");
        ++committed;
      }
    });
  }
  ASSERT_TRUE(Eventually([&] { return committed > 8; }));

  for (const char* candidate : {"one", "two", "three"}) {
    const auto answer = Campaign(B(), {"e", candidate});
    EXPECT_TRUE(answer.has_standing());
  }

  stop = true;
  for (std::thread& worker : workers) worker.join();
  EXPECT_EQ(Leader(A(), "e").term(), 1u);
}

TEST_P(FencingTest, LeaderNeverReturnsAnExpiredLeaderOfAGuardedElection) {
  Campaign(A(), {"e", "leader", "", "", 0ms, 1s});
  SqlApplication application(url_);
  application.Run("START TRANSACTION");
  ASSERT_EQ(application.Guard("'e'", "1"), "");
  WaitUntilEnded();
  for (const auto& server : servers_) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + 2s);
    v1::LeaderRequest request;
    request.set_election("e");
    v1::LeaderResponse response;

    const auto status = server->stub().Leader(&context, request, &response);

    EXPECT_THAT(status.error_code(), AnyOf(grpc::StatusCode::UNAVAILABLE,  // in the server's time
                                           grpc::StatusCode::DEADLINE_EXCEEDED))
        << ReasonOf(status) << " " << response.ShortDebugString();
  }
  application.Run("COMMIT");
  EXPECT_FALSE(Leader(A(), "e").has_leader());
  EXPECT_FALSE(Leader(B(), "e").has_leader());
}

}  // namespace
}  // namespace tenure::testing
