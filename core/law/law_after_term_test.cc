// A campaign with `after_term`: a leader that no longer believes in its term keeps the seat in the
// next one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/law/law_testing.h"

namespace tenure::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

Campaign AfterTerm(Term term, Campaign campaign) {
  campaign.after_term = term;
  return campaign;
}

Campaign AfterTerm(Term term, std::string_view name, Standing standing = {}) {
  return AfterTerm(term, CampaignBy(name, std::move(standing)));
}

// --- The seat ---

TEST(AfterTermTest, TheLeaderIsElectedAgainAheadOfTheQueue) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b", {.priority = 9}));

  EXPECT_THAT(Do(transaction, AfterTerm(Term{7}, "a")), AnswersElected());

  EXPECT_THAT(transaction.events, ElementsAre(Vacated("a", Cause::kResigned, Term{7}, Revision{14}),
                                              Elected("a", Term{8}, Revision{15})));
  EXPECT_THAT(transaction, IsLedBy("a", Term{8}));
  EXPECT_THAT(QueueIn(transaction), ElementsAre("b"));
  EXPECT_EQ(ElectionIn(transaction).waiting, 1);
  EXPECT_THAT(transaction.ended, IsEmpty()) << "the session lives on";
}

TEST(AfterTermTest, TheNextTermHasTheValueAndTheCallIdOfTheCall) {
  auto transaction = Given(LedBy("a", Term{7}, {.value = "v", .call_id = {5}}));

  (void)Do(transaction, AfterTerm(Term{7}, "a", {.value = "w", .call_id = {6}}));

  const Leader expected{Id("a"), "a", kLease, "w", kNow, CallId{6}};
  EXPECT_EQ(ElectionIn(transaction).leader, expected);
}

TEST(AfterTermTest, AskingTwiceYieldsTheSameTerm) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b"));
  (void)Do(transaction, AfterTerm(Term{7}, "a", {.call_id = {5}}));
  const auto once = transaction;

  EXPECT_THAT(Do(transaction, AfterTerm(Term{7}, "a", {.call_id = {5}})), AnswersElected());
  EXPECT_THAT(transaction, IsSameAs(once));
}

TEST(AfterTermTest, ARetryUnderAnotherCallIdYieldsTheSameTerm) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b"));
  (void)Do(transaction, AfterTerm(Term{7}, "a", {.call_id = {5}}));

  EXPECT_THAT(Do(transaction, AfterTerm(Term{7}, "a", {.call_id = {6}})), AnswersElected());

  EXPECT_THAT(transaction, IsLedBy("a", Term{8}));
  EXPECT_THAT(transaction.events, SizeIs(2));
}

TEST(AfterTermTest, ALaterTermIsKept) {
  auto transaction = Given(LedBy("a", Term{8}));

  EXPECT_THAT(Do(transaction, AfterTerm(Term{7}, "a")), AnswersElected());

  EXPECT_THAT(transaction, IsLedBy("a", Term{8}));
  EXPECT_THAT(transaction.events, IsEmpty());
}

TEST(AfterTermTest, ASessionThatNoLongerLeadsQueues) {
  auto transaction = Given(LedBy("b", Term{8}), Waiting("c"), Alive("a"));

  EXPECT_THAT(Do(transaction, AfterTerm(Term{7}, "a")), AnswersStanding());

  EXPECT_THAT(transaction, IsLedBy("b", Term{8}));
  EXPECT_THAT(QueueIn(transaction), ElementsAre("c", "a"));
}

TEST(AfterTermTest, AVacantSeatIsTakenAsUsual) {
  auto transaction = Given(VacantAfter(Term{7}), Alive("a"));

  EXPECT_THAT(Do(transaction, AfterTerm(Term{7}, "a")), AnswersElected());

  EXPECT_THAT(transaction, IsLedBy("a", Term{8}));
  EXPECT_THAT(transaction.events, ElementsAre(Elected("a", Term{8}, Revision{15})));
}

TEST(AfterTermTest, AnotherSessionsTermIsKept) {
  auto transaction = Given(LedBy("b", Term{7}), Alive("a"));

  EXPECT_THAT(Do(transaction, AfterTerm(Term{7}, "a")), AnswersStanding());

  EXPECT_THAT(transaction, IsLedBy("b", Term{7}));
}

TEST(AfterTermTest, AnEndedSessionIsRefused) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b"), Expired("a"));

  EXPECT_THAT(Do(transaction, AfterTerm(Term{7}, "a")), FailsWith(Reason::kSessionEnded));

  EXPECT_THAT(transaction, IsLedBy("b", Term{8}));
}

// --- What does not apply to a sitting leader ---

TEST(AfterTermTest, NeitherLockDelayNorMinHoldApplies) {
  auto transaction =
      Given(LedBy("a", Term{7}), ElectedAt(kNow), WithSettings({.lock_delay = 5s, .min_hold = 1h}));

  EXPECT_THAT(Do(transaction, AfterTerm(Term{7}, "a")), AnswersElected());
}

TEST(AfterTermTest, TheLeaderOfAPausedElectionStays) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b"), Paused());

  EXPECT_THAT(Do(transaction, AfterTerm(Term{7}, "a")), AnswersElected());

  EXPECT_THAT(transaction, IsLedBy("a", Term{8}));
  EXPECT_TRUE(ElectionIn(transaction).paused);
}

TEST(AfterTermTest, AFullQueueDoesNotMatter) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b"));

  EXPECT_THAT(Do(transaction, AfterTerm(Term{7}, "a"), {.queue_max = 1}), AnswersElected());
}

