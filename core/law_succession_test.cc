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

TEST(ExpiryTest, ALeaderWhoseLeaseIsOverIsReplacedInTheSameTransaction) {
  auto docket = Given(LedBy("a", Term{7}), Waiting("b"), Expired("a"));

  const auto answer = Do(docket, Settlement());

  EXPECT_THAT(answer, AnswersDone());
  EXPECT_THAT(docket, IsLedBy("b", Term{8}));
  EXPECT_THAT(docket.events, ElementsAre(Vacated("a", Cause::kExpired, Term{7}, Revision{14}),
                                         Elected("b", Term{8}, Revision{15})));
  EXPECT_EQ(SessionIn(docket, "a").ended, Cause::kExpired);
  EXPECT_THAT(docket.ended, ElementsAre(Id("a")));
}

TEST(ExpiryTest, ALeaderIsReplacedByTheOneWhoCampaigns) {
  auto docket = Given(LedBy("a", Term{7}), Expired("a"));

  const auto answer = Do(docket, FirstCampaignBy("b"));

  EXPECT_THAT(answer, AnswersElected());
  EXPECT_THAT(docket.events, ElementsAre(Vacated("a", Cause::kExpired, Term{7}, Revision{14}),
                                         Elected("b", Term{8}, Revision{15})));
}

TEST(ExpiryTest, WhoWaitedGoesBeforeWhoFoundTheSeatVacant) {
  auto docket = Given(LedBy("a", Term{7}), Waiting("b"), Expired("a"));

  const auto answer = Do(docket, FirstCampaignBy("c"));

  EXPECT_THAT(answer, AnswersStanding());
  EXPECT_THAT(docket, IsLedBy("b", Term{8}));
  EXPECT_THAT(QueueIn(docket), ElementsAre("c"));
}

