// Supersede: a process that starts again takes over from its older sessions, with a new term.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/law/law_testing.h"

namespace tenure::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

Campaign SupersedingBy(std::string_view name, Standing standing = {}) {
  return Superseding(FirstCampaignBy(name, std::move(standing)));
}

// --- The seat ---

TEST(SupersedeTest, TheSeatIsTakenInANewTermAheadOfTheQueue) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b", {.priority = 9}));

  const auto answer = Do(transaction, SupersedingBy("a/2"));

  EXPECT_THAT(answer, AnswersElected());
  EXPECT_THAT(transaction.events,
              ElementsAre(Vacated("a", Cause::kSuperseded, Term{7}, Revision{14}),
                          Elected("a/2", Term{8}, Revision{15})));
  EXPECT_THAT(QueueIn(transaction), ElementsAre("b"));
  EXPECT_EQ(ElectionIn(transaction).waiting, 1);
}

TEST(SupersedeTest, TheOlderSessionEnds) {
  auto transaction = Given(LedBy("a", Term{7}));

  (void)Do(transaction, SupersedingBy("a/2"));

  EXPECT_EQ(SessionIn(transaction, "a").ended, Cause::kSuperseded);
  EXPECT_THAT(transaction.ended, ElementsAre(Id("a")));
  EXPECT_THAT(Do(transaction, CampaignBy("a")),
              FailsWith(Reason::kSessionEnded, "cause", "SUPERSEDED"));
}

TEST(SupersedeTest, TheNewLeaderHasItsOwnValueAndCallId) {
  auto transaction = Given(LedBy("a", Term{7}, {.value = "v", .call_id = {5}}));

  (void)Do(transaction, SupersedingBy("a/2", {.value = "w", .call_id = {6}}));

  const Leader expected{Id("a/2"), "a", kLease, "w", kNow, CallId{6}};
  EXPECT_EQ(ElectionIn(transaction).leader, expected);
}

TEST(SupersedeTest, SupersedingOverridesLockDelayAndMinHold) {
  auto transaction =
      Given(LedBy("a", Term{7}), ElectedAt(kNow), WithSettings({.lock_delay = 5s, .min_hold = 1h}));

  EXPECT_THAT(Do(transaction, SupersedingBy("a/2")), AnswersElected());
}

TEST(SupersedeTest, AnOpenSessionCanSupersedeToo) {
  auto transaction = Given(LedBy("a", Term{7}), Alive("a/2"));

  EXPECT_THAT(Do(transaction, Superseding(CampaignBy("a/2"))), AnswersElected());

  EXPECT_THAT(transaction, IsLedBy("a/2", Term{8}));
}

TEST(SupersedeTest, AnExpiredLeaderIsNotInheritedFrom) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b"), Expired("a"));

  EXPECT_THAT(Do(transaction, SupersedingBy("a/2")), AnswersStanding());

  EXPECT_THAT(transaction.events, ElementsAre(Vacated("a", Cause::kExpired, Term{7}, Revision{14}),
                                              Elected("b", Term{8}, Revision{15})));
}

TEST(SupersedeTest, AnotherCandidateIsNotSuperseded) {
  auto transaction = Given(LedBy("b", Term{7}), Waiting("c"));

  EXPECT_THAT(Do(transaction, SupersedingBy("a/2")), AnswersStanding());

  EXPECT_THAT(transaction, IsLedBy("b", Term{7}));
  EXPECT_THAT(QueueIn(transaction), ElementsAre("c", "a/2"));
  EXPECT_THAT(transaction.ended, IsEmpty());
}

TEST(SupersedeTest, TheOlderSessionDoesNotEndTheNewer) {
  auto transaction =
      Given(LedBy("a/2", Term{7}), Waiting("a/1"), Waiting("a/3"), OpenedAt("a/1", kNow + -3s),
            OpenedAt("a/2", kNow + -2s), OpenedAt("a/3", kNow + -1s));
  const auto before = transaction;

  EXPECT_THAT(Do(transaction, Superseding(CampaignBy("a/1"))), AnswersStanding());

  EXPECT_THAT(transaction, IsSameAs(before));
}

// The clock has been set back since, or another node's clock is ahead.
TEST(SupersedeTest, ASessionThatIsBeingOpenedIsTheNewestWhateverTheClockSays) {
  auto transaction = Given(LedBy("a", Term{7}), OpenedAt("a", kNow + 1h));

  EXPECT_THAT(Do(transaction, SupersedingBy("a/2")), AnswersElected());

  EXPECT_THAT(transaction, IsLedBy("a/2", Term{8}));
}

