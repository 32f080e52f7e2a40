// Succession: when a term ends, who is elected next, and who never is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "core/law_testing.h"

namespace tenure::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// --- A term ends with its session ---

TEST(ExpiryTest, AnExpiredLeaderIsReplacedInTheSameTransaction) {
  auto docket = Given(LedBy("a", Term{7}), Waiting("b"), Expired("a"));

  const auto answer = Do(docket, Settlement());

  EXPECT_THAT(answer, AnswersDone());
  EXPECT_THAT(docket, IsLedBy("b", Term{8}));
  EXPECT_THAT(docket.events, ElementsAre(Vacated("a", Cause::kExpired, Term{7}, Revision{14}),
                                         Elected("b", Term{8}, Revision{15})));
  EXPECT_EQ(SessionIn(docket, "a").ended, Cause::kExpired);
  EXPECT_THAT(docket.ended, ElementsAre(Id("a")));
}

TEST(ExpiryTest, AnExpiredLeaderIsReplacedByTheCampaigner) {
  auto docket = Given(LedBy("a", Term{7}), Expired("a"));

  const auto answer = Do(docket, FirstCampaignBy("b"));

  EXPECT_THAT(answer, AnswersElected());
  EXPECT_THAT(docket.events, ElementsAre(Vacated("a", Cause::kExpired, Term{7}, Revision{14}),
                                         Elected("b", Term{8}, Revision{15})));
}

TEST(ExpiryTest, WaitingCandidatesGoBeforeTheOneThatFoundTheSeatVacant) {
  auto docket = Given(LedBy("a", Term{7}), Waiting("b"), Expired("a"));

  const auto answer = Do(docket, FirstCampaignBy("c"));

  EXPECT_THAT(answer, AnswersStanding());
  EXPECT_THAT(docket, IsLedBy("b", Term{8}));
  EXPECT_THAT(QueueIn(docket), ElementsAre("c"));
}

TEST(ExpiryTest, ALeaseEndsAtItsLastInstantAndNotBefore) {
  auto docket = Given(LedBy("a", Term{7}), Alive("a", kNow + kInstant));

  (void)Do(docket, Settlement());
  EXPECT_THAT(docket, IsLedBy("a", Term{7}));

  docket.now = kNow + kInstant;
  (void)Do(docket, Settlement());
  EXPECT_THAT(docket, IsVacantAfter(Term{7}));
}

TEST(ExpiryTest, WithoutASuccessorTheSeatIsVacantAndTheTermStays) {
  auto docket = Given(LedBy("a", Term{7}), Expired("a"));

  (void)Do(docket, Settlement());

  EXPECT_THAT(docket, IsVacantAfter(Term{7}));
  EXPECT_THAT(docket.events, ElementsAre(Vacated("a", Cause::kExpired, Term{7}, Revision{14})));
  EXPECT_THAT(docket.unsettled, IsEmpty());
}

TEST(ExpiryTest, ALeaderWithAForgottenSessionCountsAsExpired) {
  auto docket = Given(LedBy("a", Term{7}), Waiting("b"), Forgotten("a"));

  (void)Do(docket, Settlement());

  EXPECT_THAT(docket.events, ElementsAre(Vacated("a", Cause::kExpired, Term{7}, Revision{14}),
                                         Elected("b", Term{8}, Revision{15})));
}

TEST(ExpiryTest, TheEndOfATermShowsItsLeader) {
  auto docket = Given(LedBy("a", Term{7}, {.value = "v"}), Expired("a"));
  const auto leader = *ElectionIn(docket).leader;

  (void)Do(docket, Settlement());

  ASSERT_THAT(docket.events, ::testing::SizeIs(1));
  EXPECT_EQ(docket.events[0].leader, leader);
  EXPECT_EQ(docket.events[0].at, kNow);
}

TEST(ExpiryTest, SettlingTwiceExpiresOnce) {
  auto docket = Given(LedBy("a", Term{7}), Waiting("b"), Expired("a"));
  (void)Do(docket, Settlement());
  const auto once = docket;

  (void)Do(docket, Settlement());

  EXPECT_THAT(docket, IsSameAs(once));
}

class EndedLeaderTest : public ::testing::TestWithParam<Cause> {};

TEST_P(EndedLeaderTest, TheTermEndsWithTheCauseOfItsSession) {
  auto docket = Given(LedBy("a", Term{7}), Waiting("b"), Ended("a", GetParam()));

  (void)Do(docket, Settlement());

  EXPECT_THAT(docket.events, ElementsAre(Vacated("a", GetParam(), Term{7}, Revision{14}),
                                         Elected("b", Term{8}, Revision{15})));
}

