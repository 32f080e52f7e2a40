// Scenario 12: the reply to a campaign is lost, and the client asks again elsewhere. The retry
// finds the seat or the place. A call that still waits when it is lost gives up its place, but not
// that of its retry.
#include <list>
#include <map>
#include <nlohmann/json.hpp>

#include "tests/rpc/service_fixture.h"
#include "tests/support/relay.h"
#include "tests/support/sql_application.h"

namespace tenure::testing {
namespace {

using ::testing::ElementsAre;
using Json = nlohmann::json;

class LostReplyTest : public ServiceTest {
 protected:
  void SetUp() override {
    ServiceTest::SetUp();
    relay_ = std::make_unique<Relay>(A().endpoint());
    client_ = Connect(relay_->endpoint());
  }

  // What candidate "a" asks for, each time that it tries.
  static CampaignArguments Try(std::chrono::milliseconds wait = 0ms,
                               const std::string& election = "e") {
    return {election, "a", "", "", wait, 30s, 0, "0123456789abcdef"};
  }

  void LoseTheAnswerAndBreak() {
    relay_->WaitUntilAnAnswerIsLost();
    relay_->BreakAndLeadTo(B().endpoint());
  }

  static void WaitUntilParked(Tenured& server, size_t calls) {
    const std::string watchers = "tenure_watchers " + std::to_string(calls) + "\n";
    EXPECT_TRUE(Eventually(
        [&] { return server.Get("/metrics").second.find(watchers) != std::string::npos; }));
  }

  std::vector<std::string> History() {
    Observer observer(B(), Election("e", 1));
    return Texts(observer.WaitForEvents(Leader(B(), "e").revision()));
  }

  // How many candidates wait, by the place that one more gets. REQUIRES: somebody leads.
  uint64_t Waiting(const std::string& election = "e") {
    const auto last = Campaign(A(), {election, "last"});
    Resign(A(), last.session().session_id());
    return last.standing().position() - 1;
  }

  std::unique_ptr<Process> Tool() {
    return std::make_unique<Process>(std::vector<std::string>{Program("tenure"), "--json",
                                                              "--endpoint", relay_->endpoint(),
                                                              "campaign", "e", "--candidate", "a"});
  }

