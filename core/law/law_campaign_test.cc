// Campaign: being elected, standing, and campaigning again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/law/law_testing.h"

namespace tenure::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(CampaignTest, TheFirstCandidateEverIsElectedInTermOne) {
  auto transaction = Given();

  const auto answer = Do(transaction, FirstCampaignBy("a"));

  EXPECT_THAT(answer, AnswersElected());
  EXPECT_THAT(transaction, IsLedBy("a", Term{1}));
  EXPECT_THAT(transaction.events, ElementsAre(Elected("a", Term{1}, Revision{1})));
  EXPECT_TRUE(StateIn(transaction).exists);
}

TEST(CampaignTest, ForAVacantSeatTheCandidateIsElectedInTheNextTerm) {
  auto transaction = Given(VacantAfter(Term{7}));

  const auto answer = Do(transaction, FirstCampaignBy("a"));

  EXPECT_THAT(answer, AnswersElected());
  EXPECT_THAT(transaction.events, ElementsAre(Elected("a", Term{8}, Revision{15})));
}

TEST(CampaignTest, ElectedCandidatesLeaveTheQueue) {
  auto transaction = Given(VacantAfter(Term{7}));

  (void)Do(transaction, FirstCampaignBy("a"));

  EXPECT_THAT(QueueIn(transaction), IsEmpty());
  EXPECT_EQ(ElectionIn(transaction).waiting, 0);
}

TEST(CampaignTest, ForAHeldSeatTheCandidateWaitsAndDisturbsNobody) {
  auto transaction = Given(LedBy("a", Term{7}));

  const auto answer = Do(transaction, FirstCampaignBy("b"));

  EXPECT_THAT(answer, AnswersStanding());
  EXPECT_THAT(transaction, IsLedBy("a", Term{7}));
  EXPECT_THAT(QueueIn(transaction), ElementsAre("b"));
  EXPECT_EQ(ElectionIn(transaction).waiting, 1);
  EXPECT_THAT(transaction.events, IsEmpty());
}

TEST(CampaignTest, OfTwoInOneTransactionTheFirstIsElected) {
  auto transaction = Given();

  EXPECT_THAT(Do(transaction, FirstCampaignBy("a")), AnswersElected());
  EXPECT_THAT(Do(transaction, FirstCampaignBy("b")), AnswersStanding());

  EXPECT_THAT(transaction, IsLedBy("a", Term{1}));
  EXPECT_THAT(QueueIn(transaction), ElementsAre("b"));
}

TEST(CampaignTest, AHigherPriorityDoesNotUnseatALeader) {
  auto transaction = Given(LedBy("a", Term{7}));

  const auto answer = Do(transaction, FirstCampaignBy("b", {.priority = 100}));

  EXPECT_THAT(answer, AnswersStanding());
  EXPECT_THAT(transaction, IsLedBy("a", Term{7}));
}

TEST(CampaignTest, TheAnswerHasTheSessionAndTheElectionAfterTheCampaign) {
  auto transaction = Given();

  const auto answer = Do(transaction, FirstCampaignBy("a"));

  ASSERT_THAT(answer, AnswersElected());
  const auto& campaign = std::get<CampaignAnswer>(*answer);
  EXPECT_EQ(campaign.session, SessionIn(transaction, "a"));
  EXPECT_EQ(campaign.election, ElectionIn(transaction));
}

TEST(CampaignTest, TheLeaderIsTheCandidateAsItCampaigned) {
  auto transaction = Given();
  auto campaign = FirstCampaignBy("a", {.value = "10.0.0.1", .call_id = {5}});
  campaign.opening->lease_ttl = 3s;

  (void)Do(transaction, campaign);

  const Leader expected{Id("a"), "a", 3s, "10.0.0.1", kNow, CallId{5}};
  EXPECT_EQ(ElectionIn(transaction).leader, expected);
  EXPECT_EQ(transaction.events.front().leader, expected);
  EXPECT_EQ(transaction.events.front().at, kNow);
}

// --- The session ---

TEST(CampaignSessionTest, AnOpeningOpensTheSession) {
  auto transaction = Given();
  auto campaign = FirstCampaignBy("a");
  campaign.opening->lease_ttl = 3s;

  (void)Do(transaction, campaign);

  EXPECT_EQ(SessionIn(transaction, "a"), (Session{.id = Id("a"),
                                                  .candidate = "a",
                                                  .lease_ttl = 3s,
                                                  .opened_at = kNow,
                                                  .lease_ttl_asked = 3s,
                                                  .lease_ttl_since = kNow,
                                                  .moves = 1}));
}