TEST(AfterTermTest, ANegativePriorityDoesNotMatter) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b"));

  EXPECT_THAT(Do(transaction, AfterTerm(Term{7}, "a", {.priority = -1})), AnswersElected());
}

// An operator has appointed the candidate since it was deposed.
TEST(AfterTermTest, ACoolDownDoesNotMatterAndGoesOn) {
  auto transaction = Given(LedBy("a", Term{7}), KeptOut("a", kNow + 30s));

  EXPECT_THAT(Do(transaction, AfterTerm(Term{7}, "a")), AnswersElected());

  EXPECT_EQ(StateIn(transaction).cool_downs.at("a"), kNow + 30s);
}

// --- An appointment goes first ---

TEST(AfterTermTest, TheAppointedCandidateGetsTheSeat) {
  auto transaction =
      Given(LedBy("a", Term{7}), Waiting("b"), Waiting("c", {.priority = -1}), Appointed("c"));

  EXPECT_THAT(Do(transaction, AfterTerm(Term{7}, "a", {.priority = 1, .value = "w"})),
              AnswersStanding());

  EXPECT_THAT(transaction.events, ElementsAre(Vacated("a", Cause::kResigned, Term{7}, Revision{14}),
                                              Elected("c", Term{8}, Revision{15})));
  EXPECT_THAT(QueueIn(transaction), ElementsAre("a", "b"));
  EXPECT_EQ(PlaceIn(transaction, "a").value, "w");
  EXPECT_EQ(ElectionIn(transaction).waiting, 2);
}

TEST(AfterTermTest, GivingWayTwiceIsDoneOnce) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b"), Appointed("b"));
  (void)Do(transaction, AfterTerm(Term{7}, "a", {.call_id = {5}}));
  const auto once = transaction;

  EXPECT_THAT(Do(transaction, AfterTerm(Term{7}, "a", {.call_id = {5}})), AnswersStanding());
  EXPECT_THAT(transaction, IsSameAs(once));
}

TEST(AfterTermTest, AReservedSeatIsKeptForItsCandidate) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b"), Appointed("c", kNow + 30s));

  EXPECT_THAT(Do(transaction, AfterTerm(Term{7}, "a")), AnswersStanding());

  EXPECT_THAT(transaction, IsVacantAfter(Term{7}));
  EXPECT_THAT(QueueIn(transaction), ElementsAre("b", "a"));
  EXPECT_EQ(ElectionIn(transaction).wake_at, kNow + 30s);
}

TEST(AfterTermTest, AnAppointmentWaitsForTheEndOfAPause) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b"), Appointed("b"), Paused());

  EXPECT_THAT(Do(transaction, AfterTerm(Term{7}, "a")), AnswersStanding());
  EXPECT_THAT(transaction, IsVacantAfter(Term{7}));

  (void)Do(transaction, Resuming());
  EXPECT_THAT(transaction, IsLedBy("b", Term{8}));
}

TEST(AfterTermTest, AnAppointmentWhoseCandidateHasDiedLapses) {
  auto transaction =
      Given(LedBy("a", Term{7}), Waiting("b"), Appointed("b"), Ended("b", Cause::kSessionClosed));

  EXPECT_THAT(Do(transaction, AfterTerm(Term{7}, "a")), AnswersElected());

  EXPECT_EQ(ElectionIn(transaction).appointment, std::nullopt) << "nobody has asked the new leader";
}

TEST(AfterTermTest, GivingWayToAFullQueueIsRefusedAndChangesNothing) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b"), Appointed("c", kNow + 30s));
  const auto before = transaction;

  EXPECT_THAT(Do(transaction, AfterTerm(Term{7}, "a"), {.queue_max = 1}),
              FailsWith(Reason::kQueueFull));
  EXPECT_THAT(transaction, IsSameAs(before));
}

TEST(AfterTermTest, GivingWayTakesOnNothingNew) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b"), Appointed("b"));
  Campaign campaign = AfterTerm(Term{7}, "a");
  campaign.principal = {"id", {.candidacies = 1}};
  transaction.usage["id"] = {.sessions = 1, .candidacies = 1};

  EXPECT_THAT(Do(transaction, campaign), AnswersStanding());
}

// --- Together with supersede ---

TEST(AfterTermTest, TheOlderSessionsOfTheLeaderEnd) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("a/1"), Waiting("b"));

  EXPECT_THAT(Do(transaction, Superseding(AfterTerm(Term{7}, "a"))), AnswersElected());

  EXPECT_THAT(transaction, IsLedBy("a", Term{8}));
  EXPECT_THAT(QueueIn(transaction), ElementsAre("b"));
  EXPECT_THAT(transaction.ended, ElementsAre(Id("a/1")));
}

TEST(AfterTermTest, GivingWayTakesOverThePlaceOfAnOlderSession) {
  auto transaction =
      Given(LedBy("a", Term{7}), Waiting("a/1"), Waiting("b"), Waiting("c"), Appointed("c"));

  EXPECT_THAT(Do(transaction, Superseding(AfterTerm(Term{7}, "a"))), AnswersStanding());

  EXPECT_THAT(transaction, IsLedBy("c", Term{8}));
  EXPECT_THAT(QueueIn(transaction), ElementsAre("a", "b"));
}

TEST(AfterTermTest, TheSeatOfAnOlderSessionIsTakenOverAsUsual) {
  auto transaction = Given(LedBy("a", Term{8}), Waiting("b"), Alive("a/2"));

  EXPECT_THAT(Do(transaction, Superseding(AfterTerm(Term{7}, "a/2"))), AnswersElected());

  EXPECT_THAT(transaction, IsLedBy("a/2", Term{9}));
}

}  // namespace
}  // namespace tenure::testing