  std::unique_ptr<Relay> relay_;
  std::unique_ptr<v1::ElectionService::Stub> client_;  // by way of the relay
};

INSTANTIATE_TEST_SUITE_P(Stores, LostReplyTest,
                         ::testing::Values(StoreKind::kSqlite, StoreKind::kMariaDb), StoreKindName);

TEST_P(LostReplyTest, AnElectedCandidateFindsItsTermAtAnotherReplica) {
  relay_->LoseAnswers();
  WaitingCampaign lost(*client_, Try());
  LoseTheAnswerAndBreak();
  EXPECT_EQ(lost.Status().error_code(), grpc::StatusCode::UNAVAILABLE);

  const auto retried = Campaign(B(), Try());

  EXPECT_EQ(retried.elected().term(), 1u);
  EXPECT_THAT(History(), ElementsAre("ELECTED a 1"));
  EXPECT_EQ(Waiting(), 0u);
}

TEST_P(LostReplyTest, AWaitingCandidateFindsItsPlaceAtAnotherReplica) {
  Campaign(A(), {"e", "leader"});
  relay_->LoseAnswers();
  WaitingCampaign lost(*client_, Try(1ms));
  LoseTheAnswerAndBreak();
  EXPECT_EQ(lost.Status().error_code(), grpc::StatusCode::UNAVAILABLE);
  Campaign(A(), {"e", "behind"});

  const auto retried = Campaign(B(), Try());

  EXPECT_EQ(retried.standing().position(), 1u);
  EXPECT_EQ(Waiting(), 2u);
}

TEST_P(LostReplyTest, ACandidateElectedWhileWaitingFindsItsTermAtAnotherReplica) {
  const auto leader = Campaign(A(), {"e", "leader"});
  WaitingCampaign lost(*client_, Try());
  ASSERT_TRUE(Eventually([&] { return Waiting() == 1; }));
  relay_->LoseAnswers();
  Resign(B(), leader.session().session_id(), "e");
  LoseTheAnswerAndBreak();
  EXPECT_EQ(lost.Status().error_code(), grpc::StatusCode::UNAVAILABLE);

  const auto retried = Campaign(B(), Try());

  EXPECT_EQ(retried.elected().term(), 2u);
  EXPECT_THAT(History(),
              ElementsAre("ELECTED leader 1", "VACATED leader 1 RESIGNED", "ELECTED a 2"));
  EXPECT_EQ(Waiting(), 0u);
}

TEST_P(LostReplyTest, AnUnansweredWaiterLosesItsPlaceAndStandsOnceAfterARetry) {
  Campaign(A(), {"e", "leader"});
  WaitingCampaign unanswered(*client_, Try());
  ASSERT_TRUE(Eventually([&] { return Waiting() == 1; }));
  Campaign(A(), {"e", "behind"});

  relay_->BreakAndLeadTo(B().endpoint());

  EXPECT_TRUE(Eventually([&] { return Waiting() == 1; }));
  EXPECT_EQ(Campaign(B(), Try()).standing().position(), 2u);
  EXPECT_EQ(Waiting(), 2u);
}

TEST_P(LostReplyTest, ARetryKeepsThePlaceWhenTheFirstCallBreaks) {
  const auto leader = Campaign(A(), {"e", "leader"});
  WaitingCampaign unanswered(*client_, Try());
  ASSERT_TRUE(Eventually([&] { return Waiting() == 1; }));
  const auto retried = Campaign(B(), Try());
  ASSERT_EQ(retried.standing().position(), 1u);

  relay_->BreakAndLeadTo(B().endpoint());
  WaitUntilParked(A(), 0);

  EXPECT_EQ(Waiting(), 1u);
  Resign(B(), leader.session().session_id(), "e");
  EXPECT_EQ(Campaign(B(), {"e", "", retried.session().session_id()}).elected().term(), 2u);
}

// Guarded transactions defer both the call and its retry, in pauses of up to 50 ms, so either may
// come first.
TEST_P(LostReplyTest, ACallThatBreaksEarlyDoesNotTakeThePlaceOfItsRetry) {
  if (GetParam() == StoreKind::kSqlite) GTEST_SKIP() << "it is locked as a whole, or not at all";
  std::map<std::string, std::string> leaders;
  for (int i = 0; i < 8; ++i) {
    const std::string election = "e" + std::to_string(i);
    leaders[election] = Campaign(A(), {election, "leader"}).session().session_id();
  }
  SqlApplication application(url_);
  application.Run("START TRANSACTION");
  std::list<WaitingCampaign> unanswered;
  std::map<std::string, WaitingCampaign> retried;
  for (const auto& [election, leader] : leaders) {
    ASSERT_EQ(application.Guard("'" + election + "'", "1"), "");
    unanswered.emplace_back(*client_, Try(0ms, election));
  }
  WaitUntilParked(A(), leaders.size());
  relay_->BreakAndLeadTo(B().endpoint());
  WaitUntilParked(A(), 0);
  for (const auto& [election, leader] : leaders) {
    retried.try_emplace(election, B(), Try(0ms, election));
  }
  WaitUntilParked(B(), leaders.size());

  application.Run("COMMIT");

  for (const auto& [election, leader] : leaders) {
    ASSERT_TRUE(Eventually([&] { return Waiting(election) == 1; })) << election;
  }
  for (const auto& [election, leader] : leaders) {
    Resign(A(), leader, election);
    EXPECT_EQ(retried.at(election).Response().elected().term(), 2u) << election;
  }
}

TEST_P(LostReplyTest, TheToolFindsItsTermAtAnotherReplica) {
  relay_->LoseTheNextEnd();  // it asks for the server's health first
  const auto tool = Tool();

  LoseTheAnswerAndBreak();

  const Json elected = Json::parse(tool->Line(1));
  EXPECT_EQ(elected.at("event"), "elected");
  EXPECT_EQ(elected.at("term"), 1);
  EXPECT_THAT(History(), ElementsAre("ELECTED a 1"));
  EXPECT_EQ(Waiting(), 0u);
}

TEST_P(LostReplyTest, TheToolFindsTheTermItWonWhileWaiting) {
  const auto leader = Campaign(A(), {"e", "leader"});
  const auto tool = Tool();
  ASSERT_EQ(Json::parse(tool->Line(1)).at("event"), "standing");
  relay_->LoseAnswers();
  Resign(B(), leader.session().session_id(), "e");

  LoseTheAnswerAndBreak();

  EXPECT_EQ(Json::parse(tool->Line(2)).at("term"), 2);
  EXPECT_THAT(History(),
              ElementsAre("ELECTED leader 1", "VACATED leader 1 RESIGNED", "ELECTED a 2"));
  EXPECT_EQ(Waiting(), 0u);
}

}  // namespace
}  // namespace tenure::testing
