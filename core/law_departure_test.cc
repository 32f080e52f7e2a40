// Departures: Resign, Withdraw, and Settle for a session that is over.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/law_testing.h"

namespace tenure::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// --- Resign ---

TEST(ResignTest, ALeadersResignationPassesTheSeatInTheSameTransaction) {
  auto docket = Given(LedBy("a", Term{7}), Waiting("b"));

  const auto answer = Do(docket, ResignBy("a"));

  EXPECT_THAT(answer, AnswersResigned(Term{7}));
  EXPECT_THAT(docket.events, ElementsAre(Vacated("a", Cause::kResigned, Term{7}, Revision{14}),
                                         Elected("b", Term{8}, Revision{15})));
}

TEST(ResignTest, ALeaderMayNameItsTerm) {
  auto docket = Given(LedBy("a", Term{7}), Waiting("b"));

  EXPECT_THAT(Do(docket, ResignBy("a", Term{7})), AnswersResigned(Term{7}));
  EXPECT_THAT(docket, IsLedBy("b", Term{8}));
}

TEST(ResignTest, WithoutASuccessorTheSeatBecomesVacant) {
  auto docket = Given(LedBy("a", Term{7}));

  EXPECT_THAT(Do(docket, ResignBy("a")), AnswersResigned(Term{7}));
  EXPECT_THAT(docket, IsVacantAfter(Term{7}));
  EXPECT_THAT(docket.events, ElementsAre(Vacated("a", Cause::kResigned, Term{7}, Revision{14})));
}

TEST(ResignTest, TheSessionStaysAlive) {
  auto docket = Given(LedBy("a", Term{7}));

  (void)Do(docket, ResignBy("a"));

  EXPECT_EQ(SessionIn(docket, "a"), SessionOfCandidate("a"));
  EXPECT_THAT(docket.ended, IsEmpty());
}

TEST(ResignTest, ALeaderThatNamesAnotherTermIsStale) {
  auto docket = Given(LedBy("a", Term{7}), Waiting("b"));
  const auto before = docket;

  EXPECT_THAT(Do(docket, ResignBy("a", Term{6})),
              FailsWith(Reason::kStaleTerm, "current_term", "7"));
  EXPECT_THAT(Do(docket, ResignBy("a", Term{8})),
              FailsWith(Reason::kStaleTerm, "current_term", "7"));
  EXPECT_THAT(docket, IsSameAs(before));
}

TEST(ResignTest, AWaiterLeavesTheQueue) {
  auto docket = Given(LedBy("a", Term{7}), Waiting("b"), Waiting("c"));

  const auto answer = Do(docket, ResignBy("b"));

  EXPECT_THAT(answer, Answers(ResignOutcome::kWithdrawn));
  EXPECT_THAT(QueueIn(docket), ElementsAre("c"));
  EXPECT_EQ(ElectionIn(docket).waiting, 1);
  EXPECT_THAT(docket, IsLedBy("a", Term{7}));
  EXPECT_THAT(docket.events, IsEmpty());
}

TEST(ResignTest, AWaiterThatNamesATermIsStaleAndKeepsItsPlace) {
  auto docket = Given(LedBy("a", Term{7}), Waiting("b"));
  const auto before = docket;

  EXPECT_THAT(Do(docket, ResignBy("b", Term{6})),
              FailsWith(Reason::kStaleTerm, "current_term", "7"));
  EXPECT_THAT(Do(docket, ResignBy("b", Term{7})),
              FailsWith(Reason::kStaleTerm, "current_term", "7"));
  EXPECT_THAT(docket, IsSameAs(before));
}

TEST(ResignTest, WithTermZeroAWaiterLeavesTheQueue) {
  auto docket = Given(LedBy("a", Term{7}), Waiting("b"));

  EXPECT_THAT(Do(docket, ResignBy("b", Term{0})), Answers(ResignOutcome::kWithdrawn));
}

TEST(ResignTest, WithTermZeroALeaderIsStaleAndStays) {
  auto docket = Given(LedBy("a", Term{7}));
  const auto before = docket;

  EXPECT_THAT(Do(docket, ResignBy("a", Term{0})),
              FailsWith(Reason::kStaleTerm, "current_term", "7"));
  EXPECT_THAT(docket, IsSameAs(before));
}