INSTANTIATE_TEST_SUITE_P(Each, EndedLeaderTest,
                         ::testing::Values(Cause::kExpired, Cause::kSuperseded,
                                           Cause::kSessionClosed, Cause::kDeposed),
                         [](const auto& info) { return std::string(CauseName(info.param)); });

// --- A grant proves life ---

TEST(GrantTest, AnExpiredSessionIsPassedOverAndMarked) {
  auto docket = Given(LedBy("a", Term{7}), Waiting("b"), Waiting("c"), Expired("b"));

  (void)Do(docket, ResignBy("a"));

  EXPECT_THAT(docket, IsLedBy("c", Term{8}));
  EXPECT_EQ(SessionIn(docket, "b").ended, Cause::kExpired);
  EXPECT_THAT(docket.ended, ElementsAre(Id("b")));
}

TEST(GrantTest, AnEndedSessionIsPassedOverEvenDuringItsLease) {
  auto docket =
      Given(LedBy("a", Term{7}), Waiting("b"), Waiting("c"), Ended("b", Cause::kSessionClosed));

  (void)Do(docket, ResignBy("a"));

  EXPECT_THAT(docket, IsLedBy("c", Term{8}));
  EXPECT_THAT(docket.ended, IsEmpty());
}

TEST(GrantTest, AMissingSessionIsPassedOver) {
  auto docket = Given(LedBy("a", Term{7}), Waiting("b"), Waiting("c"), Forgotten("b"));

  (void)Do(docket, ResignBy("a"));

  EXPECT_THAT(docket, IsLedBy("c", Term{8}));
}

TEST(GrantTest, LifeIsJudgedByTheClockOfTheTransaction) {
  auto docket = Given(LedBy("a", Term{7}), Waiting("b"), Alive("b", kNow + 1s), Now(kNow + 1s));

  (void)Do(docket, ResignBy("a"));

  EXPECT_THAT(docket, IsVacantAfter(Term{7}));
}

TEST(GrantTest, ASessionInTheLastInstantOfItsLeaseIsElected) {
  auto docket = Given(LedBy("a", Term{7}), Waiting("b"), Alive("b", kNow + kInstant));

  (void)Do(docket, ResignBy("a"));

  EXPECT_THAT(docket, IsLedBy("b", Term{8}));
}

TEST(GrantTest, NobodyIsElectedIfAllAreDead) {
  auto docket = Given(LedBy("a", Term{7}), Waiting("b"), Waiting("c"), Waiting("d"), Expired("b"),
                      Ended("c", Cause::kSessionClosed), Forgotten("d"));

  (void)Do(docket, ResignBy("a"));

  EXPECT_THAT(docket, IsVacantAfter(Term{7}));
  EXPECT_THAT(docket.events, ElementsAre(Vacated("a", Cause::kResigned, Term{7}, Revision{14})));
}

TEST(GrantTest, AVacantSeatGoesToTheFirstLiveCandidate) {
  auto docket = Given(VacantAfter(Term{7}), Waiting("b"), Waiting("c"), Expired("b"));

  (void)Do(docket, Settlement());

  EXPECT_THAT(docket.events, ElementsAre(Elected("c", Term{8}, Revision{15})));
}

TEST(GrantTest, ANewcomerIsElectedIfAllBeforeItAreDead) {
  auto docket = Given(VacantAfter(Term{7}), Waiting("b"), Expired("b"));

  const auto answer = Do(docket, FirstCampaignBy("c"));

  EXPECT_THAT(answer, AnswersElected());
  EXPECT_THAT(docket, IsLedBy("c", Term{8}));
}

TEST(GrantTest, TheGrantHasTheValueAndAttemptOfTheCandidacy) {
  auto docket = Given(LedBy("a", Term{7}), Waiting("b", {.value = "v", .attempt = {5}}));

  (void)Do(docket, ResignBy("a"));

  EXPECT_EQ(ElectionIn(docket).leader, (Leader{Id("b"), "b", kLease, "v", kNow, Attempt{5}}));
  EXPECT_EQ(ElectionIn(docket).waiting, 0);
}

TEST(GrantTest, EachGrantRaisesTheTermByOneAndNoneRepeats) {
  auto docket = Given();

  for (const auto* name : {"a", "b", "c", "b", "a"}) {
    (void)Do(docket, FirstCampaignBy(name));
    (void)Do(docket, ResignBy(name));
  }

  std::vector<uint64_t> terms;
  for (const Event& event : docket.events) {
    if (event.type == EventType::kElected) terms.push_back(event.term.value);
  }
  EXPECT_THAT(terms, ElementsAre(1, 2, 3, 4, 5));
}

