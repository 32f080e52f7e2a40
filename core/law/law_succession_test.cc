// Succession: when a term ends, which candidate is elected next, and which never is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "core/law/law_testing.h"

namespace tenure::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// --- A term ends with its session ---

TEST(ExpiryTest, AnExpiredLeaderIsReplacedInTheSameTransaction) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b"), Expired("a"));

  const auto answer = Do(transaction, Reconciliation());

  EXPECT_THAT(answer, AnswersDone());
  EXPECT_THAT(transaction, IsLedBy("b", Term{8}));
  EXPECT_THAT(transaction.events, ElementsAre(Vacated("a", Cause::kExpired, Term{7}, Revision{14}),
                                              Elected("b", Term{8}, Revision{15})));
  EXPECT_EQ(SessionIn(transaction, "a").ended, Cause::kExpired);
}

TEST(ExpiryTest, AnExpiredLeaderIsReplacedByTheCampaigner) {
  auto transaction = Given(LedBy("a", Term{7}), Expired("a"));

  const auto answer = Do(transaction, FirstCampaignBy("b"));

  EXPECT_THAT(answer, AnswersElected());
  EXPECT_THAT(transaction.events, ElementsAre(Vacated("a", Cause::kExpired, Term{7}, Revision{14}),
                                              Elected("b", Term{8}, Revision{15})));
}

TEST(ExpiryTest, WaitingCandidatesGoBeforeTheOneThatFoundTheSeatVacant) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b"), Expired("a"));

  const auto answer = Do(transaction, FirstCampaignBy("c"));

  EXPECT_THAT(answer, AnswersStanding());
  EXPECT_THAT(transaction, IsLedBy("b", Term{8}));
  EXPECT_THAT(QueueIn(transaction), ElementsAre("c"));
}

TEST(ExpiryTest, WithoutASuccessorTheSeatIsVacantAndTheTermStays) {
  auto transaction = Given(LedBy("a", Term{7}), Expired("a"));

  (void)Do(transaction, Reconciliation());

  EXPECT_THAT(transaction, IsVacantAfter(Term{7}));
  EXPECT_THAT(transaction.events,
              ElementsAre(Vacated("a", Cause::kExpired, Term{7}, Revision{14})));
  EXPECT_THAT(transaction.undecided, IsEmpty());
}

TEST(ExpiryTest, ALeaderWithAForgottenSessionCountsAsExpired) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b"), Forgotten("a"));

  (void)Do(transaction, Reconciliation());

  EXPECT_THAT(transaction.events, ElementsAre(Vacated("a", Cause::kExpired, Term{7}, Revision{14}),
                                              Elected("b", Term{8}, Revision{15})));
}

TEST(ExpiryTest, TheEndOfATermShowsItsLeader) {
  auto transaction = Given(LedBy("a", Term{7}, {.value = "v"}), Expired("a"));
  const auto leader = *ElectionIn(transaction).leader;

  (void)Do(transaction, Reconciliation());

  ASSERT_THAT(transaction.events, ::testing::SizeIs(1));
  EXPECT_EQ(transaction.events[0].leader, leader);
  EXPECT_EQ(transaction.events[0].at, kNow);
}

TEST(ExpiryTest, SettlingTwiceExpiresOnce) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b"), Expired("a"));
  (void)Do(transaction, Reconciliation());
  const auto once = transaction;

  (void)Do(transaction, Reconciliation());

  EXPECT_THAT(transaction, IsSameAs(once));
}

class EndedLeaderTest : public ::testing::TestWithParam<Cause> {};

TEST_P(EndedLeaderTest, TheTermEndsWithTheCauseOfItsSession) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b"), Ended("a", GetParam()));

  (void)Do(transaction, Reconciliation());

  EXPECT_THAT(transaction.events, ElementsAre(Vacated("a", GetParam(), Term{7}, Revision{14}),
                                              Elected("b", Term{8}, Revision{15})));
}

