// CampaignForAll: the seats of several elections, all or none.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/law/law_testing.h"

namespace tenure::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

using Names = std::vector<ElectionName>;

const ElectionName kEurope{"orders/eu"};
const ElectionName kAsia{"orders/asia"};

// Nobody has ever campaigned in it.
const Fact kUnknown = [](TransactionState&) {};

// --- All ---

TEST(SetTest, AllSeatsAreTakenIfAllAreFree) {
  auto transaction =
      Given(VacantAfter(Term{7}), In(kEurope, VacantAfter(Term{3})), In(kAsia, kUnknown));
  const Names all{kAsia, kElection, kEurope};

  const auto answer =
      Do(transaction, FirstCampaignForAllBy("a", all, {.value = "v", .call_id = {5}}));

  EXPECT_THAT(answer, AnswersElectedInAll(all));
  for (const auto& [name, term] : std::map{
           std::pair(kElection, Term{8}), std::pair(kEurope, Term{4}), std::pair(kAsia, Term{1})}) {
    const Election& election = transaction.elections.at(name).election;
    EXPECT_EQ(election.leader, (Leader{Id("a"), "a", kLease, "v", kNow, CallId{5}}));
    EXPECT_EQ(election.term, term);
    EXPECT_EQ(election.waiting, 0);
    EXPECT_TRUE(transaction.elections.at(name).exists);
  }
  EXPECT_THAT(transaction.events, ::testing::SizeIs(3));
}

TEST(SetTest, TheAnswerHasTheSessionAndTheLeaderships) {
  auto transaction = Given(In(kEurope, kUnknown));

  const auto answer = Do(transaction, FirstCampaignForAllBy("a", {kElection, kEurope}));

  ASSERT_THAT(answer, AnswersElectedInAll(Names{kElection, kEurope}));
  const auto& all = std::get<CampaignForAllAnswer>(*answer);
  EXPECT_EQ(all.session, SessionIn(transaction, "a"));
  EXPECT_EQ(all.leaderships[0], LeadershipOf(ElectionIn(transaction)));
  EXPECT_EQ(all.leaderships[1], LeadershipOf(transaction.elections.at(kEurope).election));
}

TEST(SetTest, ASetOfOneElectionIsElected) {
  auto transaction = Given();

  EXPECT_THAT(Do(transaction, FirstCampaignForAllBy("a", {kElection})),
              AnswersElectedInAll(Names{kElection}));
  EXPECT_THAT(transaction.events, ElementsAre(Elected("a", Term{1}, Revision{1})));
}

TEST(SetTest, ARepeatedSetIsTakenOnce) {
  auto transaction = Given(VacantAfter(Term{7}), In(kEurope, kUnknown));
  const auto campaign = FirstCampaignForAllBy("a", {kElection, kEurope}, {.call_id = {5}});
  (void)Do(transaction, campaign);
  const auto once = transaction;

  EXPECT_THAT(Do(transaction, campaign), AnswersElectedInAll(Names{kElection, kEurope}));
  EXPECT_THAT(transaction, IsSameAs(once));
}

// --- What is free ---

struct Seat {
  std::string name;
  Fact fact;
};

constexpr auto kSettlingName = [](const auto& info) { return info.param.name; };
constexpr auto kSeatName = [](const auto& info) { return info.param.name; };

template <typename... Facts>
Fact All(const Facts&... facts) {
  return [=](TransactionState& transaction) { (facts(transaction), ...); };
}

class FreeSeatTest : public ::testing::TestWithParam<Seat> {};

TEST_P(FreeSeatTest, AFreeSeatIsTaken) {
  auto transaction = Given(Alive("a"), VacantAfter(Term{3}), In(kEurope, GetParam().fact));

  EXPECT_THAT(Do(transaction, CampaignForAllBy("a", {kElection, kEurope})),
              AnswersElectedInAll(Names{kElection, kEurope}));

  EXPECT_THAT(transaction, IsLedBy("a", Term{4}));
  EXPECT_EQ(LeaderOf(transaction, kEurope), "a");
  const Election& election = transaction.elections.at(kEurope).election;
  EXPECT_EQ(election.appointment, std::nullopt);
  EXPECT_EQ(election.wake_at, std::nullopt);
}