// --- Order ---

TEST(OrderTest, TheFirstToComeIsElectedFirst) {
  auto docket = Given(LedBy("a", Term{7}), Waiting("b"), Waiting("c"), Waiting("d"));

  (void)Do(docket, ResignBy("a"));
  EXPECT_THAT(docket, IsLedBy("b", Term{8}));
  (void)Do(docket, ResignBy("b"));
  EXPECT_THAT(docket, IsLedBy("c", Term{9}));
  (void)Do(docket, ResignBy("c"));
  EXPECT_THAT(docket, IsLedBy("d", Term{10}));
}

TEST(OrderTest, AHigherPriorityIsElectedFirst) {
  auto docket = Given(LedBy("a", Term{7}));
  (void)Do(docket, FirstCampaignBy("b"));
  (void)Do(docket, FirstCampaignBy("c", {.priority = 1}));
  (void)Do(docket, FirstCampaignBy("d", {.priority = -1}));
  (void)Do(docket, FirstCampaignBy("e", {.priority = 1}));

  EXPECT_THAT(QueueIn(docket), ElementsAre("c", "e", "b", "d"));
  (void)Do(docket, ResignBy("a"));
  EXPECT_THAT(docket, IsLedBy("c", Term{8}));
}

TEST(OrderTest, TheExtremePrioritiesAreTheEndsOfTheOrder) {
  constexpr int32_t kLowest = std::numeric_limits<int32_t>::min();
  constexpr int32_t kHighest = std::numeric_limits<int32_t>::max();
  auto docket = Given(LedBy("a", Term{7}));
  (void)Do(docket, FirstCampaignBy("b", {.priority = kLowest}));
  (void)Do(docket, FirstCampaignBy("c", {.priority = -1}));
  (void)Do(docket, FirstCampaignBy("d"));
  (void)Do(docket, FirstCampaignBy("e", {.priority = kHighest}));

  EXPECT_THAT(QueueIn(docket), ElementsAre("e", "d", "c", "b"));
}

// --- Who does not want to lead ---

TEST(NegativePriorityTest, ANegativePriorityIsNotElectedEvenIfTheSeatIsVacant) {
  auto docket = Given();

  EXPECT_THAT(Do(docket, FirstCampaignBy("a", {.priority = -1})), AnswersStanding());

  EXPECT_TRUE(ContestIn(docket).exists);
  EXPECT_THAT(docket, IsVacantAfter(Term{0}));
  EXPECT_THAT(QueueIn(docket), ElementsAre("a"));
  EXPECT_EQ(ElectionIn(docket).wake_at, std::nullopt);
  EXPECT_THAT(docket.unsettled, IsEmpty());
}

TEST(NegativePriorityTest, ANegativePriorityIsPassedOverWhoeverLeaves) {
  auto docket = Given(LedBy("a", Term{7}), Waiting("b", {.priority = -1}), Waiting("c"));

  (void)Do(docket, ResignBy("a"));
  EXPECT_THAT(docket, IsLedBy("c", Term{8}));

  (void)Do(docket, ResignBy("c"));
  EXPECT_THAT(docket, IsVacantAfter(Term{8}));
  EXPECT_THAT(QueueIn(docket), ElementsAre("b"));
}

TEST(NegativePriorityTest, ANewcomerGetsTheSeatBeforeANegativePriority) {
  auto docket = Given(VacantAfter(Term{7}), Waiting("b", {.priority = -1}));

  EXPECT_THAT(Do(docket, FirstCampaignBy("c")), AnswersElected());
}

TEST(NegativePriorityTest, AnAppointedNegativePriorityLeads) {
  auto docket = Given(VacantAfter(Term{7}), Waiting("b", {.priority = -1}), Appointed("b"));

  (void)Do(docket, Settlement());

  EXPECT_THAT(docket, IsLedBy("b", Term{8}));
  EXPECT_THAT(Do(docket, CampaignBy("b", {.priority = -1})), AnswersElected());
}

TEST(NegativePriorityTest, RaisingANegativePriorityElectsAtOnce) {
  auto docket = Given(VacantAfter(Term{7}), Waiting("b", {.priority = -1}));

  EXPECT_THAT(Do(docket, CampaignBy("b")), AnswersElected());
}