TEST(ResignTest, AStrangerIsNotStanding) {
  auto docket = Given(LedBy("a", Term{7}), Alive("b"));
  const auto before = docket;

  EXPECT_THAT(Do(docket, ResignBy("b")), Answers(ResignOutcome::kNotStanding));
  EXPECT_THAT(docket, IsSameAs(before));
}

TEST(ResignTest, AStrangerThatNamesAnothersTermIsNotLeader) {
  auto docket = Given(LedBy("a", Term{7}), Alive("b"));
  const auto before = docket;

  EXPECT_THAT(Do(docket, ResignBy("b", Term{7})), FailsWith(Reason::kNotLeader));
  EXPECT_THAT(docket, IsSameAs(before));
}

TEST(ResignTest, ARepeatedResignationIsNotStandingWhoeverLeadsNow) {
  auto docket = Given(LedBy("a", Term{7}), Waiting("b"));
  (void)Do(docket, ResignBy("a", Term{7}));
  const auto once = docket;

  EXPECT_THAT(Do(docket, ResignBy("a", Term{7})), Answers(ResignOutcome::kNotStanding));
  EXPECT_THAT(docket, IsSameAs(once));
}

TEST(ResignTest, ARepeatedResignationIsNotStandingEvenIfNobodyLeads) {
  auto docket = Given(LedBy("a", Term{7}));
  (void)Do(docket, ResignBy("a", Term{7}));
  const auto once = docket;

  EXPECT_THAT(Do(docket, ResignBy("a", Term{7})), Answers(ResignOutcome::kNotStanding));
  EXPECT_THAT(docket, IsSameAs(once));
}

TEST(ResignTest, ARepeatedResignationByAWaiterIsNotStanding) {
  auto docket = Given(LedBy("a", Term{7}), Waiting("b"));
  (void)Do(docket, ResignBy("b"));
  const auto once = docket;

  EXPECT_THAT(Do(docket, ResignBy("b")), Answers(ResignOutcome::kNotStanding));
  EXPECT_THAT(docket, IsSameAs(once));
}

TEST(ResignTest, ALateDuplicateDoesNotEndALaterTermOfTheSameSession) {
  auto docket = Given(LedBy("a", Term{7}));
  (void)Do(docket, ResignBy("a", Term{7}));
  (void)Do(docket, CampaignBy("a"));

  EXPECT_THAT(Do(docket, ResignBy("a", Term{7})),
              FailsWith(Reason::kStaleTerm, "current_term", "8"));
  EXPECT_THAT(docket, IsLedBy("a", Term{8}));
}

TEST(ResignTest, AnEndedSessionIsToldSoAndItsSeatPasses) {
  auto docket = Given(LedBy("a", Term{7}), Waiting("b"), Ended("a", Cause::kSessionClosed));

  EXPECT_THAT(Do(docket, ResignBy("a")), Answers(ResignOutcome::kSessionEnded));
  EXPECT_THAT(docket.events, ElementsAre(Vacated("a", Cause::kSessionClosed, Term{7}, Revision{14}),
                                         Elected("b", Term{8}, Revision{15})));
}

TEST(ResignTest, AnExpiredLeaderCannotResign) {
  auto docket = Given(LedBy("a", Term{7}), Expired("a"));

  EXPECT_THAT(Do(docket, ResignBy("a", Term{7})), Answers(ResignOutcome::kSessionEnded));
  EXPECT_THAT(docket.events, ElementsAre(Vacated("a", Cause::kExpired, Term{7}, Revision{14})));
}

TEST(ResignTest, AnExpiredWaiterGivesUpItsPlace) {
  auto docket = Given(LedBy("a", Term{7}), Waiting("b"), Expired("b"));

  EXPECT_THAT(Do(docket, ResignBy("b")), Answers(ResignOutcome::kSessionEnded));
  EXPECT_THAT(QueueIn(docket), IsEmpty());
  EXPECT_EQ(ElectionIn(docket).waiting, 0);
  EXPECT_EQ(SessionIn(docket, "b").ended, Cause::kExpired);
}

