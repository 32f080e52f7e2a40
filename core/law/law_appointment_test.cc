// Appoint: the seat goes to an operator's choice, when it is vacant next, or now.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/law/law_testing.h"

namespace tenure::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Optional;

// --- The leader is asked to make way ---

TEST(AppointTest, TheLeaderIsAskedToMakeWayAndKeepsItsSeat) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b"));

  const auto answer = Do(transaction, Appointing("b", Term{7}));

  EXPECT_THAT(answer, AnswersChanged());
  EXPECT_THAT(transaction, IsLedBy("a", Term{7}));
  EXPECT_THAT(transaction.events, ElementsAre(HandoverAsked("a", "b", Term{7}, Revision{14})));
  EXPECT_EQ(LeadershipOf(ElectionIn(transaction))->successor, "b");
  EXPECT_EQ(std::get<AdminAnswer>(*answer).election, ElectionIn(transaction));
}

// How a term may end while another candidate is appointed.
const std::map<std::string, Command>& Departures() {
  static const std::map<std::string, Command> departures = {
      {"Resignation", ResignBy("a")},
      {"Deposition", Deposing(Term{7})},
      {"Successor", Superseding(FirstCampaignBy("a/2"))},
  };
  return departures;
}

class AppointedTest : public ::testing::TestWithParam<std::pair<const std::string, Command>> {};

TEST_P(AppointedTest, TheAppointedCandidateFollowsTheLeaderRegardlessOfTheQueue) {
  auto transaction = Given(LedBy("a", Term{7}, {.call_id = {5}}), Waiting("c", {.priority = 9}),
                           Waiting("b"), Appointed("b"));

  (void)Do(transaction, GetParam().second);

  EXPECT_THAT(transaction, IsLedBy("b", Term{8}));
  EXPECT_EQ(ElectionIn(transaction).appointment, std::nullopt);
}

INSTANTIATE_TEST_SUITE_P(Each, AppointedTest, ::testing::ValuesIn(Departures()),
                         [](const auto& info) { return info.param.first; });

TEST(AppointTest, TheSeatOfAnExpiredLeaderPassesAtOnce) {
  auto transaction =
      Given(LedBy("a", Term{7}), Waiting("c"), Waiting("b"), Appointed("b"), Expired("a"));

  (void)Do(transaction, Reconciliation());

  EXPECT_THAT(transaction, IsLedBy("b", Term{8}));
}

TEST(AppointTest, AnAppointmentIsFulfilledOnce) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("c"), Waiting("b"), Appointed("b"));

  (void)Do(transaction, ResignBy("a"));
  (void)Do(transaction, CampaignBy("a"));
  (void)Do(transaction, ResignBy("b"));
  EXPECT_THAT(transaction, IsLedBy("c", Term{9}));

  (void)Do(transaction, CampaignBy("b"));
  (void)Do(transaction, ResignBy("c"));
  EXPECT_THAT(transaction, IsLedBy("a", Term{10}));
}

TEST(AppointTest, ForAVacantSeatTheCandidateIsElectedAtOnce) {
  auto transaction = Given(VacantAfter(Term{7}), Waiting("b", {.priority = -1}));

  const auto answer = Do(transaction, Appointing("b", Term{7}));

  EXPECT_THAT(answer, AnswersChanged());
  EXPECT_THAT(transaction.events, ElementsAre(Elected("b", Term{8}, Revision{15})));
}

TEST(AppointTest, ARepeatedAppointmentAsksTheLeaderOnce) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b"));

  (void)Do(transaction, Appointing("b", Term{7}));
  (void)Do(transaction, Appointing("b", Term{7}, 30s));

  EXPECT_THAT(transaction.events, ElementsAre(HandoverAsked("a", "b", Term{7}, Revision{14})));
  EXPECT_EQ(ElectionIn(transaction).appointment, (Appointment{"b", kNow + 30s}));
}

