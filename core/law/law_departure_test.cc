// Departures: Resign, Withdraw, and Reconcile for an ended session.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/law/law_testing.h"

namespace tenure::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// --- Resign ---

TEST(ResignTest, ALeadersResignationPassesTheSeatInTheSameTransaction) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b"));

  const auto answer = Do(transaction, ResignBy("a"));

  EXPECT_THAT(answer, AnswersResigned(Term{7}));
  EXPECT_THAT(transaction.events, ElementsAre(Vacated("a", Cause::kResigned, Term{7}, Revision{14}),
                                              Elected("b", Term{8}, Revision{15})));
}

TEST(ResignTest, ALeaderMayNameItsTerm) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b"));

  EXPECT_THAT(Do(transaction, ResignBy("a", Term{7})), AnswersResigned(Term{7}));
  EXPECT_THAT(transaction, IsLedBy("b", Term{8}));
}

TEST(ResignTest, WithoutASuccessorTheSeatBecomesVacant) {
  auto transaction = Given(LedBy("a", Term{7}));

  EXPECT_THAT(Do(transaction, ResignBy("a")), AnswersResigned(Term{7}));
  EXPECT_THAT(transaction, IsVacantAfter(Term{7}));
  EXPECT_THAT(transaction.events,
              ElementsAre(Vacated("a", Cause::kResigned, Term{7}, Revision{14})));
}

TEST(ResignTest, TheSessionStaysAlive) {
  auto transaction = Given(LedBy("a", Term{7}));

  (void)Do(transaction, ResignBy("a"));

  EXPECT_EQ(SessionIn(transaction, "a"), SessionOfCandidate("a"));
  EXPECT_THAT(transaction.ended, IsEmpty());
}

TEST(ResignTest, ALeaderThatNamesAnotherTermIsStale) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b"));
  const auto before = transaction;

  EXPECT_THAT(Do(transaction, ResignBy("a", Term{6})),
              FailsWith(Reason::kStaleTerm, "current_term", "7"));
  EXPECT_THAT(Do(transaction, ResignBy("a", Term{8})),
              FailsWith(Reason::kStaleTerm, "current_term", "7"));
  EXPECT_THAT(transaction, IsSameAs(before));
}

TEST(ResignTest, AWaiterLeavesTheQueue) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b"), Waiting("c"));

  const auto answer = Do(transaction, ResignBy("b"));

  EXPECT_THAT(answer, Answers(ResignOutcome::kWithdrawn));
  EXPECT_THAT(QueueIn(transaction), ElementsAre("c"));
  EXPECT_EQ(ElectionIn(transaction).waiting, 1);
  EXPECT_THAT(transaction, IsLedBy("a", Term{7}));
  EXPECT_THAT(transaction.events, IsEmpty());
}

TEST(ResignTest, AWaiterThatNamesATermIsStaleAndKeepsItsPlace) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b"));
  const auto before = transaction;

  EXPECT_THAT(Do(transaction, ResignBy("b", Term{6})),
              FailsWith(Reason::kStaleTerm, "current_term", "7"));
  EXPECT_THAT(Do(transaction, ResignBy("b", Term{7})),
              FailsWith(Reason::kStaleTerm, "current_term", "7"));
  EXPECT_THAT(transaction, IsSameAs(before));
}

TEST(ResignTest, WithTermZeroAWaiterLeavesTheQueue) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b"));

  EXPECT_THAT(Do(transaction, ResignBy("b", Term{0})), Answers(ResignOutcome::kWithdrawn));
}

TEST(ResignTest, WithTermZeroALeaderIsStaleAndStays) {
  auto transaction = Given(LedBy("a", Term{7}));
  const auto before = transaction;

  EXPECT_THAT(Do(transaction, ResignBy("a", Term{0})),
              FailsWith(Reason::kStaleTerm, "current_term", "7"));
  EXPECT_THAT(transaction, IsSameAs(before));
}

TEST(ResignTest, AStrangerIsNotStanding) {
  auto transaction = Given(LedBy("a", Term{7}), Alive("b"));
  const auto before = transaction;

  EXPECT_THAT(Do(transaction, ResignBy("b")), Answers(ResignOutcome::kNotStanding));
  EXPECT_THAT(transaction, IsSameAs(before));
}