TEST(ResignTest, AnUnknownSessionIsRefused) {
  auto docket = Given(LedBy("a", Term{7}));
  const auto before = docket;

  EXPECT_THAT(Do(docket, ResignBy("b")), FailsWith(Reason::kSessionNotFound));
  EXPECT_THAT(docket, IsSameAs(before));
}

TEST(ResignTest, AnUnknownElectionIsRefused) {
  auto docket = Given(Alive("a"));
  const auto before = docket;

  EXPECT_THAT(Do(docket, ResignBy("a")), FailsWith(Reason::kElectionNotFound));
  EXPECT_THAT(docket, IsSameAs(before));
}

// --- Withdraw ---

constexpr Attempt kFirst{5};
constexpr Attempt kSecond{6};

TEST(WithdrawTest, TheWaiterOfTheAttemptLeavesTheQueue) {
  auto docket = Given(LedBy("a", Term{7}), Waiting("b", {.attempt = kFirst}), Waiting("c"));

  EXPECT_THAT(Do(docket, WithdrawalBy("b", kFirst)), AnswersDone());
  EXPECT_THAT(QueueIn(docket), ElementsAre("c"));
  EXPECT_EQ(ElectionIn(docket).waiting, 1);
  EXPECT_THAT(docket.events, IsEmpty());
}

TEST(WithdrawTest, AnotherAttemptLeavesTheWaiterInItsPlace) {
  auto docket = Given(LedBy("a", Term{7}), Waiting("b", {.attempt = kSecond}));
  const auto before = docket;

  EXPECT_THAT(Do(docket, WithdrawalBy("b", kFirst)), AnswersDone());
  EXPECT_THAT(docket, IsSameAs(before));
}

TEST(WithdrawTest, APlaceAlsoWantedByALaterCallIsKept) {
  auto docket = Given(LedBy("a", Term{7}), Waiting("b", {.attempt = kFirst}));
  (void)Do(docket, CampaignBy("b", {.attempt = kSecond}));

  (void)Do(docket, WithdrawalBy("b", kFirst));
  EXPECT_THAT(QueueIn(docket), ElementsAre("b"));

  (void)Do(docket, WithdrawalBy("b", kSecond));
  EXPECT_THAT(QueueIn(docket), IsEmpty());
}

TEST(WithdrawTest, TheLastOfTwoCallsForAPlaceGivesItUp) {
  auto docket = Given(LedBy("a", Term{7}), Alive("b"));
  (void)Do(docket, CampaignBy("b", {.attempt = kSecond}));
  (void)Do(docket, CampaignBy("b", {.attempt = kFirst}));  // it was under way for long
  EXPECT_TRUE(PlaceIn(docket, "b").asked_again);

  (void)Do(docket, WithdrawalBy("b", kSecond));
  EXPECT_THAT(QueueIn(docket), ElementsAre("b"));

  (void)Do(docket, WithdrawalBy("b", kFirst));
  EXPECT_THAT(QueueIn(docket), IsEmpty());
}

// The other call may have told its caller by now, who believes.
TEST(WithdrawTest, TheSeatOfAPlaceWantedByTwoCallsIsKept) {
  for (const Attempt abandoned : {kFirst, kSecond}) {
    auto docket = Given(LedBy("a", Term{7}), Alive("b"));
    (void)Do(docket, CampaignBy("b", {.attempt = kSecond}));
    (void)Do(docket, CampaignBy("b", {.attempt = kFirst}));
    (void)Do(docket, ResignBy("a"));

    (void)Do(docket, WithdrawalBy("b", abandoned));

    EXPECT_THAT(docket, IsLedBy("b", Term{8}));
  }
}

TEST(WithdrawTest, TheSeatIsKeptEvenIfTheFirstCallWasAppliedAgain) {
  auto docket = Given(LedBy("a", Term{7}), Alive("b"));
  for (const Attempt attempt : {kFirst, kSecond, kFirst, kFirst}) {
    (void)Do(docket, CampaignBy("b", {.attempt = attempt}));
  }
  (void)Do(docket, ResignBy("a"));

  (void)Do(docket, WithdrawalBy("b", kFirst));

  EXPECT_THAT(docket, IsLedBy("b", Term{8}));
}