TEST(AppointTest, ARepeatedAppointmentIsRecordedOnce) {
  auto led = Given(LedBy("a", Term{7}), Waiting("b"));
  auto vacant = Given(VacantAfter(Term{7}), Waiting("b"), VacantUntil(kNow + 5s));

  for (auto* transaction : {&led, &vacant}) {
    EXPECT_THAT(Do(*transaction, Appointing("b", Term{7})), AnswersChanged());
    const auto once = *transaction;
    transaction->now = kNow + 1s;
    EXPECT_THAT(Do(*transaction, Appointing("b", Term{7})), AnswersUnchanged());
    EXPECT_EQ(transaction->admin_changes, once.admin_changes);
  }
}

TEST(AppointTest, AddingForceIsAChange) {
  auto led = Given(LedBy("a", Term{7}), Waiting("b"), Appointed("b"));
  auto vacant = Given(VacantAfter(Term{7}), Waiting("b"), VacantUntil(kNow + 5s), Appointed("b"));

  for (auto* transaction : {&led, &vacant}) {
    EXPECT_THAT(Do(*transaction, AppointingByForce("b", Term{7})), AnswersChanged());
    EXPECT_THAT(*transaction, IsLedBy("b", Term{8}));
  }
}

TEST(AppointTest, AppointingAnotherCandidateAsksAgain) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b"), Waiting("c"));

  (void)Do(transaction, Appointing("b", Term{7}));
  (void)Do(transaction, Appointing("c", Term{7}));

  EXPECT_THAT(transaction.events, ElementsAre(HandoverAsked("a", "b", Term{7}, Revision{14}),
                                              HandoverAsked("a", "c", Term{7}, Revision{15})));
  EXPECT_EQ(ElectionIn(transaction).appointment, Appointment{"c"});
}

TEST(AppointTest, AppointingTheLeaderCancelsAnotherAppointment) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b"), Waiting("c"), Appointed("c"));

  EXPECT_THAT(Do(transaction, Appointing("a", Term{7})), AnswersChanged());
  EXPECT_THAT(transaction.admin_changes,
              ElementsAre(Recorded(AdminAction::kAppointed, Term{7}, "'a' instead of 'c'")));

  (void)Do(transaction, ResignBy("a"));
  EXPECT_THAT(transaction, IsLedBy("b", Term{8}));
}

TEST(AppointTest, AppointingTheLeaderChangesNothing) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b"));
  const auto before = transaction;

  EXPECT_THAT(Do(transaction, Appointing("a", Term{7})), AnswersUnchanged());
  EXPECT_THAT(Do(transaction, AppointingByForce("a", Term{7})), AnswersUnchanged());
  EXPECT_THAT(transaction, IsSameAs(before));
}

TEST(AppointTest, ForACandidateWithSeveralSessionsTheFirstIsMeant) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("c"), Waiting("b/1"),
                           Waiting("b/2", {.priority = 1}), Appointed("b"));

  (void)Do(transaction, ResignBy("a"));

  EXPECT_THAT(transaction, IsLedBy("b/2", Term{8}));
}

TEST(AppointTest, ACandidateBehindTheHorizonCanBeAppointed) {
  auto transaction =
      Given(LedBy("a", Term{7}), Waiting("c"), Waiting("b"), HorizonAt("c"), Appointed("b"));

  (void)Do(transaction, ResignBy("a"));

  EXPECT_THAT(transaction, IsLedBy("b", Term{8}));
}

// --- By force ---

TEST(AppointByForceTest, ForceMovesTheSeatNow) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("c"), Waiting("b"));

  const auto answer = Do(transaction, AppointingByForce("b", Term{7}));

  EXPECT_THAT(answer, AnswersChanged());
  EXPECT_THAT(transaction.events,
              ElementsAre(Vacated("a", Cause::kAppointedAway, Term{7}, Revision{14}),
                          Elected("b", Term{8}, Revision{15})));
}