INSTANTIATE_TEST_SUITE_P(Each, EndedLeaderTest,
                         ::testing::Values(Cause::kExpired, Cause::kSuperseded,
                                           Cause::kSessionClosed, Cause::kDeposed),
                         [](const auto& info) { return std::string(CauseName(info.param)); });

// --- A grant proves life ---

TEST(GrantTest, ASessionThatHasEndedIsPassedOver) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b"), Waiting("c"), Expired("b"));

  (void)Do(transaction, ResignBy("a"));

  EXPECT_THAT(transaction, IsLedBy("c", Term{8}));
  EXPECT_EQ(SessionIn(transaction, "b").ended, Cause::kExpired);
}

TEST(GrantTest, AnEndedSessionIsPassedOverEvenDuringItsLease) {
  auto transaction =
      Given(LedBy("a", Term{7}), Waiting("b"), Waiting("c"), Ended("b", Cause::kSessionClosed));

  (void)Do(transaction, ResignBy("a"));

  EXPECT_THAT(transaction, IsLedBy("c", Term{8}));
  EXPECT_THAT(transaction.ended, IsEmpty());
}

TEST(GrantTest, AMissingSessionIsPassedOver) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b"), Waiting("c"), Forgotten("b"));

  (void)Do(transaction, ResignBy("a"));

  EXPECT_THAT(transaction, IsLedBy("c", Term{8}));
}

TEST(GrantTest, NobodyIsElectedIfAllAreDead) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b"), Waiting("c"), Waiting("d"),
                           Expired("b"), Ended("c", Cause::kSessionClosed), Forgotten("d"));

  (void)Do(transaction, ResignBy("a"));

  EXPECT_THAT(transaction, IsVacantAfter(Term{7}));
  EXPECT_THAT(transaction.events,
              ElementsAre(Vacated("a", Cause::kResigned, Term{7}, Revision{14})));
}

TEST(GrantTest, AVacantSeatGoesToTheFirstLiveCandidate) {
  auto transaction = Given(VacantAfter(Term{7}), Waiting("b"), Waiting("c"), Expired("b"));

  (void)Do(transaction, Reconciliation());

  EXPECT_THAT(transaction.events, ElementsAre(Elected("c", Term{8}, Revision{15})));
}

TEST(GrantTest, ANewcomerIsElectedIfAllBeforeItAreDead) {
  auto transaction = Given(VacantAfter(Term{7}), Waiting("b"), Expired("b"));

  const auto answer = Do(transaction, FirstCampaignBy("c"));

  EXPECT_THAT(answer, AnswersElected());
  EXPECT_THAT(transaction, IsLedBy("c", Term{8}));
}

TEST(GrantTest, TheGrantHasTheValueAndCallIdOfTheCandidacy) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b", {.value = "v", .call_id = {5}}));

  (void)Do(transaction, ResignBy("a"));

  EXPECT_EQ(ElectionIn(transaction).leader, (Leader{Id("b"), "b", kLease, "v", kNow, CallId{5}}));
  EXPECT_EQ(ElectionIn(transaction).waiting, 0);
}

TEST(GrantTest, EachGrantRaisesTheTermByOneAndNoneRepeats) {
  auto transaction = Given();

  for (const auto* name : {"a", "b", "c", "b", "a"}) {
    (void)Do(transaction, FirstCampaignBy(name));
    (void)Do(transaction, ResignBy(name));
  }

  std::vector<uint64_t> terms;
  for (const Event& event : transaction.events) {
    if (event.type == EventType::kElected) terms.push_back(event.term.value);
  }
  EXPECT_THAT(terms, ElementsAre(1, 2, 3, 4, 5));
}

// --- Order ---

TEST(OrderTest, TheFirstToComeIsElectedFirst) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b"), Waiting("c"), Waiting("d"));

  (void)Do(transaction, ResignBy("a"));
  EXPECT_THAT(transaction, IsLedBy("b", Term{8}));
  (void)Do(transaction, ResignBy("b"));
  EXPECT_THAT(transaction, IsLedBy("c", Term{9}));
  (void)Do(transaction, ResignBy("c"));
  EXPECT_THAT(transaction, IsLedBy("d", Term{10}));
}