TEST(SupersedeTest, TheLeaderEndsItsOlderWaitingSessions) {
  auto transaction = Given(LedBy("a/2", Term{7}), Waiting("a/1"), Waiting("b"));

  EXPECT_THAT(Do(transaction, Superseding(CampaignBy("a/2"))), AnswersElected());

  EXPECT_THAT(transaction, IsLedBy("a/2", Term{7}));
  EXPECT_THAT(QueueIn(transaction), ElementsAre("b"));
  EXPECT_THAT(transaction.ended, ElementsAre(Id("a/1")));
}

TEST(SupersedeTest, AnOrdinaryCampaignSupersedesNobody) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("a/2"));

  EXPECT_THAT(Do(transaction, FirstCampaignBy("a/3")), AnswersStanding());

  EXPECT_THAT(transaction, IsLedBy("a", Term{7}));
  EXPECT_THAT(QueueIn(transaction), ElementsAre("a/2", "a/3"));
}

TEST(SupersedeTest, SupersedingTwiceIsDoneOnce) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("a/1"), Waiting("b"));
  (void)Do(transaction, SupersedingBy("a/2", {.call_id = {5}}));
  const auto once = transaction;

  EXPECT_THAT(Do(transaction, SupersedingBy("a/2", {.call_id = {5}})), AnswersElected());
  EXPECT_THAT(transaction, IsSameAs(once));
}

TEST(SupersedeTest, ARefusedCallEndsNobody) {
  auto transaction = Given(LedBy("a", Term{7}), WithSettings({.lease_ttl_max = 5s}));
  const auto before = transaction;

  EXPECT_THAT(Do(transaction, SupersedingBy("a/2")), FailsWith(Reason::kInvalidLeaseTtl));
  EXPECT_THAT(transaction, IsSameAs(before));
}

TEST(SupersedeTest, TheLeaderOfAPausedElectionKeepsItsSeat) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("a/1"), Paused());

  EXPECT_THAT(Do(transaction, SupersedingBy("a/2")), AnswersStanding());

  EXPECT_THAT(transaction, IsLedBy("a", Term{7}));
  EXPECT_EQ(SessionIn(transaction, "a"), SessionOfCandidate("a"));
  EXPECT_THAT(transaction.ended, ElementsAre(Id("a/1")));
  EXPECT_THAT(QueueIn(transaction), ElementsAre("a/2"));
}

TEST(SupersedeTest, TheAppointedCandidateGoesFirst) {
  auto transaction = Given(LedBy("a", Term{7}), Appointed("b", kNow + 30s));

  EXPECT_THAT(Do(transaction, SupersedingBy("a/2")), AnswersStanding());

  EXPECT_THAT(transaction, IsVacantAfter(Term{7}));
  EXPECT_THAT(Do(transaction, FirstCampaignBy("b")), AnswersElected());
}

TEST(SupersedeTest, AnAppointmentWithoutALiveCandidateLapses) {
  auto transaction = Given(LedBy("a", Term{7}), Appointed("b"));

  EXPECT_THAT(Do(transaction, SupersedingBy("a/2")), AnswersElected());

  EXPECT_EQ(ElectionIn(transaction).appointment, std::nullopt) << "nobody has asked the new leader";
}

TEST(SupersedeTest, ADeadAppointedCandidateDoesNotGetTheSeat) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b"), Waiting("c"), Appointed("b"),
                           Ended("b", Cause::kSessionClosed));

  EXPECT_THAT(Do(transaction, SupersedingBy("a/2")), AnswersElected());
}

TEST(SupersedeTest, ANegativePriorityGivesTheSeatAway) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b"));

  EXPECT_THAT(Do(transaction, SupersedingBy("a/2", {.priority = -1})), AnswersStanding());

  EXPECT_THAT(transaction, IsLedBy("b", Term{8}));
}

// --- The place ---

TEST(SupersedeTest, ThePlaceInTheQueueIsTakenOver) {
  auto transaction = Given(LedBy("b", Term{7}), Waiting("a"), Waiting("c"));

  EXPECT_THAT(Do(transaction, SupersedingBy("a/2")), AnswersStanding());

  EXPECT_THAT(QueueIn(transaction), ElementsAre("a/2", "c"));
  EXPECT_EQ(PlaceIn(transaction, "a/2").ticket, Ticket{0});
  EXPECT_EQ(ElectionIn(transaction).waiting, 2);
  EXPECT_EQ(SessionIn(transaction, "a").ended, Cause::kSuperseded);
  EXPECT_THAT(transaction.ended, ElementsAre(Id("a")));
  EXPECT_THAT(transaction.events, IsEmpty());
}

TEST(SupersedeTest, TheEarliestOfSeveralPlacesIsTakenOver) {
  auto transaction = Given(LedBy("b", Term{7}), Waiting("c"), Waiting("a/1"), Waiting("d"),
                           Waiting("a/2", {.priority = 1}), Waiting("a/3"));

  (void)Do(transaction, SupersedingBy("a/4"));

  EXPECT_THAT(QueueIn(transaction), ElementsAre("c", "a/4", "d"));
  EXPECT_EQ(PlaceIn(transaction, "a/4").ticket, Ticket{1});
  EXPECT_THAT(transaction.ended, UnorderedElementsAre(Id("a/1"), Id("a/2"), Id("a/3")));
}