TEST(AppointByForceTest, TheLeadersSessionStaysAlive) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b"));

  (void)Do(transaction, AppointingByForce("b", Term{7}));

  EXPECT_EQ(SessionIn(transaction, "a"), SessionOfCandidate("a"));
  EXPECT_THAT(transaction.ended, IsEmpty());
}

TEST(AppointByForceTest, ForceOverridesLockDelayAndMinHold) {
  auto led = Given(LedBy("a", Term{7}), Waiting("b"),
                   WithSettings({.lock_delay = 5s, .min_hold = 1h}), ElectedAt(kNow));
  auto vacant = Given(VacantAfter(Term{7}), Waiting("b"), VacantUntil(kNow + 5s));

  (void)Do(led, AppointingByForce("b", Term{7}));
  (void)Do(vacant, AppointingByForce("b", Term{7}));

  EXPECT_THAT(led, IsLedBy("b", Term{8}));
  EXPECT_THAT(vacant, IsLedBy("b", Term{8}));
  EXPECT_EQ(ElectionIn(vacant).wake_at, std::nullopt);
}

TEST(AppointByForceTest, ForAnAbsentCandidateTheTermEndsAndTheSeatIsReserved) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("c"));

  (void)Do(transaction, AppointingByForce("b", Term{7}, 30s));

  EXPECT_THAT(transaction, IsVacantAfter(Term{7}));
  EXPECT_THAT(transaction.events,
              ElementsAre(Vacated("a", Cause::kAppointedAway, Term{7}, Revision{14})));
  EXPECT_THAT(ElectionIn(transaction).wake_at, Optional(kNow + 30s));
}

TEST(AppointByForceTest, ForceIsRefusedWhileTheElectionIsPaused) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b"), Paused());
  const auto before = transaction;

  EXPECT_THAT(Do(transaction, AppointingByForce("b", Term{7})), FailsWith(Reason::kElectionPaused));
  EXPECT_THAT(transaction, IsSameAs(before));
}

// --- What can prevent it ---

TEST(AppointTest, WithoutForceTheAppointmentWaitsUntilTheSeatMayBeFilled) {
  auto transaction = Given(VacantAfter(Term{7}), Waiting("b"), Waiting("c", {.priority = 9}),
                           VacantUntil(kNow + 5s));

  EXPECT_THAT(Do(transaction, Appointing("b", Term{7})), AnswersChanged());
  EXPECT_THAT(transaction, IsVacantAfter(Term{7}));
  EXPECT_THAT(ElectionIn(transaction).wake_at, Optional(kNow + 5s));

  transaction.now = kNow + 5s;
  (void)Do(transaction, Reconciliation());
  EXPECT_THAT(transaction, IsLedBy("b", Term{8}));
}

TEST(AppointTest, AnAppointmentDuringAPauseTakesEffectAtTheResume) {
  auto transaction = Given(VacantAfter(Term{7}), Waiting("c"), Waiting("b"), Paused());

  EXPECT_THAT(Do(transaction, Appointing("b", Term{7})), AnswersChanged());
  EXPECT_THAT(transaction, IsVacantAfter(Term{7}));

  (void)Do(transaction, Resuming());
  EXPECT_THAT(transaction, IsLedBy("b", Term{8}));
}

TEST(AppointTest, AnAppointmentOverridesACoolDown) {
  auto transaction = Given(VacantAfter(Term{7}), Waiting("b"), KeptOut("b", kNow + 30s));

  (void)Do(transaction, Appointing("b", Term{7}));

  EXPECT_THAT(transaction, IsLedBy("b", Term{8}));
}

TEST(AppointTest, AStaleTermIsRefusedAndChangesNothing) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b"));
  const auto before = transaction;

  for (const Term term : {Term{6}, Term{8}}) {
    EXPECT_THAT(Do(transaction, Appointing("b", term)),
                FailsWith(Reason::kStaleTerm, "current_term", "7"));
    EXPECT_THAT(Do(transaction, AppointingByForce("b", term, 30s)),
                FailsWith(Reason::kStaleTerm, "current_term", "7"));
  }
  EXPECT_THAT(transaction, IsSameAs(before));
}