INSTANTIATE_TEST_SUITE_P(
    Each, FreeSeatTest,
    ::testing::Values(
        Seat{"Unknown", kUnknown}, Seat{"Vacant", VacantAfter(Term{7})},
        Seat{"OfADeadLeader", All(LedBy("b", Term{7}), Expired("b"))},
        Seat{"ItsOwn", LedBy("a", Term{7})},
        Seat{"TheWaiterDoesNotWantToLead",
             All(VacantAfter(Term{7}), Waiting("b", {.priority = -1}))},
        Seat{"ItDidNotWantToLeadBefore", All(VacantAfter(Term{7}), Waiting("a", {.priority = -1}))},
        Seat{"OnlyTheDeadWait", All(VacantAfter(Term{7}), Waiting("b"), Expired("b"))},
        Seat{"ReservedForIt", All(VacantAfter(Term{7}), Waiting("b"), Appointed("a", kNow + 1s))},
        Seat{"AReservationForAnotherHasEnded", All(VacantAfter(Term{7}), Appointed("b", kNow))},
        Seat{"VacantForLongEnough", All(VacantAfter(Term{7}), VacantUntil(kNow))},
        Seat{"AnotherCoolsDown", All(VacantAfter(Term{7}), KeptOut("b", kNow + 1s))}),
    kSeatName);

// In a batch: one command left the seat undecided, because the rest of the queue was not read, and
// another has settled it since.
struct Settling {
  std::string name;
  Fact fact = [](TransactionState&) {};
  std::vector<Command> commands;
};

class SettledSeatTest : public ::testing::TestWithParam<Settling> {};

