// Campaign: who is elected, who stands, and what a repeated campaign changes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/law_testing.h"

namespace tenure::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(CampaignTest, TheFirstCandidateEverIsElectedInTermOne) {
  auto docket = Given();

  const auto answer = Do(docket, FirstCampaignBy("a"));

  EXPECT_THAT(answer, AnswersElected());
  EXPECT_THAT(docket, IsLedBy("a", Term{1}));
  EXPECT_THAT(docket.events, ElementsAre(Elected("a", Term{1}, Revision{1})));
  EXPECT_TRUE(ContestIn(docket).exists);
}

TEST(CampaignTest, ForAVacantSeatTheCandidateIsElectedInTheNextTerm) {
  auto docket = Given(VacantAfter(Term{7}));

  const auto answer = Do(docket, FirstCampaignBy("a"));

  EXPECT_THAT(answer, AnswersElected());
  EXPECT_THAT(docket.events, ElementsAre(Elected("a", Term{8}, Revision{15})));
}

TEST(CampaignTest, ElectedCandidatesLeaveTheQueue) {
  auto docket = Given(VacantAfter(Term{7}));

  (void)Do(docket, FirstCampaignBy("a"));

  EXPECT_THAT(QueueIn(docket), IsEmpty());
  EXPECT_EQ(ElectionIn(docket).waiting, 0);
}

TEST(CampaignTest, ForAHeldSeatTheCandidateWaitsAndDisturbsNobody) {
  auto docket = Given(LedBy("a", Term{7}));

  const auto answer = Do(docket, FirstCampaignBy("b"));

  EXPECT_THAT(answer, AnswersStanding());
  EXPECT_THAT(docket, IsLedBy("a", Term{7}));
  EXPECT_THAT(QueueIn(docket), ElementsAre("b"));
  EXPECT_EQ(ElectionIn(docket).waiting, 1);
  EXPECT_THAT(docket.events, IsEmpty());
}

TEST(CampaignTest, OfTwoInOneTransactionTheFirstIsElected) {
  auto docket = Given();

  EXPECT_THAT(Do(docket, FirstCampaignBy("a")), AnswersElected());
  EXPECT_THAT(Do(docket, FirstCampaignBy("b")), AnswersStanding());

  EXPECT_THAT(docket, IsLedBy("a", Term{1}));
  EXPECT_THAT(QueueIn(docket), ElementsAre("b"));
}

TEST(CampaignTest, AHigherPriorityDoesNotUnseatALeader) {
  auto docket = Given(LedBy("a", Term{7}));

  const auto answer = Do(docket, FirstCampaignBy("b", {.priority = 100}));

  EXPECT_THAT(answer, AnswersStanding());
  EXPECT_THAT(docket, IsLedBy("a", Term{7}));
}

TEST(CampaignTest, TheAnswerHasTheSessionAndTheElectionAfterTheCampaign) {
  auto docket = Given();

  const auto answer = Do(docket, FirstCampaignBy("a"));

  ASSERT_THAT(answer, AnswersElected());
  const auto& campaign = std::get<CampaignAnswer>(*answer);
  EXPECT_EQ(campaign.session, SessionIn(docket, "a"));
  EXPECT_EQ(campaign.election, ElectionIn(docket));
}

TEST(CampaignTest, TheLeaderIsTheCandidateAsItCampaigned) {
  auto docket = Given();
  auto campaign = FirstCampaignBy("a", {.value = "10.0.0.1", .attempt = {5}});
  campaign.opening->lease_ttl = 3s;

  (void)Do(docket, campaign);

  const Leader expected{Id("a"), "a", 3s, "10.0.0.1", kNow, Attempt{5}};
  EXPECT_EQ(ElectionIn(docket).leader, expected);
  EXPECT_EQ(docket.events.front().leader, expected);
  EXPECT_EQ(docket.events.front().at, kNow);
}

// --- The session ---

TEST(CampaignSessionTest, AnOpeningOpensTheSession) {
  auto docket = Given();
  auto campaign = FirstCampaignBy("a");
  campaign.opening->lease_ttl = 3s;

  (void)Do(docket, campaign);

  EXPECT_EQ(SessionIn(docket, "a"),
            (Session{Id("a"), "a", 3s, kNow + 3s, Cause::kNone, kNow, 3s, kNow}));
}

TEST(CampaignSessionTest, ARetriedOpeningFindsTheSessionAndChangesNothing) {
  auto docket = Given();
  (void)Do(docket, FirstCampaignBy("a", {.value = "v", .attempt = {5}}));
  const auto once = docket;

  const auto answer = Do(docket, FirstCampaignBy("a", {.value = "v", .attempt = {5}}));

  EXPECT_THAT(answer, AnswersElected());
  EXPECT_THAT(docket, IsSameAs(once));
}