TEST(CampaignSessionTest, ARetriedOpeningFindsTheSessionAndChangesNothing) {
  auto transaction = Given();
  (void)Do(transaction, FirstCampaignBy("a", {.value = "v", .call_id = {5}}));
  const auto once = transaction;

  const auto answer = Do(transaction, FirstCampaignBy("a", {.value = "v", .call_id = {5}}));

  EXPECT_THAT(answer, AnswersElected());
  EXPECT_THAT(transaction, IsSameAs(once));
}

TEST(CampaignSessionTest, ARetriedOpeningFindsItsPlaceInTheQueue) {
  auto transaction = Given(LedBy("a", Term{7}));
  (void)Do(transaction, FirstCampaignBy("b", {.call_id = {5}}));
  const auto once = transaction;

  const auto answer = Do(transaction, FirstCampaignBy("b", {.call_id = {5}}));

  EXPECT_THAT(answer, AnswersStanding());
  EXPECT_THAT(transaction, IsSameAs(once));
}

TEST(CampaignSessionTest, ARetriedOpeningKeepsTheLeaseItWasOpenedWith) {
  auto transaction = Given(Alive("a"));
  auto campaign = FirstCampaignBy("a");
  campaign.opening->lease_ttl = 2 * kLease;

  (void)Do(transaction, campaign);

  EXPECT_EQ(SessionIn(transaction, "a"), SessionOfCandidate("a"));
}

TEST(CampaignSessionTest, AnOpeningByAnotherCandidateIsRefused) {
  auto transaction = Given(Alive("a"));
  const auto before = transaction;
  auto campaign = FirstCampaignBy("a");
  campaign.opening->candidate = "b";

  const auto answer = Do(transaction, campaign);

  EXPECT_THAT(answer, FailsWith(Reason::kInvalidCandidate));
  EXPECT_THAT(transaction, IsSameAs(before));
}

TEST(CampaignSessionTest, TheNameOfAnotherCandidateIsRefused) {
  auto transaction = Given(Alive("a"));
  const auto before = transaction;
  auto campaign = CampaignBy("a");
  campaign.candidate = "b";

  const auto answer = Do(transaction, campaign);

  EXPECT_THAT(answer, FailsWith(Reason::kInvalidCandidate));
  EXPECT_THAT(transaction, IsSameAs(before));
}

TEST(CampaignSessionTest, ItsOwnNameMayBeGivenOrLeftOut) {
  auto transaction = Given(Alive("a"));
  auto named = CampaignBy("a");
  named.candidate = "a";

  EXPECT_THAT(Do(transaction, CampaignBy("a")), AnswersElected());
  EXPECT_THAT(Do(transaction, named), AnswersElected());
}

TEST(CampaignSessionTest, AnUnknownSessionIsRefused) {
  auto transaction = Given(VacantAfter(Term{7}));
  const auto before = transaction;

  const auto answer = Do(transaction, CampaignBy("a"));

  EXPECT_THAT(answer, FailsWith(Reason::kSessionNotFound));
  EXPECT_THAT(transaction, IsSameAs(before));
}

TEST(CampaignSessionTest, AnEndedSessionNeverComesBack) {
  auto transaction = Given(VacantAfter(Term{7}), Ended("a", Cause::kSessionClosed));
  const auto before = transaction;

  EXPECT_THAT(Do(transaction, CampaignBy("a")),
              FailsWith(Reason::kSessionEnded, "cause", "SESSION_CLOSED"));
  EXPECT_THAT(Do(transaction, FirstCampaignBy("a")),
              FailsWith(Reason::kSessionEnded, "cause", "SESSION_CLOSED"));

  EXPECT_THAT(transaction, IsSameAs(before));
}

TEST(CampaignSessionTest, ASessionThatHasEndedNeverComesBack) {
  auto transaction = Given(VacantAfter(Term{7}), Expired("a"));

  const auto answer = Do(transaction, CampaignBy("a"));

  EXPECT_THAT(answer, FailsWith(Reason::kSessionEnded, "cause", "EXPIRED"));
  EXPECT_THAT(transaction, IsVacantAfter(Term{7}));
  EXPECT_EQ(SessionIn(transaction, "a").ended, Cause::kExpired);
}