TEST_P(SettledSeatTest, ASeatThatWasLeftUndecidedBeforeIsTaken) {
  auto transaction = Given(Alive("c"), LedBy("a", Term{7}), Waiting("b"), Expired("b"),
                           HorizonAt("b"), GetParam().fact);
  (void)Do(transaction, ResignBy("a"));
  ASSERT_THAT(transaction.undecided, ElementsAre(kElection));
  for (const Command& command : GetParam().commands) (void)Do(transaction, command);

  EXPECT_THAT(Do(transaction, CampaignForAllBy("c", {kElection})),
              AnswersElectedInAll(Names{kElection}));
  EXPECT_THAT(transaction, IsLedBy("c", Term{8}));
  EXPECT_THAT(transaction.undecided, IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(
    Each, SettledSeatTest,
    ::testing::Values(
        Settling{.name = "ByItsDeletion", .commands = {Deleting(Term{7})}},
        Settling{.name = "ByItsDeletionAndCreation", .commands = {Deleting(Term{7}), Creating()}},
        Settling{.name = "ByTheEndOfTheWaiter", .commands = {ReconciliationOf("b")}},
        Settling{.name = "ByAnAppointment", .commands = {Appointing("c", Term{7}, 1s)}},
        Settling{.name = "ByAnAppointmentWhileItWasPaused",
                 .commands = {Pausing(), Appointing("c", Term{7}, 1s), Resuming()}}),
    kSettlingName);

class BlockedSeatTest : public ::testing::TestWithParam<Seat> {};

TEST_P(BlockedSeatTest, ABlockedSeatIsNamedAndNoOtherIsTaken) {
  auto transaction =
      Given(Alive("a"), VacantAfter(Term{3}), In(kEurope, GetParam().fact), In(kAsia, kUnknown));
  (void)Do(transaction, Reconciliation());
  const auto before = transaction;

  EXPECT_THAT(Do(transaction, CampaignForAllBy("a", {kElection, kEurope, kAsia})),
              AnswersBlockedBy(Names{kEurope}));

  EXPECT_THAT(transaction, IsVacantAfter(Term{3}));
  EXPECT_NE(LeaderOf(transaction, kEurope), "a");
  EXPECT_TRUE(SameState(transaction.elections.at(kElection), before.elections.at(kElection)));
  EXPECT_TRUE(SameState(transaction.elections.at(kAsia), before.elections.at(kAsia)));
}

TEST_P(BlockedSeatTest, ARepeatedRequestIsBlockedAgainAndChangesNothing) {
  auto transaction = Given(VacantAfter(Term{3}), In(kEurope, GetParam().fact), In(kAsia, kUnknown));
  const auto campaign = FirstCampaignForAllBy("a", {kElection, kEurope, kAsia});
  (void)Do(transaction, campaign);
  const auto once = transaction;

  EXPECT_THAT(Do(transaction, campaign), AnswersBlockedBy(Names{kEurope}));
  EXPECT_THAT(transaction, IsSameAs(once));
}

INSTANTIATE_TEST_SUITE_P(
    Each, BlockedSeatTest,
    ::testing::Values(
        Seat{"Led", LedBy("b", Term{7})},
        Seat{"LedByAnotherSessionOfItsCandidate", LedBy("a/2", Term{7})},
        Seat{"FilledByAWaiter", All(VacantAfter(Term{7}), Waiting("b"))},
        Seat{"OfADeadLeaderWithASuccessor", All(LedBy("b", Term{7}), Waiting("c"), Expired("b"))},
        Seat{"Paused", All(VacantAfter(Term{7}), Paused())},
        Seat{"InItsLockDelay", All(VacantAfter(Term{7}), VacantUntil(kNow + kInstant))},
        Seat{"OfADeadLeaderWithALockDelay",
             All(LedBy("b", Term{7}), Expired("b"), WithSettings({.lock_delay = 1s}))},
        Seat{"ReservedForAnother", All(VacantAfter(Term{7}), Appointed("b", kNow + kInstant))},
        Seat{"ItCoolsDown", All(VacantAfter(Term{7}), KeptOut("a", kNow + kInstant))},
        Seat{"NotReadToTheEnd",
             All(VacantAfter(Term{7}), Waiting("b"), HorizonAt("b"), Expired("b"))}),
    kSeatName);

TEST(SetTest, AllBlockingElectionsAreNamed) {
  auto transaction =
      Given(LedBy("b", Term{7}), In(kEurope, kUnknown), In(kAsia, LedBy("c", Term{3})));

  EXPECT_THAT(Do(transaction, FirstCampaignForAllBy("a", {kAsia, kEurope, kElection})),
              AnswersBlockedBy(Names{kAsia, kElection}));
}

TEST(SetTest, TheSessionsSeatsAreKeptEvenIfAnotherIsBlocked) {
  auto transaction = Given(LedBy("a", Term{7}), In(kEurope, LedBy("b", Term{3})));

  EXPECT_THAT(Do(transaction, CampaignForAllBy("a", {kElection, kEurope})),
              AnswersBlockedBy(Names{kEurope}));

  EXPECT_THAT(transaction, IsLedBy("a", Term{7}));
}

TEST(SetTest, TheValueIsProclaimedWhereTheSessionAlreadyLeads) {
  auto transaction = Given(LedBy("a", Term{7}, {.value = "v"}), In(kEurope, kUnknown));

  const auto answer = Do(transaction, CampaignForAllBy("a", {kElection, kEurope}, {.value = "w"}));

  ASSERT_THAT(answer, AnswersElectedInAll(Names{kElection, kEurope}));
  EXPECT_EQ(std::get<CampaignForAllAnswer>(*answer).leaderships[0].leader.value, "w");
  EXPECT_THAT(transaction.events,
              ElementsAre(Proclaimed("a", Term{7}, Revision{14}, "w"), ::testing::_));
}

TEST(SetTest, ABlockedSetProclaimsNothing) {
  auto transaction = Given(LedBy("a", Term{7}, {.value = "v"}), In(kEurope, LedBy("b", Term{3})));

  (void)Do(transaction, CampaignForAllBy("a", {kElection, kEurope}, {.value = "w"}));

  EXPECT_EQ(ElectionIn(transaction).leader->value, "v");
  EXPECT_THAT(transaction.events, IsEmpty());
}

TEST(SetTest, ASetNeverWaitsInAQueue) {
  auto transaction = Given(LedBy("b", Term{7}), In(kEurope, kUnknown));

  (void)Do(transaction, FirstCampaignForAllBy("a", {kElection, kEurope}));

  EXPECT_THAT(QueueIn(transaction), IsEmpty());
  EXPECT_EQ(ElectionIn(transaction).next_ticket, Ticket{0});
}

TEST(SetTest, APlaceWantedByAnotherCallIsKept) {
  auto transaction = Given(LedBy("b", Term{7}), Waiting("a", {.call_id = {5}}));

  (void)Do(transaction, CampaignForAllBy("a", {kElection}, {.call_id = {6}}));

  EXPECT_THAT(QueueIn(transaction), ElementsAre("a"));
  EXPECT_EQ(PlaceIn(transaction, "a").call_id, CallId{5});
}

TEST(SetTest, ThePlaceIsGivenUpWhereTheSeatIsTaken) {
  auto transaction =
      Given(VacantAfter(Term{7}), Waiting("a", {.priority = -1}), Waiting("b", {.priority = -1}));

  EXPECT_THAT(Do(transaction, CampaignForAllBy("a", {kElection})),
              AnswersElectedInAll(Names{kElection}));

  EXPECT_THAT(QueueIn(transaction), ElementsAre("b"));
  EXPECT_EQ(ElectionIn(transaction).waiting, 1);
}

TEST(SetTest, ASetNeedsNoRoomInAQueue) {
  auto transaction = Given(VacantAfter(Term{7}), Waiting("b", {.priority = -1}));

  EXPECT_THAT(Do(transaction, FirstCampaignForAllBy("a", {kElection}), {.queue_max = 1}),
              AnswersElectedInAll(Names{kElection}));
}

// --- The session ---

TEST(SetSessionTest, TheSessionIsOpenedEvenIfASeatIsBlocked) {
  auto transaction = Given(LedBy("b", Term{7}), Alive("c"));

  const auto answer = Do(transaction, FirstCampaignForAllBy("a", {kElection}));

  EXPECT_EQ(std::get<CampaignForAllAnswer>(*answer).session, SessionIn(transaction, "a"));
  EXPECT_EQ(SessionIn(transaction, "a"), (Session{.id = Id("a"),
                                                  .candidate = "a",
                                                  .lease_ttl = kLease,
                                                  .opened_at = kNow,
                                                  .lease_ttl_asked = kLease,
                                                  .lease_ttl_since = kNow,
                                                  .moves = 1}));
}

TEST(SetSessionTest, ASessionThatMayNotCampaignChangesNothing) {
  auto transaction = Given(VacantAfter(Term{7}), In(kEurope, kUnknown),
                           Ended("b", Cause::kSessionClosed), Alive("c"));
  const auto before = transaction;
  auto by_another_name = CampaignForAllBy("c", {kElection, kEurope});
  by_another_name.candidate = "d";
  auto opened_by_another_name = FirstCampaignForAllBy("c", {kElection, kEurope});
  opened_by_another_name.opening->candidate = "d";

  EXPECT_THAT(Do(transaction, CampaignForAllBy("a", {kElection, kEurope})),
              FailsWith(Reason::kSessionNotFound));
  EXPECT_THAT(Do(transaction, CampaignForAllBy("b", {kElection, kEurope})),
              FailsWith(Reason::kSessionEnded, "cause", "SESSION_CLOSED"));
  EXPECT_THAT(Do(transaction, by_another_name), FailsWith(Reason::kInvalidCandidate));
  EXPECT_THAT(Do(transaction, opened_by_another_name), FailsWith(Reason::kInvalidCandidate));
  EXPECT_THAT(transaction, IsSameAs(before));
}

struct SetLease {
  std::string name;
  Settings here;
  Settings there;
  Duration lease_ttl;
};

class SetLeaseTest : public ::testing::TestWithParam<SetLease> {};

TEST_P(SetLeaseTest, TheStrictestElectionSetsTheLease) {
  auto transaction = Given(VacantAfter(Term{7}), WithSettings(GetParam().here),
                           In(kEurope, VacantAfter(Term{3}), WithSettings(GetParam().there)));
  auto campaign = FirstCampaignForAllBy("a", {kElection, kEurope});
  campaign.opening->lease_ttl.reset();

  EXPECT_THAT(Do(transaction, campaign), AnswersElectedInAll(Names{kElection, kEurope}));

  EXPECT_EQ(SessionIn(transaction, "a").lease_ttl, GetParam().lease_ttl);
  EXPECT_EQ(transaction.elections.at(kEurope).election.leader->lease_ttl, GetParam().lease_ttl);
}

INSTANTIATE_TEST_SUITE_P(
    Each, SetLeaseTest,
    ::testing::Values(
        SetLease{"TheDefaultOfTheServer", {}, {}, 10s},
        SetLease{"TheSmallerDefault", {.lease_ttl_default = 9s}, {.lease_ttl_default = 4s}, 4s},
        SetLease{"TheSmallerDefaultWhereverItIs",
                 {.lease_ttl_default = 4s},
                 {.lease_ttl_default = 9s},
                 4s},
        SetLease{
            "ALongerDefaultOfAll", {.lease_ttl_default = 30s}, {.lease_ttl_default = 40s}, 30s},
        SetLease{"TheBound", {.lease_ttl_max = 3s}, {.lease_ttl_default = 9s}, 3s}),
    [](const auto& info) { return info.param.name; });

TEST(SetLeaseTest, ALeaseLongerThanOneElectionAllowsIsRefused) {
  auto transaction = Given(VacantAfter(Term{7}), Alive("b"),
                           In(kEurope, VacantAfter(Term{3}), WithSettings({.lease_ttl_max = 9s})));
  const auto before = transaction;

  EXPECT_THAT(Do(transaction, FirstCampaignForAllBy("a", {kElection, kEurope})),
              FailsWith(Reason::kInvalidLeaseTtl));
  EXPECT_THAT(Do(transaction, CampaignForAllBy("b", {kElection, kEurope})),
              FailsWith(Reason::kInvalidLeaseTtl));
  EXPECT_THAT(transaction, IsSameAs(before));
}

TEST(SetLeaseTest, ALongerLeaseIsAcceptedWhereTheSessionAlreadyLeads) {
  auto transaction = Given(VacantAfter(Term{7}),
                           In(kEurope, LedBy("a", Term{3}), WithSettings({.lease_ttl_max = 9s})));

  EXPECT_THAT(Do(transaction, CampaignForAllBy("a", {kElection, kEurope})),
              AnswersElectedInAll(Names{kElection, kEurope}));
}

// --- Withdrawals ---

TEST(SetWithdrawalTest, SeatsAreKept) {
  auto transaction = Given(In(kEurope, kUnknown));
  (void)Do(transaction, FirstCampaignForAllBy("a", {kElection, kEurope}, {.call_id = {5}}));
  Withdraw in_europe = WithdrawalBy("a", CallId{5});
  in_europe.election = kEurope;

  (void)Do(transaction, WithdrawalBy("a", CallId{5}));
  (void)Do(transaction, in_europe);

  EXPECT_THAT(transaction, IsLedBy("a", Term{1}));
  EXPECT_EQ(LeaderOf(transaction, kEurope), "a");
}

}  // namespace
}  // namespace tenure::testing