TEST(CampaignSessionTest, ARetriedOpeningFindsItsPlaceInTheQueue) {
  auto docket = Given(LedBy("a", Term{7}));
  (void)Do(docket, FirstCampaignBy("b", {.attempt = {5}}));
  const auto once = docket;

  const auto answer = Do(docket, FirstCampaignBy("b", {.attempt = {5}}));

  EXPECT_THAT(answer, AnswersStanding());
  EXPECT_THAT(docket, IsSameAs(once));
}

TEST(CampaignSessionTest, ARetriedOpeningKeepsTheLeaseItWasOpenedWith) {
  auto docket = Given(Alive("a"));
  auto campaign = FirstCampaignBy("a");
  campaign.opening->lease_ttl = 2 * kLease;

  (void)Do(docket, campaign);

  EXPECT_EQ(SessionIn(docket, "a"), SessionOfCandidate("a"));
}

TEST(CampaignSessionTest, AnOpeningByAnotherCandidateIsRefused) {
  auto docket = Given(Alive("a"));
  const auto before = docket;
  auto campaign = FirstCampaignBy("a");
  campaign.opening->candidate = "b";

  const auto answer = Do(docket, campaign);

  EXPECT_THAT(answer, FailsWith(Reason::kInvalidCandidate));
  EXPECT_THAT(docket, IsSameAs(before));
}

TEST(CampaignSessionTest, TheNameOfAnotherCandidateIsRefused) {
  auto docket = Given(Alive("a"));
  const auto before = docket;
  auto campaign = CampaignBy("a");
  campaign.candidate = "b";

  const auto answer = Do(docket, campaign);

  EXPECT_THAT(answer, FailsWith(Reason::kInvalidCandidate));
  EXPECT_THAT(docket, IsSameAs(before));
}

TEST(CampaignSessionTest, ItsOwnNameMayBeGivenOrLeftOut) {
  auto docket = Given(Alive("a"));
  auto named = CampaignBy("a");
  named.candidate = "a";

  EXPECT_THAT(Do(docket, CampaignBy("a")), AnswersElected());
  EXPECT_THAT(Do(docket, named), AnswersElected());
}

TEST(CampaignSessionTest, AnUnknownSessionIsRefused) {
  auto docket = Given(VacantAfter(Term{7}));
  const auto before = docket;

  const auto answer = Do(docket, CampaignBy("a"));

  EXPECT_THAT(answer, FailsWith(Reason::kSessionNotFound));
  EXPECT_THAT(docket, IsSameAs(before));
}

TEST(CampaignSessionTest, AnEndedSessionNeverComesBack) {
  auto docket = Given(VacantAfter(Term{7}), Ended("a", Cause::kSessionClosed));
  const auto before = docket;

  EXPECT_THAT(Do(docket, CampaignBy("a")),
              FailsWith(Reason::kSessionEnded, "cause", "SESSION_CLOSED"));
  EXPECT_THAT(Do(docket, FirstCampaignBy("a")),
              FailsWith(Reason::kSessionEnded, "cause", "SESSION_CLOSED"));

  EXPECT_THAT(docket, IsSameAs(before));
}

TEST(CampaignSessionTest, AnExpiredSessionIsMarkedAndNeverComesBack) {
  auto docket = Given(VacantAfter(Term{7}), Expired("a"));

  const auto answer = Do(docket, CampaignBy("a"));

  EXPECT_THAT(answer, FailsWith(Reason::kSessionEnded, "cause", "EXPIRED"));
  EXPECT_THAT(docket, IsVacantAfter(Term{7}));
  EXPECT_EQ(SessionIn(docket, "a").ended, Cause::kExpired);
  EXPECT_THAT(docket.ended, ElementsAre(Id("a")));
}

TEST(CampaignSessionTest, CampaigningRenewsTheLeaseOfLeadersAndWaiters) {
  auto docket =
      Given(LedBy("a", Term{7}), Waiting("b"), Alive("a", kNow + 1s), Alive("b", kNow + 1s));

  (void)Do(docket, CampaignBy("a"));
  (void)Do(docket, CampaignBy("b"));

  EXPECT_EQ(SessionIn(docket, "a").expires_at, kNow + kLease);
  EXPECT_EQ(SessionIn(docket, "b").expires_at, kNow + kLease);
}

// --- Campaigning again ---

TEST(RepeatedCampaignTest, TheSameValueOfTheLeaderHasNoEvent) {
  auto docket = Given(LedBy("a", Term{7}, {.value = "v"}));
  const auto before = docket;

  const auto answer = Do(docket, CampaignBy("a", {.value = "v"}));

  EXPECT_THAT(answer, AnswersElected());
  EXPECT_THAT(docket, IsSameAs(before));
}