TEST(AppointTest, ADuplicateAppointmentFindsItsCandidateInTheSeat) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b"));
  (void)Do(transaction, AppointingByForce("b", Term{7}));
  const auto once = transaction;

  EXPECT_THAT(Do(transaction, AppointingByForce("b", Term{7})), AnswersUnchanged());
  EXPECT_THAT(transaction, IsSameAs(once));
}

TEST(AppointTest, ACandidateThatIsNotStandingIsRefused) {
  auto transaction = Given(LedBy("a", Term{7}), Alive("b"));
  const auto before = transaction;

  EXPECT_THAT(Do(transaction, Appointing("b", Term{7})), FailsWith(Reason::kCandidateNotStanding));
  EXPECT_THAT(Do(transaction, AppointingByForce("b", Term{7})),
              FailsWith(Reason::kCandidateNotStanding));
  EXPECT_THAT(transaction, IsSameAs(before));
}

TEST(AppointTest, ACandidateWithADeadSessionIsRefused) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b"), Expired("b"));

  EXPECT_THAT(Do(transaction, Appointing("b", Term{7})), FailsWith(Reason::kCandidateNotStanding));
  EXPECT_THAT(transaction, IsLedBy("a", Term{7}));
  EXPECT_EQ(ElectionIn(transaction).appointment, std::nullopt);
}

TEST(AppointTest, AnUnknownElectionIsRefused) {
  auto transaction = Given();
  const auto before = transaction;

  EXPECT_THAT(Do(transaction, Appointing("b", Term{0}, 30s)), FailsWith(Reason::kElectionNotFound));
  EXPECT_THAT(transaction, IsSameAs(before));
}

// --- The candidate does not come ---

TEST(AppointTest, AnAppointmentLapsesWhenItsCandidateLeavesTheQueue) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b"), Waiting("c"), Appointed("b"));

  (void)Do(transaction, ResignBy("b"));
  (void)Do(transaction, ResignBy("a"));

  EXPECT_THAT(transaction, IsLedBy("c", Term{8}));
  EXPECT_EQ(ElectionIn(transaction).appointment, std::nullopt);
}

TEST(AppointTest, AnAppointmentLapsesWhenItsCandidateDies) {
  auto transaction =
      Given(LedBy("a", Term{7}), Waiting("b"), Waiting("c"), Appointed("b"), Expired("b"));

  (void)Do(transaction, ResignBy("a"));

  EXPECT_THAT(transaction, IsLedBy("c", Term{8}));
  EXPECT_EQ(ElectionIn(transaction).appointment, std::nullopt);
}

TEST(AppointTest, ALapsedAppointmentInAnEmptyElectionBlocksNobody) {
  auto transaction = Given(VacantAfter(Term{7}), Appointed("b"));

  EXPECT_THAT(Do(transaction, FirstCampaignBy("c")), AnswersElected());
  EXPECT_EQ(ElectionIn(transaction).appointment, std::nullopt);
}

// --- Reservations ---

const Fact kReservedForB = Appointed("b", kNow + 30s);

TEST(ReservationTest, TheSeatStaysEmptyForAnAbsentCandidate) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("c", {.priority = 9}), kReservedForB);

  (void)Do(transaction, ResignBy("a"));
  EXPECT_THAT(transaction, IsVacantAfter(Term{7}));
  EXPECT_THAT(ElectionIn(transaction).wake_at, Optional(kNow + 30s));

  EXPECT_THAT(Do(transaction, FirstCampaignBy("d", {.priority = 10})), AnswersStanding());
}