TEST(ResignTest, AStrangerThatNamesAnothersTermIsNotLeader) {
  auto transaction = Given(LedBy("a", Term{7}), Alive("b"));
  const auto before = transaction;

  EXPECT_THAT(Do(transaction, ResignBy("b", Term{7})), FailsWith(Reason::kNotLeader));
  EXPECT_THAT(transaction, IsSameAs(before));
}

TEST(ResignTest, ARepeatedResignationIsNotStandingAfterTheSeatPassed) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b"));
  (void)Do(transaction, ResignBy("a", Term{7}));
  const auto once = transaction;

  EXPECT_THAT(Do(transaction, ResignBy("a", Term{7})), Answers(ResignOutcome::kNotStanding));
  EXPECT_THAT(transaction, IsSameAs(once));
}

TEST(ResignTest, ARepeatedResignationIsNotStandingEvenIfNobodyLeads) {
  auto transaction = Given(LedBy("a", Term{7}));
  (void)Do(transaction, ResignBy("a", Term{7}));
  const auto once = transaction;

  EXPECT_THAT(Do(transaction, ResignBy("a", Term{7})), Answers(ResignOutcome::kNotStanding));
  EXPECT_THAT(transaction, IsSameAs(once));
}

TEST(ResignTest, ARepeatedResignationByAWaiterIsNotStanding) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b"));
  (void)Do(transaction, ResignBy("b"));
  const auto once = transaction;

  EXPECT_THAT(Do(transaction, ResignBy("b")), Answers(ResignOutcome::kNotStanding));
  EXPECT_THAT(transaction, IsSameAs(once));
}

TEST(ResignTest, ALateDuplicateDoesNotEndALaterTermOfTheSameSession) {
  auto transaction = Given(LedBy("a", Term{7}));
  (void)Do(transaction, ResignBy("a", Term{7}));
  (void)Do(transaction, CampaignBy("a"));

  EXPECT_THAT(Do(transaction, ResignBy("a", Term{7})),
              FailsWith(Reason::kStaleTerm, "current_term", "8"));
  EXPECT_THAT(transaction, IsLedBy("a", Term{8}));
}

TEST(ResignTest, AnEndedSessionCannotResignAndItsSeatPasses) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b"), Ended("a", Cause::kSessionClosed));

  EXPECT_THAT(Do(transaction, ResignBy("a")), Answers(ResignOutcome::kSessionEnded));
  EXPECT_THAT(transaction.events,
              ElementsAre(Vacated("a", Cause::kSessionClosed, Term{7}, Revision{14}),
                          Elected("b", Term{8}, Revision{15})));
}

TEST(ResignTest, AnExpiredLeaderCannotResign) {
  auto transaction = Given(LedBy("a", Term{7}), Expired("a"));

  EXPECT_THAT(Do(transaction, ResignBy("a", Term{7})), Answers(ResignOutcome::kSessionEnded));
  EXPECT_THAT(transaction.events,
              ElementsAre(Vacated("a", Cause::kExpired, Term{7}, Revision{14})));
}

TEST(ResignTest, AnExpiredWaiterGivesUpItsPlace) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b"), Expired("b"));

  EXPECT_THAT(Do(transaction, ResignBy("b")), Answers(ResignOutcome::kSessionEnded));
  EXPECT_THAT(QueueIn(transaction), IsEmpty());
  EXPECT_EQ(ElectionIn(transaction).waiting, 0);
  EXPECT_EQ(SessionIn(transaction, "b").ended, Cause::kExpired);
}

TEST(ResignTest, AnUnknownSessionIsRefused) {
  auto transaction = Given(LedBy("a", Term{7}));
  const auto before = transaction;

  EXPECT_THAT(Do(transaction, ResignBy("b")), FailsWith(Reason::kSessionNotFound));
  EXPECT_THAT(transaction, IsSameAs(before));
}