TEST(WithdrawTest, TheSeatOfAPlaceWantedTwiceByOneCallIsResigned) {
  auto docket = Given(LedBy("a", Term{7}), Alive("b"));
  (void)Do(docket, CampaignBy("b", {.attempt = kFirst}));
  (void)Do(docket, CampaignBy("b", {.attempt = kFirst}));
  EXPECT_FALSE(PlaceIn(docket, "b").asked_again);
  (void)Do(docket, ResignBy("a"));

  (void)Do(docket, WithdrawalBy("b", kFirst));

  EXPECT_THAT(docket, IsVacantAfter(Term{8}));
}

TEST(WithdrawTest, ANewPlaceForgetsTheCallsForTheOldOne) {
  auto docket = Given(LedBy("a", Term{7}), Alive("b"));
  (void)Do(docket, CampaignBy("b", {.attempt = kFirst}));
  (void)Do(docket, CampaignBy("b", {.attempt = kSecond}));
  (void)Do(docket, ResignBy("b"));
  (void)Do(docket, CampaignBy("b", {.attempt = kSecond}));
  (void)Do(docket, ResignBy("a"));

  (void)Do(docket, WithdrawalBy("b", kSecond));

  EXPECT_THAT(docket, IsVacantAfter(Term{8}));
}

TEST(WithdrawTest, ASeatGrantedToTheWaitingAttemptIsResigned) {
  auto docket = Given(LedBy("a", Term{7}), Waiting("b", {.attempt = kFirst}), Waiting("c"));
  (void)Do(docket, ResignBy("a"));
  docket.events.clear();

  EXPECT_THAT(Do(docket, WithdrawalBy("b", kFirst)), AnswersDone());
  EXPECT_THAT(docket.events, ElementsAre(Vacated("b", Cause::kResigned, Term{8}, Revision{16}),
                                         Elected("c", Term{9}, Revision{17})));
}

TEST(WithdrawTest, ASeatGrantedToTheAttemptAtOnceIsResigned) {
  auto docket = Given();
  (void)Do(docket, FirstCampaignBy("a", {.attempt = kFirst}));

  (void)Do(docket, WithdrawalBy("a", kFirst));

  EXPECT_THAT(docket, IsVacantAfter(Term{1}));
}

TEST(WithdrawTest, TheSeatIsResignedEvenIfTheCampaignWasAppliedTwice) {
  auto docket = Given();
  (void)Do(docket, FirstCampaignBy("a", {.attempt = kFirst}));
  (void)Do(docket, FirstCampaignBy("a", {.attempt = kFirst}));

  (void)Do(docket, WithdrawalBy("a", kFirst));

  EXPECT_THAT(docket, IsVacantAfter(Term{1}));
}

TEST(WithdrawTest, AnotherAttemptLeavesTheSeat) {
  auto docket = Given(LedBy("a", Term{7}, {.attempt = kSecond}));
  const auto before = docket;

  EXPECT_THAT(Do(docket, WithdrawalBy("a", kFirst)), AnswersDone());
  EXPECT_THAT(docket, IsSameAs(before));
}

TEST(WithdrawTest, ALeaderThatCampaignedAgainKeepsItsSeat) {
  auto docket = Given(LedBy("a", Term{7}, {.attempt = kFirst}));
  (void)Do(docket, CampaignBy("a", {.attempt = kSecond}));

  (void)Do(docket, WithdrawalBy("a", kFirst));
  (void)Do(docket, WithdrawalBy("a", kSecond));

  EXPECT_THAT(docket, IsLedBy("a", Term{7}));
}

TEST(WithdrawTest, ALeaderThatProclaimedKeepsItsSeat) {
  auto docket = Given(LedBy("a", Term{7}, {.value = "v", .attempt = kFirst}));
  (void)Do(docket, ProclaimBy("a", Term{7}, "v"));

  (void)Do(docket, WithdrawalBy("a", kFirst));

  EXPECT_THAT(docket, IsLedBy("a", Term{7}));
}

TEST(WithdrawTest, WithoutAnAttemptNothingIsWithdrawn) {
  auto docket = Given(LedBy("a", Term{7}), Waiting("b"));
  const auto before = docket;

  EXPECT_THAT(Do(docket, WithdrawalBy("a", Attempt{})), AnswersDone());
  EXPECT_THAT(Do(docket, WithdrawalBy("b", Attempt{})), AnswersDone());
  EXPECT_THAT(docket, IsSameAs(before));
}

