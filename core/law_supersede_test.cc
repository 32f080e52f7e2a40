// Supersede: a process that starts again takes over from its older sessions, with a new term.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/law_testing.h"

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

TEST(SupersedeTest, TheSeatIsTakenInANewTermWhoeverWaits) {
  auto docket = Given(LedBy("a", Term{7}), Waiting("b", {.priority = 9}));

  const auto answer = Do(docket, SupersedingBy("a/2"));

  EXPECT_THAT(answer, AnswersElected());
  EXPECT_THAT(docket.events, ElementsAre(Vacated("a", Cause::kSuperseded, Term{7}, Revision{14}),
                                         Elected("a/2", Term{8}, Revision{15})));
  EXPECT_THAT(QueueIn(docket), ElementsAre("b"));
  EXPECT_EQ(ElectionIn(docket).waiting, 1);
}

TEST(SupersedeTest, TheOlderSessionEnds) {
  auto docket = Given(LedBy("a", Term{7}));

  (void)Do(docket, SupersedingBy("a/2"));

  EXPECT_EQ(SessionIn(docket, "a").ended, Cause::kSuperseded);
  EXPECT_THAT(docket.ended, ElementsAre(Id("a")));
  EXPECT_THAT(Do(docket, CampaignBy("a")), FailsWith(Reason::kSessionEnded, "cause", "SUPERSEDED"));
}

TEST(SupersedeTest, TheNewLeaderHasItsOwnValueAndAttempt) {
  auto docket = Given(LedBy("a", Term{7}, {.value = "v", .attempt = {5}}));

  (void)Do(docket, SupersedingBy("a/2", {.value = "w", .attempt = {6}}));

  const Leader expected{Id("a/2"), "a", kLease, "w", kNow, Attempt{6}};
  EXPECT_EQ(ElectionIn(docket).leader, expected);
}

TEST(SupersedeTest, SupersedingOverridesLockDelayAndMinHold) {
  auto docket =
      Given(LedBy("a", Term{7}), ElectedAt(kNow), WithSettings({.lock_delay = 5s, .min_hold = 1h}));

  EXPECT_THAT(Do(docket, SupersedingBy("a/2")), AnswersElected());
}

TEST(SupersedeTest, AnOpenSessionCanSupersedeToo) {
  auto docket = Given(LedBy("a", Term{7}), Alive("a/2"));

  EXPECT_THAT(Do(docket, Superseding(CampaignBy("a/2"))), AnswersElected());

  EXPECT_THAT(docket, IsLedBy("a/2", Term{8}));
}

TEST(SupersedeTest, AnExpiredLeaderIsNotInheritedFrom) {
  auto docket = Given(LedBy("a", Term{7}), Waiting("b"), Expired("a"));

  EXPECT_THAT(Do(docket, SupersedingBy("a/2")), AnswersStanding());

  EXPECT_THAT(docket.events, ElementsAre(Vacated("a", Cause::kExpired, Term{7}, Revision{14}),
                                         Elected("b", Term{8}, Revision{15})));
}

TEST(SupersedeTest, AnotherCandidateIsNotSuperseded) {
  auto docket = Given(LedBy("b", Term{7}), Waiting("c"));

  EXPECT_THAT(Do(docket, SupersedingBy("a/2")), AnswersStanding());

  EXPECT_THAT(docket, IsLedBy("b", Term{7}));
  EXPECT_THAT(QueueIn(docket), ElementsAre("c", "a/2"));
  EXPECT_THAT(docket.ended, IsEmpty());
}

TEST(SupersedeTest, TheOlderSessionDoesNotEndTheNewer) {
  auto docket =
      Given(LedBy("a/2", Term{7}), Waiting("a/1"), Waiting("a/3"), OpenedAt("a/1", kNow + -3s),
            OpenedAt("a/2", kNow + -2s), OpenedAt("a/3", kNow + -1s));
  const auto before = docket;

  EXPECT_THAT(Do(docket, Superseding(CampaignBy("a/1"))), AnswersStanding());

  EXPECT_THAT(docket, IsSameAs(before));
}

TEST(SupersedeTest, TheLeaderEndsItsOlderWaitingSessions) {
  auto docket = Given(LedBy("a/2", Term{7}), Waiting("a/1"), Waiting("b"));

  EXPECT_THAT(Do(docket, Superseding(CampaignBy("a/2"))), AnswersElected());

  EXPECT_THAT(docket, IsLedBy("a/2", Term{7}));
  EXPECT_THAT(QueueIn(docket), ElementsAre("b"));
  EXPECT_THAT(docket.ended, ElementsAre(Id("a/1")));
}