TEST(ResignTest, AnUnknownElectionIsRefused) {
  auto transaction = Given(Alive("a"));
  const auto before = transaction;

  EXPECT_THAT(Do(transaction, ResignBy("a")), FailsWith(Reason::kElectionNotFound));
  EXPECT_THAT(transaction, IsSameAs(before));
}

// --- Withdraw ---

constexpr CallId kFirst{5};
constexpr CallId kSecond{6};

TEST(WithdrawTest, TheWaiterOfTheCallLeavesTheQueue) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b", {.call_id = kFirst}), Waiting("c"));

  EXPECT_THAT(Do(transaction, WithdrawalBy("b", kFirst)), AnswersDone());
  EXPECT_THAT(QueueIn(transaction), ElementsAre("c"));
  EXPECT_EQ(ElectionIn(transaction).waiting, 1);
  EXPECT_THAT(transaction.events, IsEmpty());
}

TEST(WithdrawTest, AnotherCallLeavesTheWaiterInItsPlace) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b", {.call_id = kSecond}));
  const auto before = transaction;

  EXPECT_THAT(Do(transaction, WithdrawalBy("b", kFirst)), AnswersDone());
  EXPECT_THAT(transaction, IsSameAs(before));
}

TEST(WithdrawTest, APlaceAlsoWantedByALaterCallIsKept) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b", {.call_id = kFirst}));
  (void)Do(transaction, CampaignBy("b", {.call_id = kSecond}));

  (void)Do(transaction, WithdrawalBy("b", kFirst));
  EXPECT_THAT(QueueIn(transaction), ElementsAre("b"));

  (void)Do(transaction, WithdrawalBy("b", kSecond));
  EXPECT_THAT(QueueIn(transaction), IsEmpty());
}

TEST(WithdrawTest, TheLastOfTwoCallsForAPlaceGivesItUp) {
  auto transaction = Given(LedBy("a", Term{7}), Alive("b"));
  (void)Do(transaction, CampaignBy("b", {.call_id = kSecond}));
  (void)Do(transaction, CampaignBy("b", {.call_id = kFirst}));  // arrives late
  EXPECT_TRUE(PlaceIn(transaction, "b").asked_again);

  (void)Do(transaction, WithdrawalBy("b", kSecond));
  EXPECT_THAT(QueueIn(transaction), ElementsAre("b"));

  (void)Do(transaction, WithdrawalBy("b", kFirst));
  EXPECT_THAT(QueueIn(transaction), IsEmpty());
}

// The client may have learned of the seat from its KeepAlive stream, and believe that it leads.
TEST(WithdrawTest, ASeatIsKept) {
  auto at_once = Given();
  (void)Do(at_once, FirstCampaignBy("a", {.call_id = kFirst}));
  auto after_a_wait = Given(LedBy("a", Term{7}), Waiting("b", {.call_id = kFirst}), Waiting("c"));
  (void)Do(after_a_wait, ResignBy("a"));

  EXPECT_THAT(Do(at_once, WithdrawalBy("a", kFirst)), AnswersDone());
  EXPECT_THAT(Do(after_a_wait, WithdrawalBy("b", kFirst)), AnswersDone());

  EXPECT_THAT(at_once, IsLedBy("a", Term{1}));
  EXPECT_THAT(after_a_wait, IsLedBy("b", Term{8}));
}

// The caller is gone, and nobody would lead until its lease expires.
TEST(WithdrawTest, TheSeatOfAnEndedSessionGoesToTheNextCandidate) {
  auto transaction = Given(LedBy("a", Term{7}), Ended("a", Cause::kSessionClosed),
                           Waiting("b", {.call_id = kFirst}), Waiting("c"));

  EXPECT_THAT(Do(transaction, WithdrawalBy("b", kFirst)), AnswersDone());

  EXPECT_THAT(transaction.events,
              ElementsAre(Vacated("a", Cause::kSessionClosed, Term{7}, Revision{14}),
                          Elected("c", Term{8}, Revision{15})));
  EXPECT_THAT(QueueIn(transaction), IsEmpty());
}