// --- Campaigning again ---

TEST(RepeatedCampaignTest, TheSameValueOfTheLeaderHasNoEvent) {
  auto transaction = Given(LedBy("a", Term{7}, {.value = "v"}));
  const auto before = transaction;

  const auto answer = Do(transaction, CampaignBy("a", {.value = "v"}));

  EXPECT_THAT(answer, AnswersElected());
  EXPECT_THAT(transaction, IsSameAs(before));
}

TEST(RepeatedCampaignTest, AnotherValueOfTheLeaderIsProclaimed) {
  auto transaction = Given(LedBy("a", Term{7}, {.value = "v"}));

  const auto answer = Do(transaction, CampaignBy("a", {.value = "w"}));

  EXPECT_THAT(answer, AnswersElected());
  EXPECT_THAT(transaction, IsLedBy("a", Term{7}));
  EXPECT_THAT(transaction.events, ElementsAre(Proclaimed("a", Term{7}, Revision{14}, "w")));
  EXPECT_EQ(ElectionIn(transaction).leader->value, "w");
}

TEST(RepeatedCampaignTest, TheLeaderDoesNotEnterTheQueue) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b"));

  (void)Do(transaction, CampaignBy("a", {.priority = 9}));

  EXPECT_THAT(QueueIn(transaction), ElementsAre("b"));
  EXPECT_EQ(ElectionIn(transaction).waiting, 1);
  EXPECT_EQ(ElectionIn(transaction).next_ticket, Ticket{1});
}

TEST(RepeatedCampaignTest, AWaiterKeepsItsTicket) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b"), Waiting("c"));
  const auto before = transaction;

  const auto answer = Do(transaction, CampaignBy("b"));

  EXPECT_THAT(answer, AnswersStanding());
  EXPECT_THAT(transaction, IsSameAs(before));
}

TEST(RepeatedCampaignTest, ForAWaiterTheLastCallCounts) {
  auto transaction =
      Given(LedBy("a", Term{7}), Waiting("b", {.priority = 1, .value = "v", .call_id = {5}}));

  (void)Do(transaction, CampaignBy("b", {.priority = 2, .value = "w", .call_id = {6}}));

  const Candidacy expected{Id("b"), "b", kLease, Ticket{0}, 2, "w", CallId{6}, true};
  EXPECT_THAT(StateIn(transaction).queue, ElementsAre(expected));
  EXPECT_EQ(ElectionIn(transaction).waiting, 1);
  EXPECT_THAT(transaction.events, IsEmpty());
}

TEST(RepeatedCampaignTest, AWaiterThatRaisesItsPriorityMovesAhead) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b"), Waiting("c"), Waiting("d"));

  (void)Do(transaction, CampaignBy("d", {.priority = 1}));

  EXPECT_THAT(QueueIn(transaction), ElementsAre("d", "b", "c"));
}

TEST(RepeatedCampaignTest, AWaiterThatLowersItsPriorityReturnsToTheOrderOfItsTicket) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b"), Waiting("c"), Waiting("d"));

  (void)Do(transaction, CampaignBy("c", {.priority = -1}));
  EXPECT_THAT(QueueIn(transaction), ElementsAre("b", "d", "c"));

  (void)Do(transaction, CampaignBy("c"));
  EXPECT_THAT(QueueIn(transaction), ElementsAre("b", "c", "d"));
}

TEST(RepeatedCampaignTest, ACandidateThatLeftTheQueueReturnsAtItsEnd) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b"), Waiting("c"));

  (void)Do(transaction, ResignBy("b"));
  (void)Do(transaction, CampaignBy("b"));

  EXPECT_THAT(QueueIn(transaction), ElementsAre("c", "b"));
  EXPECT_EQ(PlaceIn(transaction, "b").ticket, Ticket{2});
  EXPECT_EQ(ElectionIn(transaction).next_ticket, Ticket{3});
}