TEST(SupersedeTest, AnOrdinaryCampaignSupersedesNobody) {
  auto docket = Given(LedBy("a", Term{7}), Waiting("a/2"));

  EXPECT_THAT(Do(docket, FirstCampaignBy("a/3")), AnswersStanding());

  EXPECT_THAT(docket, IsLedBy("a", Term{7}));
  EXPECT_THAT(QueueIn(docket), ElementsAre("a/2", "a/3"));
}

TEST(SupersedeTest, SupersedingTwiceIsDoneOnce) {
  auto docket = Given(LedBy("a", Term{7}), Waiting("a/1"), Waiting("b"));
  (void)Do(docket, SupersedingBy("a/2", {.attempt = {5}}));
  const auto once = docket;

  EXPECT_THAT(Do(docket, SupersedingBy("a/2", {.attempt = {5}})), AnswersElected());
  EXPECT_THAT(docket, IsSameAs(once));
}

TEST(SupersedeTest, ARefusedCallEndsNobody) {
  auto docket = Given(LedBy("a", Term{7}), WithSettings({.lease_ttl_max = 5s}));
  const auto before = docket;

  EXPECT_THAT(Do(docket, SupersedingBy("a/2")), FailsWith(Reason::kInvalidLeaseTtl));
  EXPECT_THAT(docket, IsSameAs(before));
}

TEST(SupersedeTest, TheLeaderOfAPausedElectionKeepsItsSeat) {
  auto docket = Given(LedBy("a", Term{7}), Waiting("a/1"), Paused());

  EXPECT_THAT(Do(docket, SupersedingBy("a/2")), AnswersStanding());

  EXPECT_THAT(docket, IsLedBy("a", Term{7}));
  EXPECT_EQ(SessionIn(docket, "a"), SessionOfCandidate("a"));
  EXPECT_THAT(docket.ended, ElementsAre(Id("a/1")));
  EXPECT_THAT(QueueIn(docket), ElementsAre("a/2"));
}

TEST(SupersedeTest, TheAppointedCandidateGoesFirst) {
  auto docket = Given(LedBy("a", Term{7}), Appointed("b", kNow + 30s));

  EXPECT_THAT(Do(docket, SupersedingBy("a/2")), AnswersStanding());

  EXPECT_THAT(docket, IsVacantAfter(Term{7}));
  EXPECT_THAT(Do(docket, FirstCampaignBy("b")), AnswersElected());
}

TEST(SupersedeTest, AnAppointmentWithoutALiveCandidateLapses) {
  auto docket = Given(LedBy("a", Term{7}), Appointed("b"));

  EXPECT_THAT(Do(docket, SupersedingBy("a/2")), AnswersElected());

  EXPECT_EQ(ElectionIn(docket).appointment, std::nullopt) << "nobody has asked the new leader";
}

TEST(SupersedeTest, ADeadAppointedCandidateDoesNotGetTheSeat) {
  auto docket = Given(LedBy("a", Term{7}), Waiting("b"), Waiting("c"), Appointed("b"),
                      Ended("b", Cause::kSessionClosed));

  EXPECT_THAT(Do(docket, SupersedingBy("a/2")), AnswersElected());
}

TEST(SupersedeTest, ANegativePriorityGivesTheSeatAway) {
  auto docket = Given(LedBy("a", Term{7}), Waiting("b"));

  EXPECT_THAT(Do(docket, SupersedingBy("a/2", {.priority = -1})), AnswersStanding());

  EXPECT_THAT(docket, IsLedBy("b", Term{8}));
}

// --- The place ---

TEST(SupersedeTest, ThePlaceInTheQueueIsTakenOver) {
  auto docket = Given(LedBy("b", Term{7}), Waiting("a"), Waiting("c"));

  EXPECT_THAT(Do(docket, SupersedingBy("a/2")), AnswersStanding());

  EXPECT_THAT(QueueIn(docket), ElementsAre("a/2", "c"));
  EXPECT_EQ(PlaceIn(docket, "a/2").ticket, Ticket{0});
  EXPECT_EQ(ElectionIn(docket).waiting, 2);
  EXPECT_EQ(SessionIn(docket, "a").ended, Cause::kSuperseded);
  EXPECT_THAT(docket.ended, ElementsAre(Id("a")));
  EXPECT_THAT(docket.events, IsEmpty());
}

TEST(SupersedeTest, TheEarliestOfSeveralPlacesIsTakenOver) {
  auto docket = Given(LedBy("b", Term{7}), Waiting("c"), Waiting("a/1"), Waiting("d"),
                      Waiting("a/2", {.priority = 1}), Waiting("a/3"));

  (void)Do(docket, SupersedingBy("a/4"));

  EXPECT_THAT(QueueIn(docket), ElementsAre("c", "a/4", "d"));
  EXPECT_EQ(PlaceIn(docket, "a/4").ticket, Ticket{1});
  EXPECT_THAT(docket.ended, UnorderedElementsAre(Id("a/1"), Id("a/2"), Id("a/3")));
}