TEST(WithdrawTest, WithoutACallIdNothingIsWithdrawn) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b"));
  const auto before = transaction;

  EXPECT_THAT(Do(transaction, WithdrawalBy("a", CallId{})), AnswersDone());
  EXPECT_THAT(Do(transaction, WithdrawalBy("b", CallId{})), AnswersDone());
  EXPECT_THAT(transaction, IsSameAs(before));
}

TEST(WithdrawTest, WithdrawingTwiceIsDoneOnce) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b", {.call_id = kFirst}), Waiting("c"));
  (void)Do(transaction, WithdrawalBy("b", kFirst));
  const auto once = transaction;

  (void)Do(transaction, WithdrawalBy("b", kFirst));

  EXPECT_THAT(transaction, IsSameAs(once));
  EXPECT_THAT(QueueIn(transaction), ElementsAre("c"));
}

TEST(WithdrawTest, WithdrawingAnAbsentCandidacySucceeds) {
  auto unknown_election = Given(Alive("a"));
  auto unknown_session = Given(LedBy("a", Term{7}));

  EXPECT_THAT(Do(unknown_election, WithdrawalBy("a", kFirst)), AnswersDone());
  EXPECT_THAT(Do(unknown_session, WithdrawalBy("b", kFirst)), AnswersDone());
  EXPECT_FALSE(StateIn(unknown_election).exists);
  EXPECT_THAT(unknown_session, IsLedBy("a", Term{7}));
}

// --- Settle ---

TEST(SettleTest, TheTermOfAnEndedSessionEnds) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b"), Ended("a", Cause::kSuperseded));

  EXPECT_THAT(Do(transaction, ReconciliationOf("a")), AnswersDone());
  EXPECT_THAT(transaction.events,
              ElementsAre(Vacated("a", Cause::kSuperseded, Term{7}, Revision{14}),
                          Elected("b", Term{8}, Revision{15})));
}

TEST(SettleTest, ThePlaceOfAnEndedSessionIsDropped) {
  auto transaction =
      Given(LedBy("a", Term{7}), Waiting("b"), Waiting("c"), Ended("b", Cause::kSessionClosed));

  EXPECT_THAT(Do(transaction, ReconciliationOf("b")), AnswersDone());
  EXPECT_THAT(QueueIn(transaction), ElementsAre("c"));
  EXPECT_EQ(ElectionIn(transaction).waiting, 1);
  EXPECT_THAT(transaction.events, IsEmpty());
}

TEST(SettleTest, ThePlaceOfASessionThatHasEndedIsDropped) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b"), Expired("b"));

  (void)Do(transaction, ReconciliationOf("b"));

  EXPECT_THAT(QueueIn(transaction), IsEmpty());
  EXPECT_EQ(SessionIn(transaction, "b").ended, Cause::kExpired);
}

TEST(SettleTest, ALiveLeaderAndALiveWaiterAreLeftAlone) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b"));
  const auto before = transaction;

  (void)Do(transaction, Reconciliation());
  (void)Do(transaction, ReconciliationOf("a"));
  (void)Do(transaction, ReconciliationOf("b"));

  EXPECT_THAT(transaction, IsSameAs(before));
}

TEST(SettleTest, AStrangerChangesNothing) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b"), Ended("c", Cause::kSessionClosed));
  const auto before = transaction;

  (void)Do(transaction, ReconciliationOf("c"));
  (void)Do(transaction, ReconciliationOf("d"));

  EXPECT_THAT(transaction, IsSameAs(before));
}

TEST(SettleTest, AVacantSeatIsFilled) {
  auto transaction = Given(VacantAfter(Term{7}), Waiting("b"));

  (void)Do(transaction, Reconciliation());

  EXPECT_THAT(transaction, IsLedBy("b", Term{8}));
}

TEST(SettleTest, AnUnknownElectionIsNotCreated) {
  auto transaction = Given(Ended("a", Cause::kSessionClosed));
  const auto before = transaction;

  EXPECT_THAT(Do(transaction, ReconciliationOf("a")), AnswersDone());
  EXPECT_THAT(transaction, IsSameAs(before));
}

}  // namespace
}  // namespace tenure::testing