TEST(SupersedeTest, AWaiterMovesToTheEarlierPlace) {
  auto transaction = Given(LedBy("b", Term{7}), Waiting("a/1"), Waiting("c"), Waiting("a/2"));

  (void)Do(transaction, Superseding(CampaignBy("a/2")));

  EXPECT_THAT(QueueIn(transaction), ElementsAre("a/2", "c"));
}

TEST(SupersedeTest, AWaiterThatCameFirstKeepsItsPlace) {
  auto transaction = Given(LedBy("b", Term{7}), Waiting("a/2"), Waiting("c"), Waiting("a/1"),
                           OpenedAt("a/1", kNow + -2s), OpenedAt("a/2", kNow + -1s));

  (void)Do(transaction, Superseding(CampaignBy("a/2")));

  EXPECT_THAT(QueueIn(transaction), ElementsAre("a/2", "c"));
}

TEST(SupersedeTest, AnInheritedPlaceHasTheNewPriority) {
  auto transaction = Given(LedBy("b", Term{7}), Waiting("a", {.priority = 9}), Waiting("c"));

  (void)Do(transaction, SupersedingBy("a/2"));
  EXPECT_THAT(QueueIn(transaction), ElementsAre("a/2", "c"));

  (void)Do(transaction, Superseding(CampaignBy("a/2", {.priority = -1})));
  EXPECT_THAT(QueueIn(transaction), ElementsAre("c", "a/2"));
}

// Whether a dead session was read depends on chance.
TEST(SupersedeTest, NothingIsInheritedFromADeadSession) {
  auto transaction = Given(LedBy("b", Term{7}), Waiting("a"), Waiting("c"), Waiting("a/1"),
                           Expired("a"), Ended("a/1", Cause::kSuperseded));

  (void)Do(transaction, SupersedingBy("a/2"));

  EXPECT_THAT(QueueIn(transaction), ElementsAre("a", "c", "a/1", "a/2"));
  EXPECT_EQ(SessionIn(transaction, "a").ended, Cause::kExpired);
}

TEST(SupersedeTest, TheSeatAndThePlaceOfTwoOlderSessionsAreTakenOver) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("a/1"), Waiting("b"));

  EXPECT_THAT(Do(transaction, SupersedingBy("a/2")), AnswersElected());

  EXPECT_THAT(transaction, IsLedBy("a/2", Term{8}));
  EXPECT_THAT(QueueIn(transaction), ElementsAre("b"));
  EXPECT_THAT(transaction.ended, UnorderedElementsAre(Id("a"), Id("a/1")));
}

// --- The bound of the queue ---

const Limits kOneMayWait{.queue_max = 1};

TEST(SupersedeInAFullQueueTest, ThePlaceOfAnOlderSessionMakesRoom) {
  auto transaction = Given(LedBy("b", Term{7}), Waiting("a"));

  EXPECT_THAT(Do(transaction, SupersedingBy("a/2"), kOneMayWait), AnswersStanding());

  EXPECT_THAT(QueueIn(transaction), ElementsAre("a/2"));
}

TEST(SupersedeInAFullQueueTest, TheSeatOfAnOlderSessionNeedsNoRoom) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b"));

  EXPECT_THAT(Do(transaction, SupersedingBy("a/2"), kOneMayWait), AnswersElected());

  EXPECT_THAT(QueueIn(transaction), ElementsAre("b"));
}

TEST(SupersedeInAFullQueueTest, ASeatThatCannotBeInheritedMakesNoRoom) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b", {.priority = -1}));
  const auto before = transaction;

  EXPECT_THAT(Do(transaction, SupersedingBy("a/2", {.priority = -1}), kOneMayWait),
              FailsWith(Reason::kQueueFull));
  EXPECT_THAT(transaction, IsSameAs(before));
}

TEST(SupersedeInAFullQueueTest, WithoutAnOlderSessionThereIsNoRoom) {
  auto transaction = Given(LedBy("b", Term{7}), Waiting("c"), Alive("a"));
  const auto before = transaction;

  EXPECT_THAT(Do(transaction, SupersedingBy("a/2"), kOneMayWait), FailsWith(Reason::kQueueFull));
  EXPECT_THAT(transaction, IsSameAs(before));
}

TEST(SupersedeInAFullQueueTest, ALeaderKeptByAPauseMakesNoRoom) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b"), Paused());

  EXPECT_THAT(Do(transaction, SupersedingBy("a/2"), kOneMayWait), FailsWith(Reason::kQueueFull));
}

}  // namespace
}  // namespace tenure::testing