TEST(RepeatedCampaignTest, AnotherValueOfTheLeaderIsProclaimed) {
  auto docket = Given(LedBy("a", Term{7}, {.value = "v"}));

  const auto answer = Do(docket, CampaignBy("a", {.value = "w"}));

  EXPECT_THAT(answer, AnswersElected());
  EXPECT_THAT(docket, IsLedBy("a", Term{7}));
  EXPECT_THAT(docket.events, ElementsAre(Proclaimed("a", Term{7}, Revision{14}, "w")));
  EXPECT_EQ(ElectionIn(docket).leader->value, "w");
}

TEST(RepeatedCampaignTest, TheLeaderDoesNotEnterTheQueue) {
  auto docket = Given(LedBy("a", Term{7}), Waiting("b"));

  (void)Do(docket, CampaignBy("a", {.priority = 9}));

  EXPECT_THAT(QueueIn(docket), ElementsAre("b"));
  EXPECT_EQ(ElectionIn(docket).waiting, 1);
  EXPECT_EQ(ElectionIn(docket).next_ticket, Ticket{1});
}

TEST(RepeatedCampaignTest, AWaiterKeepsItsTicket) {
  auto docket = Given(LedBy("a", Term{7}), Waiting("b"), Waiting("c"));
  const auto before = docket;

  const auto answer = Do(docket, CampaignBy("b"));

  EXPECT_THAT(answer, AnswersStanding());
  EXPECT_THAT(docket, IsSameAs(before));
}

TEST(RepeatedCampaignTest, ForAWaiterTheLastCallCounts) {
  auto docket =
      Given(LedBy("a", Term{7}), Waiting("b", {.priority = 1, .value = "v", .attempt = {5}}));

  (void)Do(docket, CampaignBy("b", {.priority = 2, .value = "w", .attempt = {6}}));

  const Candidacy expected{Id("b"), "b", kLease, Ticket{0}, 2, "w", Attempt{6}, true};
  EXPECT_THAT(ContestIn(docket).queue, ElementsAre(expected));
  EXPECT_EQ(ElectionIn(docket).waiting, 1);
  EXPECT_THAT(docket.events, IsEmpty());
}

TEST(RepeatedCampaignTest, AWaiterThatRaisesItsPriorityMovesAhead) {
  auto docket = Given(LedBy("a", Term{7}), Waiting("b"), Waiting("c"), Waiting("d"));

  (void)Do(docket, CampaignBy("d", {.priority = 1}));

  EXPECT_THAT(QueueIn(docket), ElementsAre("d", "b", "c"));
}

TEST(RepeatedCampaignTest, AWaiterThatLowersItsPriorityReturnsToTheOrderOfItsTicket) {
  auto docket = Given(LedBy("a", Term{7}), Waiting("b"), Waiting("c"), Waiting("d"));

  (void)Do(docket, CampaignBy("c", {.priority = -1}));
  EXPECT_THAT(QueueIn(docket), ElementsAre("b", "d", "c"));

  (void)Do(docket, CampaignBy("c"));
  EXPECT_THAT(QueueIn(docket), ElementsAre("b", "c", "d"));
}

TEST(RepeatedCampaignTest, ACandidateThatLeftTheQueueReturnsAtItsEnd) {
  auto docket = Given(LedBy("a", Term{7}), Waiting("b"), Waiting("c"));

  (void)Do(docket, ResignBy("b"));
  (void)Do(docket, CampaignBy("b"));

  EXPECT_THAT(QueueIn(docket), ElementsAre("c", "b"));
  EXPECT_EQ(PlaceIn(docket, "b").ticket, Ticket{2});
  EXPECT_EQ(ElectionIn(docket).next_ticket, Ticket{3});
}

TEST(RepeatedCampaignTest, ALeaderThatResignedReturnsAtTheEndOfTheQueue) {
  auto docket = Given(LedBy("a", Term{7}), Waiting("b"), Waiting("c"));

  (void)Do(docket, ResignBy("a"));
  const auto answer = Do(docket, CampaignBy("a"));

  EXPECT_THAT(answer, AnswersStanding());
  EXPECT_THAT(docket, IsLedBy("b", Term{8}));
  EXPECT_THAT(QueueIn(docket), ElementsAre("c", "a"));
}

// --- The bound of the queue ---

const Limits kTwoMayWait{.queue_max = 2};