TEST(RepeatedCampaignTest, ALeaderThatResignedReturnsAtTheEndOfTheQueue) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b"), Waiting("c"));

  (void)Do(transaction, ResignBy("a"));
  const auto answer = Do(transaction, CampaignBy("a"));

  EXPECT_THAT(answer, AnswersStanding());
  EXPECT_THAT(transaction, IsLedBy("b", Term{8}));
  EXPECT_THAT(QueueIn(transaction), ElementsAre("c", "a"));
}

// --- The bound of the queue ---

const Limits kTwoMayWait{.queue_max = 2};

TEST(FullQueueTest, OneCandidateMoreIsRefusedAndNothingChanges) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b"), Waiting("c"));
  const auto before = transaction;

  const auto answer = Do(transaction, FirstCampaignBy("d"), kTwoMayWait);

  EXPECT_THAT(answer, FailsWith(Reason::kQueueFull, "limit", "2"));
  EXPECT_THAT(transaction, IsSameAs(before));
}

TEST(FullQueueTest, AHighPriorityDoesNotGetIn) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b"), Waiting("c"));

  EXPECT_THAT(Do(transaction, FirstCampaignBy("d", {.priority = 9}), kTwoMayWait),
              FailsWith(Reason::kQueueFull));
}

TEST(FullQueueTest, TheLeaderAndTheWaitingMayCampaignAgain) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b"), Waiting("c"));

  EXPECT_THAT(Do(transaction, CampaignBy("a"), kTwoMayWait), AnswersElected());
  EXPECT_THAT(Do(transaction, CampaignBy("c"), kTwoMayWait), AnswersStanding());
}

TEST(FullQueueTest, TheLastPlaceMayBeTaken) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b"));

  EXPECT_THAT(Do(transaction, FirstCampaignBy("c"), kTwoMayWait), AnswersStanding());
}

TEST(FullQueueTest, ADepartureMakesRoom) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b"), Waiting("c"));

  (void)Do(transaction, ResignBy("a"));

  EXPECT_THAT(Do(transaction, FirstCampaignBy("d"), kTwoMayWait), AnswersStanding());
  EXPECT_THAT(QueueIn(transaction), ElementsAre("c", "d"));
}

TEST(FullQueueTest, WaitersThatWereNotReadAreCounted) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b"), HorizonAt("b"));
  transaction.elections[kElection].election.waiting = 2;

  EXPECT_THAT(Do(transaction, FirstCampaignBy("d"), kTwoMayWait), FailsWith(Reason::kQueueFull));
}

TEST(FullQueueTest, AnEmptySeatNeedsNoPlace) {
  auto transaction = Given();

  EXPECT_THAT(Do(transaction, FirstCampaignBy("a"), {.queue_max = 0}), AnswersElected());
  EXPECT_THAT(Do(transaction, FirstCampaignBy("b"), {.queue_max = 0}),
              FailsWith(Reason::kQueueFull));
}

TEST(FullQueueTest, AQueueOfIneligibleCandidatesDoesNotBlockAnEligibleOne) {
  auto transaction = Given(VacantAfter(Term{7}), Waiting("b", {.priority = -1}), Waiting("c"),
                           KeptOut("c", kNow + 5s));

  EXPECT_THAT(Do(transaction, FirstCampaignBy("d"), kTwoMayWait), AnswersElected());
}

TEST(FullQueueTest, AQueueOfDeadCandidatesDoesNotBlockALiveOne) {
  auto transaction =
      Given(VacantAfter(Term{7}), Waiting("b"), Waiting("c"), Expired("b"), Expired("c"));

  EXPECT_THAT(Do(transaction, FirstCampaignBy("d"), kTwoMayWait), AnswersElected());
}

TEST(FullQueueTest, AFullQueueDoesNotBlockTheCandidateWithTheReservation) {
  auto transaction =
      Given(VacantAfter(Term{7}), Waiting("b"), Waiting("c"), Appointed("d", kNow + 5s));

  EXPECT_THAT(Do(transaction, FirstCampaignBy("d"), kTwoMayWait), AnswersElected());
}

TEST(FullQueueTest, AQueueNotReadToItsEndRefusesEvenForAVacantSeat) {
  auto transaction =
      Given(VacantAfter(Term{7}), Waiting("b"), Waiting("c"), HorizonAt("b"), Expired("b"));

  EXPECT_THAT(Do(transaction, FirstCampaignBy("d"), kTwoMayWait), FailsWith(Reason::kQueueFull));
}

}  // namespace
}  // namespace tenure::testing