TEST(WithdrawTest, WithdrawingTwiceIsDoneOnce) {
  auto docket = Given(LedBy("a", Term{7}, {.attempt = kFirst}), Waiting("b", {.attempt = kFirst}));
  (void)Do(docket, WithdrawalBy("a", kFirst));
  const auto once = docket;

  (void)Do(docket, WithdrawalBy("a", kFirst));

  EXPECT_THAT(docket, IsSameAs(once));
  EXPECT_THAT(docket, IsLedBy("b", Term{8}));
}

TEST(WithdrawTest, WithdrawingAnAbsentCandidacySucceeds) {
  auto unknown_election = Given(Alive("a"));
  auto unknown_session = Given(LedBy("a", Term{7}));

  EXPECT_THAT(Do(unknown_election, WithdrawalBy("a", kFirst)), AnswersDone());
  EXPECT_THAT(Do(unknown_session, WithdrawalBy("b", kFirst)), AnswersDone());
  EXPECT_FALSE(ContestIn(unknown_election).exists);
  EXPECT_THAT(unknown_session, IsLedBy("a", Term{7}));
}

// --- Settle ---

TEST(SettleTest, TheTermOfAnEndedSessionEnds) {
  auto docket = Given(LedBy("a", Term{7}), Waiting("b"), Ended("a", Cause::kSuperseded));

  EXPECT_THAT(Do(docket, SettlementOf("a")), AnswersDone());
  EXPECT_THAT(docket.events, ElementsAre(Vacated("a", Cause::kSuperseded, Term{7}, Revision{14}),
                                         Elected("b", Term{8}, Revision{15})));
}

TEST(SettleTest, ThePlaceOfAnEndedSessionIsDropped) {
  auto docket =
      Given(LedBy("a", Term{7}), Waiting("b"), Waiting("c"), Ended("b", Cause::kSessionClosed));

  EXPECT_THAT(Do(docket, SettlementOf("b")), AnswersDone());
  EXPECT_THAT(QueueIn(docket), ElementsAre("c"));
  EXPECT_EQ(ElectionIn(docket).waiting, 1);
  EXPECT_THAT(docket.events, IsEmpty());
}

TEST(SettleTest, ThePlaceOfAnExpiredSessionIsDroppedAndTheSessionMarked) {
  auto docket = Given(LedBy("a", Term{7}), Waiting("b"), Expired("b"));

  (void)Do(docket, SettlementOf("b"));

  EXPECT_THAT(QueueIn(docket), IsEmpty());
  EXPECT_EQ(SessionIn(docket, "b").ended, Cause::kExpired);
  EXPECT_THAT(docket.ended, ElementsAre(Id("b")));
}

TEST(SettleTest, ALiveLeaderAndALiveWaiterAreLeftAlone) {
  auto docket = Given(LedBy("a", Term{7}), Waiting("b"));
  const auto before = docket;

  (void)Do(docket, Settlement());
  (void)Do(docket, SettlementOf("a"));
  (void)Do(docket, SettlementOf("b"));

  EXPECT_THAT(docket, IsSameAs(before));
}

TEST(SettleTest, AStrangerChangesNothing) {
  auto docket = Given(LedBy("a", Term{7}), Waiting("b"), Ended("c", Cause::kSessionClosed));
  const auto before = docket;

  (void)Do(docket, SettlementOf("c"));
  (void)Do(docket, SettlementOf("d"));

  EXPECT_THAT(docket, IsSameAs(before));
}

TEST(SettleTest, AVacantSeatIsFilled) {
  auto docket = Given(VacantAfter(Term{7}), Waiting("b"));

  (void)Do(docket, Settlement());

  EXPECT_THAT(docket, IsLedBy("b", Term{8}));
}

TEST(SettleTest, AnUnknownElectionIsNotCreated) {
  auto docket = Given(Ended("a", Cause::kSessionClosed));
  const auto before = docket;

  EXPECT_THAT(Do(docket, SettlementOf("a")), AnswersDone());
  EXPECT_THAT(docket, IsSameAs(before));
}

}  // namespace
}  // namespace tenure::testing