TEST(FullQueueTest, OneCandidateMoreIsRefusedAndNothingChanges) {
  auto docket = Given(LedBy("a", Term{7}), Waiting("b"), Waiting("c"));
  const auto before = docket;

  const auto answer = Do(docket, FirstCampaignBy("d"), kTwoMayWait);

  EXPECT_THAT(answer, FailsWith(Reason::kQueueFull, "limit", "2"));
  EXPECT_THAT(docket, IsSameAs(before));
}

TEST(FullQueueTest, ARefusalRenewsNoLease) {
  auto docket = Given(LedBy("a", Term{7}), Waiting("b"), Waiting("c"), Alive("d", kNow + 1s));
  const auto before = docket;

  const auto answer = Do(docket, CampaignBy("d"), kTwoMayWait);

  EXPECT_THAT(answer, FailsWith(Reason::kQueueFull));
  EXPECT_THAT(docket, IsSameAs(before));
}

TEST(FullQueueTest, AHighPriorityDoesNotGetIn) {
  auto docket = Given(LedBy("a", Term{7}), Waiting("b"), Waiting("c"));

  EXPECT_THAT(Do(docket, FirstCampaignBy("d", {.priority = 9}), kTwoMayWait),
              FailsWith(Reason::kQueueFull));
}

TEST(FullQueueTest, TheLeaderAndTheWaitingMayCampaignAgain) {
  auto docket = Given(LedBy("a", Term{7}), Waiting("b"), Waiting("c"));

  EXPECT_THAT(Do(docket, CampaignBy("a"), kTwoMayWait), AnswersElected());
  EXPECT_THAT(Do(docket, CampaignBy("c"), kTwoMayWait), AnswersStanding());
}

TEST(FullQueueTest, TheLastPlaceMayBeTaken) {
  auto docket = Given(LedBy("a", Term{7}), Waiting("b"));

  EXPECT_THAT(Do(docket, FirstCampaignBy("c"), kTwoMayWait), AnswersStanding());
}

TEST(FullQueueTest, ADepartureMakesRoom) {
  auto docket = Given(LedBy("a", Term{7}), Waiting("b"), Waiting("c"));

  (void)Do(docket, ResignBy("a"));

  EXPECT_THAT(Do(docket, FirstCampaignBy("d"), kTwoMayWait), AnswersStanding());
  EXPECT_THAT(QueueIn(docket), ElementsAre("c", "d"));
}

TEST(FullQueueTest, WaitersThatWereNotReadAreCounted) {
  auto docket = Given(LedBy("a", Term{7}), Waiting("b"), HorizonAt("b"));
  docket.contests[kElection].election.waiting = 2;

  EXPECT_THAT(Do(docket, FirstCampaignBy("d"), kTwoMayWait), FailsWith(Reason::kQueueFull));
}

TEST(FullQueueTest, AnEmptySeatNeedsNoPlace) {
  auto docket = Given();

  EXPECT_THAT(Do(docket, FirstCampaignBy("a"), {.queue_max = 0}), AnswersElected());
  EXPECT_THAT(Do(docket, FirstCampaignBy("b"), {.queue_max = 0}), FailsWith(Reason::kQueueFull));
}

TEST(FullQueueTest, AQueueOfIneligibleCandidatesDoesNotBlockAnEligibleOne) {
  auto docket = Given(VacantAfter(Term{7}), Waiting("b", {.priority = -1}), Waiting("c"),
                      KeptOut("c", kNow + 5s));

  EXPECT_THAT(Do(docket, FirstCampaignBy("d"), kTwoMayWait), AnswersElected());
}

TEST(FullQueueTest, AQueueOfDeadCandidatesDoesNotBlockALiveOne) {
  auto docket = Given(VacantAfter(Term{7}), Waiting("b"), Waiting("c"), Expired("b"), Expired("c"));

  EXPECT_THAT(Do(docket, FirstCampaignBy("d"), kTwoMayWait), AnswersElected());
}

TEST(FullQueueTest, AFullQueueDoesNotBlockTheCandidateWithTheReservation) {
  auto docket = Given(VacantAfter(Term{7}), Waiting("b"), Waiting("c"), Appointed("d", kNow + 5s));

  EXPECT_THAT(Do(docket, FirstCampaignBy("d"), kTwoMayWait), AnswersElected());
}

TEST(FullQueueTest, AQueueNotReadToItsEndRefusesEvenForAVacantSeat) {
  auto docket =
      Given(VacantAfter(Term{7}), Waiting("b"), Waiting("c"), HorizonAt("b"), Expired("b"));

  EXPECT_THAT(Do(docket, FirstCampaignBy("d"), kTwoMayWait), FailsWith(Reason::kQueueFull));
}

}  // namespace
}  // namespace tenure::testing