TEST(ExpiryTest, ALeaseIsOverAtItsLastInstantAndNotBefore) {
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

TEST(ExpiryTest, ALeaderWhoseSessionIsForgottenIsReplacedAsExpired) {
  auto docket = Given(LedBy("a", Term{7}), Waiting("b"), Forgotten("a"));

  (void)Do(docket, Settlement());

  EXPECT_THAT(docket.events, ElementsAre(Vacated("a", Cause::kExpired, Term{7}, Revision{14}),
                                         Elected("b", Term{8}, Revision{15})));
}

TEST(ExpiryTest, TheEndOfATermTellsWhatTheLeaderWas) {
  auto docket = Given(LedBy("a", Term{7}, {.value = "v"}), Expired("a"));
  const auto leader = *ElectionIn(docket).leader;

  (void)Do(docket, Settlement());

  ASSERT_THAT(docket.events, ::testing::SizeIs(1));
  EXPECT_EQ(docket.events[0].leader, leader);
  EXPECT_EQ(docket.events[0].at, kNow);
}

TEST(ExpiryTest, SettledTwiceItHappensOnce) {
  auto docket = Given(LedBy("a", Term{7}), Waiting("b"), Expired("a"));
  (void)Do(docket, Settlement());
  const auto once = docket;

  (void)Do(docket, Settlement());

  EXPECT_THAT(docket, IsSameAs(once));
}

class EndedLeaderTest : public ::testing::TestWithParam<Cause> {};

TEST_P(EndedLeaderTest, ItsTermEndsForTheCauseForWhichItsSessionDid) {
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

TEST(GrantTest, PassesOverASessionWhoseLeaseIsOverAndMarksIt) {
  auto docket = Given(LedBy("a", Term{7}), Waiting("b"), Waiting("c"), Expired("b"));

  (void)Do(docket, ResignBy("a"));

  EXPECT_THAT(docket, IsLedBy("c", Term{8}));
  EXPECT_EQ(SessionIn(docket, "b").ended, Cause::kExpired);
  EXPECT_THAT(docket.ended, ElementsAre(Id("b")));
}

TEST(GrantTest, PassesOverASessionThatHasEndedThoughItsLeaseIsNotOver) {
  auto docket =
      Given(LedBy("a", Term{7}), Waiting("b"), Waiting("c"), Ended("b", Cause::kSessionClosed));

  (void)Do(docket, ResignBy("a"));

  EXPECT_THAT(docket, IsLedBy("c", Term{8}));
  EXPECT_THAT(docket.ended, IsEmpty());
}

TEST(GrantTest, PassesOverASessionThatIsNotThere) {
  auto docket = Given(LedBy("a", Term{7}), Waiting("b"), Waiting("c"), Forgotten("b"));

  (void)Do(docket, ResignBy("a"));

  EXPECT_THAT(docket, IsLedBy("c", Term{8}));
}

TEST(GrantTest, JudgesLifeByTheClockOfItsOwnTransaction) {
  auto docket = Given(LedBy("a", Term{7}), Waiting("b"), Alive("b", kNow + 1s), Now(kNow + 1s));

  (void)Do(docket, ResignBy("a"));

  EXPECT_THAT(docket, IsVacantAfter(Term{7}));
}

TEST(GrantTest, GoesToASessionInTheLastInstantOfItsLease) {
  auto docket = Given(LedBy("a", Term{7}), Waiting("b"), Alive("b", kNow + kInstant));

  (void)Do(docket, ResignBy("a"));

  EXPECT_THAT(docket, IsLedBy("b", Term{8}));
}

TEST(GrantTest, IsMadeToNobodyWhenAllAreDead) {
  auto docket = Given(LedBy("a", Term{7}), Waiting("b"), Waiting("c"), Waiting("d"), Expired("b"),
                      Ended("c", Cause::kSessionClosed), Forgotten("d"));

  (void)Do(docket, ResignBy("a"));

  EXPECT_THAT(docket, IsVacantAfter(Term{7}));
  EXPECT_THAT(docket.events, ElementsAre(Vacated("a", Cause::kResigned, Term{7}, Revision{14})));
}

TEST(GrantTest, OfASeatFoundVacantGoesToTheFirstWhoIsAlive) {
  auto docket = Given(VacantAfter(Term{7}), Waiting("b"), Waiting("c"), Expired("b"));

  (void)Do(docket, Settlement());

  EXPECT_THAT(docket.events, ElementsAre(Elected("c", Term{8}, Revision{15})));
}

TEST(GrantTest, GoesToANewcomerWhenAllBeforeItAreDead) {
  auto docket = Given(VacantAfter(Term{7}), Waiting("b"), Expired("b"));

  const auto answer = Do(docket, FirstCampaignBy("c"));

  EXPECT_THAT(answer, AnswersElected());
  EXPECT_THAT(docket, IsLedBy("c", Term{8}));
}

TEST(GrantTest, TakesTheValueAndTheAttemptOfTheCandidacy) {
  auto docket = Given(LedBy("a", Term{7}), Waiting("b", {.value = "v", .attempt = {5}}));

  (void)Do(docket, ResignBy("a"));

  EXPECT_EQ(ElectionIn(docket).leader, (Leader{Id("b"), "b", kLease, "v", kNow, Attempt{5}}));
  EXPECT_EQ(ElectionIn(docket).waiting, 0);
}

TEST(GrantTest, EachRaisesTheTermByOneAndNoneIsEverRepeated) {
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

TEST(OrderTest, WhoCameFirstIsElectedFirst) {
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

TEST(OrderTest, TheExtremesOfPriorityAreItsEnds) {
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

TEST(NegativePriorityTest, StandsAndIsNotElectedThoughTheSeatIsVacant) {
  auto docket = Given();

  EXPECT_THAT(Do(docket, FirstCampaignBy("a", {.priority = -1})), AnswersStanding());

  EXPECT_TRUE(ContestIn(docket).exists);
  EXPECT_THAT(docket, IsVacantAfter(Term{0}));
  EXPECT_THAT(QueueIn(docket), ElementsAre("a"));
  EXPECT_EQ(ElectionIn(docket).wake_at, std::nullopt);
  EXPECT_THAT(docket.unsettled, IsEmpty());
}

TEST(NegativePriorityTest, IsPassedOverWhoeverGoes) {
  auto docket = Given(LedBy("a", Term{7}), Waiting("b", {.priority = -1}), Waiting("c"));

  (void)Do(docket, ResignBy("a"));
  EXPECT_THAT(docket, IsLedBy("c", Term{8}));

  (void)Do(docket, ResignBy("c"));
  EXPECT_THAT(docket, IsVacantAfter(Term{8}));
  EXPECT_THAT(QueueIn(docket), ElementsAre("b"));
}

TEST(NegativePriorityTest, LeavesTheSeatToANewcomer) {
  auto docket = Given(VacantAfter(Term{7}), Waiting("b", {.priority = -1}));

  EXPECT_THAT(Do(docket, FirstCampaignBy("c")), AnswersElected());
}

TEST(NegativePriorityTest, LeadsIfItIsAppointed) {
  auto docket = Given(VacantAfter(Term{7}), Waiting("b", {.priority = -1}), Appointed("b"));

  (void)Do(docket, Settlement());

  EXPECT_THAT(docket, IsLedBy("b", Term{8}));
  EXPECT_THAT(Do(docket, CampaignBy("b", {.priority = -1})), AnswersElected());
}

TEST(NegativePriorityTest, TakenBackElectsAtOnce) {
  auto docket = Given(VacantAfter(Term{7}), Waiting("b", {.priority = -1}));

  EXPECT_THAT(Do(docket, CampaignBy("b")), AnswersElected());
}

TEST(NegativePriorityTest, NeedsAPlaceInTheQueueThoughTheSeatIsVacant) {
  auto docket = Given();

  EXPECT_THAT(Do(docket, FirstCampaignBy("a", {.priority = -1}), {.queue_max = 0}),
              FailsWith(Reason::kQueueFull));
}

TEST(NegativePriorityTest, OfZeroIsNone) {
  auto docket = Given(LedBy("a", Term{7}), Waiting("b", {.priority = 0}));

  (void)Do(docket, ResignBy("a"));

  EXPECT_THAT(docket, IsLedBy("b", Term{8}));
}

// --- What was not read ---

TEST(HorizonTest, WhoStandsBeforeItMayBeElected) {
  auto docket = Given(LedBy("a", Term{7}), Waiting("b"), Waiting("c"), HorizonAt("c"));

  (void)Do(docket, ResignBy("a"));

  EXPECT_THAT(docket, IsLedBy("b", Term{8}));
  EXPECT_THAT(docket.unsettled, IsEmpty());
}

TEST(HorizonTest, WhoStandsAtItMayBeElected) {
  auto docket = Given(LedBy("a", Term{7}), Waiting("b"), HorizonAt("b"));

  (void)Do(docket, ResignBy("a"));

  EXPECT_THAT(docket, IsLedBy("b", Term{8}));
  EXPECT_THAT(docket.unsettled, IsEmpty());
}

TEST(HorizonTest, WhoStandsBehindItIsNotElected) {
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

TEST(HorizonTest, TheOneItNamesMayLeaveAndItStaysWhereItIs) {
  auto docket = Given(LedBy("a", Term{7}), Waiting("b"), Waiting("c"), HorizonAt("b"));

  (void)Do(docket, ResignBy("b"));
  (void)Do(docket, ResignBy("a"));

  EXPECT_THAT(docket, IsVacantAfter(Term{7}));
  EXPECT_THAT(docket.unsettled, ElementsAre(kElection));
}

TEST(HorizonTest, WhoFallsBehindItByPriorityIsNotElected) {
  auto docket = Given(LedBy("a", Term{7}), Waiting("b"), HorizonAt("b"));

  (void)Do(docket, CampaignBy("b", {.priority = -1}));
  (void)Do(docket, ResignBy("a"));

  EXPECT_THAT(docket, IsVacantAfter(Term{7}));
  EXPECT_THAT(docket.unsettled, ElementsAre(kElection));
}

TEST(HorizonTest, ANewcomerBehindItStandsThoughTheSeatIsVacant) {
  auto docket = Given(VacantAfter(Term{7}), Waiting("b"), HorizonAt("b"), Expired("b"));

  const auto answer = Do(docket, FirstCampaignBy("c"));

  EXPECT_THAT(answer, AnswersStanding());
  EXPECT_THAT(docket, IsVacantAfter(Term{7}));
  EXPECT_THAT(docket.unsettled, ElementsAre(kElection));
}

TEST(HorizonTest, ANewcomerBeforeItByPriorityIsElected) {
  auto docket = Given(VacantAfter(Term{7}), Waiting("b"), HorizonAt("b"), Expired("b"));

  const auto answer = Do(docket, FirstCampaignBy("c", {.priority = 1}));

  EXPECT_THAT(answer, AnswersElected());
  EXPECT_THAT(docket, IsLedBy("c", Term{8}));
}

TEST(HorizonTest, AHeldSeatIsNotUnsettledByIt) {
  auto docket = Given(LedBy("a", Term{7}), Waiting("b"), HorizonAt("b"));

  (void)Do(docket, Settlement());

  EXPECT_THAT(docket.unsettled, IsEmpty());
}

}  // namespace
}  // namespace tenure::testing