TEST(ReservationTest, TheCandidateGetsTheSeatAsSoonAsItCampaigns) {
  auto transaction = Given(VacantAfter(Term{7}), Waiting("c", {.priority = 9}), kReservedForB,
                           Now(kNow + 30s + -kInstant));

  EXPECT_THAT(Do(transaction, FirstCampaignBy("b", {.priority = -1})), AnswersElected());
  EXPECT_EQ(ElectionIn(transaction).wake_at, std::nullopt);
  EXPECT_EQ(ElectionIn(transaction).appointment, std::nullopt);
}

TEST(ReservationTest, AReservationEndsAtItsLastInstant) {
  auto transaction = Given(VacantAfter(Term{7}), Waiting("c"), Alive("c"), kReservedForB);
  (void)Do(transaction, Reconciliation());
  EXPECT_THAT(transaction, IsVacantAfter(Term{7}));

  transaction.now = kNow + 30s;
  (void)Do(transaction, Reconciliation());

  EXPECT_THAT(transaction, IsLedBy("c", Term{8}));
}

TEST(ReservationTest, AReservationAlsoEndsForANewcomer) {
  auto transaction = Given(VacantAfter(Term{7}), kReservedForB);
  EXPECT_THAT(Do(transaction, FirstCampaignBy("c")), AnswersStanding());
  Expired("c")(transaction);

  transaction.now = kNow + 30s;

  EXPECT_THAT(Do(transaction, FirstCampaignBy("d")), AnswersElected());
}

TEST(ReservationTest, ACandidateThatStandsAfterTheEndOfTheTermGetsTheSeat) {
  auto transaction = Given(LedBy("a", Term{7}), Alive("a"), kReservedForB, Now(kNow + 40s));
  (void)Do(transaction, FirstCampaignBy("c", {.priority = 9}));
  (void)Do(transaction, FirstCampaignBy("b"));

  (void)Do(transaction, ResignBy("a"));

  EXPECT_THAT(transaction, IsLedBy("b", Term{8}));
}

TEST(ReservationTest, AReservationOutlivesTheCandidatesDeparture) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b"), Waiting("c"));
  (void)Do(transaction, Appointing("b", Term{7}, 30s));

  (void)Do(transaction, ResignBy("b"));
  (void)Do(transaction, ResignBy("a"));
  EXPECT_THAT(transaction, IsVacantAfter(Term{7}));

  EXPECT_THAT(Do(transaction, CampaignBy("b")), AnswersElected());
}

TEST(ReservationTest, AReservationInAnEmptyElectionNeedsNoWakeUp) {
  auto transaction = Given(VacantAfter(Term{7}));

  EXPECT_THAT(Do(transaction, Appointing("b", Term{7}, 30s)), AnswersChanged());

  EXPECT_EQ(ElectionIn(transaction).wake_at, std::nullopt);
  EXPECT_THAT(Do(transaction, FirstCampaignBy("c")), AnswersStanding());
  EXPECT_THAT(ElectionIn(transaction).wake_at, Optional(kNow + 30s));
}

// --- Records ---

struct AppointRecord {
  std::string name;
  Appoint command;
  std::string detail;
};

class AppointRecordTest : public ::testing::TestWithParam<AppointRecord> {};

TEST_P(AppointRecordTest, TheRecordSaysWhatWasRequested) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b"));

  (void)Do(transaction, GetParam().command);

  EXPECT_THAT(transaction.admin_changes,
              ElementsAre(Recorded(AdminAction::kAppointed, Term{7}, GetParam().detail)));
}

INSTANTIATE_TEST_SUITE_P(
    Each, AppointRecordTest,
    ::testing::Values(AppointRecord{"Handover", Appointing("b", Term{7}), "'b'"},
                      AppointRecord{"Force", AppointingByForce("b", Term{7}), "'b', by force"},
                      AppointRecord{"Reservation", Appointing("b", Term{7}, 90s),
                                    "'b', reserved for 90s"},
                      AppointRecord{"ForceAndReservation", AppointingByForce("d", Term{7}, 500ms),
                                    "'d', by force, reserved for 500ms"}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace tenure::testing