TEST(OrderTest, AHigherPriorityIsElectedFirst) {
  auto transaction = Given(LedBy("a", Term{7}));
  (void)Do(transaction, FirstCampaignBy("b"));
  (void)Do(transaction, FirstCampaignBy("c", {.priority = 1}));
  (void)Do(transaction, FirstCampaignBy("d", {.priority = -1}));
  (void)Do(transaction, FirstCampaignBy("e", {.priority = 1}));

  EXPECT_THAT(QueueIn(transaction), ElementsAre("c", "e", "b", "d"));
  (void)Do(transaction, ResignBy("a"));
  EXPECT_THAT(transaction, IsLedBy("c", Term{8}));
}

TEST(OrderTest, TheExtremePrioritiesAreTheEndsOfTheOrder) {
  constexpr int32_t kLowest = std::numeric_limits<int32_t>::min();
  constexpr int32_t kHighest = std::numeric_limits<int32_t>::max();
  auto transaction = Given(LedBy("a", Term{7}));
  (void)Do(transaction, FirstCampaignBy("b", {.priority = kLowest}));
  (void)Do(transaction, FirstCampaignBy("c", {.priority = -1}));
  (void)Do(transaction, FirstCampaignBy("d"));
  (void)Do(transaction, FirstCampaignBy("e", {.priority = kHighest}));

  EXPECT_THAT(QueueIn(transaction), ElementsAre("e", "d", "c", "b"));
}

// --- Negative priorities ---

TEST(NegativePriorityTest, ANegativePriorityIsNotElectedEvenIfTheSeatIsVacant) {
  auto transaction = Given();

  EXPECT_THAT(Do(transaction, FirstCampaignBy("a", {.priority = -1})), AnswersStanding());

  EXPECT_TRUE(StateIn(transaction).exists);
  EXPECT_THAT(transaction, IsVacantAfter(Term{0}));
  EXPECT_THAT(QueueIn(transaction), ElementsAre("a"));
  EXPECT_EQ(ElectionIn(transaction).wake_at, std::nullopt);
  EXPECT_THAT(transaction.undecided, IsEmpty());
}

TEST(NegativePriorityTest, ANegativePriorityIsSkippedEvenIfNobodyElseWaits) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b", {.priority = -1}), Waiting("c"));

  (void)Do(transaction, ResignBy("a"));
  EXPECT_THAT(transaction, IsLedBy("c", Term{8}));

  (void)Do(transaction, ResignBy("c"));
  EXPECT_THAT(transaction, IsVacantAfter(Term{8}));
  EXPECT_THAT(QueueIn(transaction), ElementsAre("b"));
}

TEST(NegativePriorityTest, ANewcomerGetsTheSeatBeforeANegativePriority) {
  auto transaction = Given(VacantAfter(Term{7}), Waiting("b", {.priority = -1}));

  EXPECT_THAT(Do(transaction, FirstCampaignBy("c")), AnswersElected());
}

TEST(NegativePriorityTest, AnAppointedNegativePriorityLeads) {
  auto transaction = Given(VacantAfter(Term{7}), Waiting("b", {.priority = -1}), Appointed("b"));

  (void)Do(transaction, Reconciliation());

  EXPECT_THAT(transaction, IsLedBy("b", Term{8}));
  EXPECT_THAT(Do(transaction, CampaignBy("b", {.priority = -1})), AnswersElected());
}

TEST(NegativePriorityTest, RaisingANegativePriorityElectsAtOnce) {
  auto transaction = Given(VacantAfter(Term{7}), Waiting("b", {.priority = -1}));

  EXPECT_THAT(Do(transaction, CampaignBy("b")), AnswersElected());
}

TEST(NegativePriorityTest, ANegativePriorityNeedsRoomInTheQueueEvenIfTheSeatIsVacant) {
  auto transaction = Given();

  EXPECT_THAT(Do(transaction, FirstCampaignBy("a", {.priority = -1}), {.queue_max = 0}),
              FailsWith(Reason::kQueueFull));
}