TEST(SupersedeTest, AWaiterMovesToTheEarlierPlace) {
  auto docket = Given(LedBy("b", Term{7}), Waiting("a/1"), Waiting("c"), Waiting("a/2"));

  (void)Do(docket, Superseding(CampaignBy("a/2")));

  EXPECT_THAT(QueueIn(docket), ElementsAre("a/2", "c"));
}

TEST(SupersedeTest, AWaiterThatCameFirstKeepsItsPlace) {
  auto docket = Given(LedBy("b", Term{7}), Waiting("a/2"), Waiting("c"), Waiting("a/1"),
                      OpenedAt("a/1", kNow + -2s), OpenedAt("a/2", kNow + -1s));

  (void)Do(docket, Superseding(CampaignBy("a/2")));

  EXPECT_THAT(QueueIn(docket), ElementsAre("a/2", "c"));
}

TEST(SupersedeTest, AnInheritedPlaceHasTheNewPriority) {
  auto docket = Given(LedBy("b", Term{7}), Waiting("a", {.priority = 9}), Waiting("c"));

  (void)Do(docket, SupersedingBy("a/2"));
  EXPECT_THAT(QueueIn(docket), ElementsAre("a/2", "c"));

  (void)Do(docket, Superseding(CampaignBy("a/2", {.priority = -1})));
  EXPECT_THAT(QueueIn(docket), ElementsAre("c", "a/2"));
}

// Whether it was read is chance.
TEST(SupersedeTest, NothingIsInheritedFromADeadSession) {
  auto docket = Given(LedBy("b", Term{7}), Waiting("a"), Waiting("c"), Waiting("a/1"), Expired("a"),
                      Ended("a/1", Cause::kSuperseded));

  (void)Do(docket, SupersedingBy("a/2"));

  EXPECT_THAT(QueueIn(docket), ElementsAre("a", "c", "a/1", "a/2"));
  EXPECT_EQ(SessionIn(docket, "a").ended, Cause::kExpired);
  EXPECT_THAT(docket.ended, ElementsAre(Id("a")));
}

TEST(SupersedeTest, TheSeatAndThePlaceOfTwoOlderSessionsAreTakenOver) {
  auto docket = Given(LedBy("a", Term{7}), Waiting("a/1"), Waiting("b"));

  EXPECT_THAT(Do(docket, SupersedingBy("a/2")), AnswersElected());

  EXPECT_THAT(docket, IsLedBy("a/2", Term{8}));
  EXPECT_THAT(QueueIn(docket), ElementsAre("b"));
  EXPECT_THAT(docket.ended, UnorderedElementsAre(Id("a"), Id("a/1")));
}

// --- The bound of the queue ---

const Limits kOneMayWait{.queue_max = 1};

TEST(SupersedeInAFullQueueTest, ThePlaceOfAnOlderSessionMakesRoom) {
  auto docket = Given(LedBy("b", Term{7}), Waiting("a"));

  EXPECT_THAT(Do(docket, SupersedingBy("a/2"), kOneMayWait), AnswersStanding());

  EXPECT_THAT(QueueIn(docket), ElementsAre("a/2"));
}

TEST(SupersedeInAFullQueueTest, TheSeatOfAnOlderSessionNeedsNoRoom) {
  auto docket = Given(LedBy("a", Term{7}), Waiting("b"));

  EXPECT_THAT(Do(docket, SupersedingBy("a/2"), kOneMayWait), AnswersElected());

  EXPECT_THAT(QueueIn(docket), ElementsAre("b"));
}

TEST(SupersedeInAFullQueueTest, ASeatThatCannotBeInheritedMakesNoRoom) {
  auto docket = Given(LedBy("a", Term{7}), Waiting("b", {.priority = -1}));
  const auto before = docket;

  EXPECT_THAT(Do(docket, SupersedingBy("a/2", {.priority = -1}), kOneMayWait),
              FailsWith(Reason::kQueueFull));
  EXPECT_THAT(docket, IsSameAs(before));
}

TEST(SupersedeInAFullQueueTest, WithoutAnOlderSessionThereIsNoRoom) {
  auto docket = Given(LedBy("b", Term{7}), Waiting("c"), Alive("a"));
  const auto before = docket;

  EXPECT_THAT(Do(docket, SupersedingBy("a/2"), kOneMayWait), FailsWith(Reason::kQueueFull));
  EXPECT_THAT(docket, IsSameAs(before));
}

TEST(SupersedeInAFullQueueTest, ALeaderKeptByAPauseMakesNoRoom) {
  auto docket = Given(LedBy("a", Term{7}), Waiting("b"), Paused());

  EXPECT_THAT(Do(docket, SupersedingBy("a/2"), kOneMayWait), FailsWith(Reason::kQueueFull));
}

}  // namespace
}  // namespace tenure::testing