TEST(NegativePriorityTest, ANegativePriorityNeedsRoomInTheQueueEvenIfTheSeatIsVacant) {
  auto docket = Given();

  EXPECT_THAT(Do(docket, FirstCampaignBy("a", {.priority = -1}), {.queue_max = 0}),
              FailsWith(Reason::kQueueFull));
}

TEST(NegativePriorityTest, ZeroIsNotNegative) {
  auto docket = Given(LedBy("a", Term{7}), Waiting("b", {.priority = 0}));

  (void)Do(docket, ResignBy("a"));

  EXPECT_THAT(docket, IsLedBy("b", Term{8}));
}

// --- What was not read ---

TEST(HorizonTest, ACandidateBeforeTheHorizonMayBeElected) {
  auto docket = Given(LedBy("a", Term{7}), Waiting("b"), Waiting("c"), HorizonAt("c"));

  (void)Do(docket, ResignBy("a"));

  EXPECT_THAT(docket, IsLedBy("b", Term{8}));
  EXPECT_THAT(docket.unsettled, IsEmpty());
}

TEST(HorizonTest, ACandidateAtTheHorizonMayBeElected) {
  auto docket = Given(LedBy("a", Term{7}), Waiting("b"), HorizonAt("b"));

  (void)Do(docket, ResignBy("a"));

  EXPECT_THAT(docket, IsLedBy("b", Term{8}));
  EXPECT_THAT(docket.unsettled, IsEmpty());
}

TEST(HorizonTest, ACandidateBehindTheHorizonIsNotElected) {
  auto docket =
      Given(LedBy("a", Term{7}), Waiting("b"), Waiting("d"), HorizonAt("b"), Expired("b"));

  (void)Do(docket, ResignBy("a"));

  EXPECT_THAT(docket, IsVacantAfter(Term{7}));
  EXPECT_THAT(docket.unsettled, ElementsAre(kElection));
}

TEST(HorizonTest, AQueueReadToItsEndLeavesNothingUnsettled) {
  auto docket = Given(LedBy("a", Term{7}), Waiting("b"), Expired("b"));

  (void)Do(docket, ResignBy("a"));

  EXPECT_THAT(docket, IsVacantAfter(Term{7}));
  EXPECT_THAT(docket.unsettled, IsEmpty());
}

TEST(HorizonTest, TheHorizonStaysEvenIfItsCandidateLeaves) {
  auto docket = Given(LedBy("a", Term{7}), Waiting("b"), Waiting("c"), HorizonAt("b"));

  (void)Do(docket, ResignBy("b"));
  (void)Do(docket, ResignBy("a"));

  EXPECT_THAT(docket, IsVacantAfter(Term{7}));
  EXPECT_THAT(docket.unsettled, ElementsAre(kElection));
}

TEST(HorizonTest, ACandidateThatFallsBehindTheHorizonIsNotElected) {
  auto docket = Given(LedBy("a", Term{7}), Waiting("b"), HorizonAt("b"));

  (void)Do(docket, CampaignBy("b", {.priority = -1}));
  (void)Do(docket, ResignBy("a"));

  EXPECT_THAT(docket, IsVacantAfter(Term{7}));
  EXPECT_THAT(docket.unsettled, ElementsAre(kElection));
}

TEST(HorizonTest, ANewcomerBehindTheHorizonWaitsEvenIfTheSeatIsVacant) {
  auto docket = Given(VacantAfter(Term{7}), Waiting("b"), HorizonAt("b"), Expired("b"));

  const auto answer = Do(docket, FirstCampaignBy("c"));

  EXPECT_THAT(answer, AnswersStanding());
  EXPECT_THAT(docket, IsVacantAfter(Term{7}));
  EXPECT_THAT(docket.unsettled, ElementsAre(kElection));
}

TEST(HorizonTest, ANewcomerBeforeTheHorizonIsElected) {
  auto docket = Given(VacantAfter(Term{7}), Waiting("b"), HorizonAt("b"), Expired("b"));

  const auto answer = Do(docket, FirstCampaignBy("c", {.priority = 1}));

  EXPECT_THAT(answer, AnswersElected());
  EXPECT_THAT(docket, IsLedBy("c", Term{8}));
}

TEST(HorizonTest, TheHorizonDoesNotUnsettleAHeldSeat) {
  auto docket = Given(LedBy("a", Term{7}), Waiting("b"), HorizonAt("b"));

  (void)Do(docket, Settlement());

  EXPECT_THAT(docket.unsettled, IsEmpty());
}

}  // namespace
}  // namespace tenure::testing