TEST(NegativePriorityTest, ZeroIsNotNegative) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b", {.priority = 0}));

  (void)Do(transaction, ResignBy("a"));

  EXPECT_THAT(transaction, IsLedBy("b", Term{8}));
}

// --- The unread part of the queue ---

TEST(HorizonTest, ACandidateBeforeTheHorizonMayBeElected) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b"), Waiting("c"), HorizonAt("c"));

  (void)Do(transaction, ResignBy("a"));

  EXPECT_THAT(transaction, IsLedBy("b", Term{8}));
  EXPECT_THAT(transaction.undecided, IsEmpty());
}

TEST(HorizonTest, ACandidateAtTheHorizonMayBeElected) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b"), HorizonAt("b"));

  (void)Do(transaction, ResignBy("a"));

  EXPECT_THAT(transaction, IsLedBy("b", Term{8}));
  EXPECT_THAT(transaction.undecided, IsEmpty());
}

TEST(HorizonTest, ACandidateBehindTheHorizonIsNotElected) {
  auto transaction =
      Given(LedBy("a", Term{7}), Waiting("b"), Waiting("d"), HorizonAt("b"), Expired("b"));

  (void)Do(transaction, ResignBy("a"));

  EXPECT_THAT(transaction, IsVacantAfter(Term{7}));
  EXPECT_THAT(transaction.undecided, ElementsAre(kElection));
}

TEST(HorizonTest, AQueueReadToItsEndLeavesNothingUnsettled) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b"), Expired("b"));

  (void)Do(transaction, ResignBy("a"));

  EXPECT_THAT(transaction, IsVacantAfter(Term{7}));
  EXPECT_THAT(transaction.undecided, IsEmpty());
}

TEST(HorizonTest, TheHorizonStaysEvenIfItsCandidateLeaves) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b"), Waiting("c"), HorizonAt("b"));

  (void)Do(transaction, ResignBy("b"));
  (void)Do(transaction, ResignBy("a"));

  EXPECT_THAT(transaction, IsVacantAfter(Term{7}));
  EXPECT_THAT(transaction.undecided, ElementsAre(kElection));
}

TEST(HorizonTest, ACandidateThatFallsBehindTheHorizonIsNotElected) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b"), HorizonAt("b"));

  (void)Do(transaction, CampaignBy("b", {.priority = -1}));
  (void)Do(transaction, ResignBy("a"));

  EXPECT_THAT(transaction, IsVacantAfter(Term{7}));
  EXPECT_THAT(transaction.undecided, ElementsAre(kElection));
}

TEST(HorizonTest, ANewcomerBehindTheHorizonWaitsEvenIfTheSeatIsVacant) {
  auto transaction = Given(VacantAfter(Term{7}), Waiting("b"), HorizonAt("b"), Expired("b"));

  const auto answer = Do(transaction, FirstCampaignBy("c"));

  EXPECT_THAT(answer, AnswersStanding());
  EXPECT_THAT(transaction, IsVacantAfter(Term{7}));
  EXPECT_THAT(transaction.undecided, ElementsAre(kElection));
}

TEST(HorizonTest, ANewcomerBeforeTheHorizonIsElected) {
  auto transaction = Given(VacantAfter(Term{7}), Waiting("b"), HorizonAt("b"), Expired("b"));

  const auto answer = Do(transaction, FirstCampaignBy("c", {.priority = 1}));

  EXPECT_THAT(answer, AnswersElected());
  EXPECT_THAT(transaction, IsLedBy("c", Term{8}));
}

TEST(HorizonTest, TheHorizonDoesNotUnsettleAHeldSeat) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b"), HorizonAt("b"));

  (void)Do(transaction, Reconciliation());

  EXPECT_THAT(transaction.undecided, IsEmpty());
}

}  // namespace
}  // namespace tenure::testing
