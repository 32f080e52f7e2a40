// Settings of an election: Configure, and what lock_delay, min_hold, the leases and queue_max do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/law/law_testing.h"

namespace tenure::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Optional;

// --- Configure ---

struct Change {
  std::string name;
  Configure command;
  Settings settings;
  std::string detail;
};

Configure With(const std::function<void(Configure&)>& change) {
  Configure configure = Configuring();
  change(configure);
  return configure;
}

class ConfigureTest : public ::testing::TestWithParam<Change> {};

TEST_P(ConfigureTest, GivenSettingsAreChangedAndRecorded) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b"));
  auto expected = ElectionIn(transaction);
  expected.settings = GetParam().settings;

  const auto answer = Do(transaction, GetParam().command);

  EXPECT_THAT(answer, AnswersChanged());
  EXPECT_EQ(ElectionIn(transaction), expected);
  EXPECT_EQ(std::get<AdminAnswer>(*answer).election, expected);
  EXPECT_THAT(transaction.events, IsEmpty());
  EXPECT_THAT(transaction.admin_changes,
              ElementsAre(Recorded(AdminAction::kConfigured, Term{7}, GetParam().detail)));
}

INSTANTIATE_TEST_SUITE_P(
    Each, ConfigureTest,
    ::testing::Values(Change{"LockDelay",
                             With([](Configure& it) { it.lock_delay = 5s; }),
                             {.lock_delay = 5s},
                             "lock_delay 5s"},
                      Change{"MinHold",
                             With([](Configure& it) { it.min_hold = 1500ms; }),
                             {.min_hold = 1500ms},
                             "min_hold 1500ms"},
                      Change{"LeaseTtlDefault",
                             With([](Configure& it) { it.lease_ttl_default = 3s; }),
                             {.lease_ttl_default = 3s},
                             "lease_ttl_default 3s"},
                      Change{"LeaseTtlMax",
                             With([](Configure& it) { it.lease_ttl_max = 30s; }),
                             {.lease_ttl_max = 30s},
                             "lease_ttl_max 30s"},
                      Change{"QueueMax",
                             With([](Configure& it) { it.queue_max = 9; }),
                             {.queue_max = 9},
                             "queue_max 9"},
                      Change{"Several",
                             With([](Configure& it) {
                               it.lock_delay = 5s;
                               it.queue_max = 9;
                             }),
                             {.lock_delay = 5s, .queue_max = 9},
                             "lock_delay 5s, queue_max 9"}),
    [](const auto& info) { return info.param.name; });

TEST(ConfigureTest, OtherSettingsStayAsTheyAre) {
  auto transaction = Given(LedBy("a", Term{7}), WithSettings({.lock_delay = 5s, .min_hold = 1h}));

  (void)Do(transaction, With([](Configure& it) { it.lock_delay = 0s; }));

  EXPECT_EQ(ElectionIn(transaction).settings, Settings{.min_hold = 1h});
  EXPECT_THAT(transaction.admin_changes,
              ElementsAre(Recorded(AdminAction::kConfigured, Term{7}, "lock_delay 0ms")));
}

TEST(ConfigureTest, TheCurrentSettingsChangeNothing) {
  auto transaction = Given(LedBy("a", Term{7}), WithSettings({.lock_delay = 5s}));
  const auto before = transaction;

  EXPECT_THAT(Do(transaction, With([](Configure& it) { it.lock_delay = 5s; })), AnswersUnchanged());
  EXPECT_THAT(Do(transaction, Configuring()), AnswersUnchanged());
  EXPECT_THAT(Do(transaction, Creating()), AnswersUnchanged());
  EXPECT_THAT(transaction, IsSameAs(before));
}

TEST(ConfigureTest, AnUnknownElectionIsRefused) {
  auto transaction = Given();
  const auto before = transaction;

  EXPECT_THAT(Do(transaction, With([](Configure& it) { it.queue_max = 9; })),
              FailsWith(Reason::kElectionNotFound));
  EXPECT_THAT(transaction, IsSameAs(before));
}

TEST(ConfigureTest, ConfiguringCanCreateAnElection) {
  auto transaction = Given();

  EXPECT_THAT(Do(transaction, Creating()), AnswersChanged());

  EXPECT_TRUE(StateIn(transaction).exists);
  EXPECT_THAT(transaction, IsVacantAfter(Term{0}));
  EXPECT_EQ(ElectionIn(transaction).revision, Revision{0});
  EXPECT_THAT(transaction.admin_changes,
              ElementsAre(Recorded(AdminAction::kConfigured, Term{0}, "")));
  EXPECT_THAT(Do(transaction, Creating()), AnswersUnchanged());
}

TEST(ConfigureTest, SettingsOfACreatedElectionApplyToItsFirstCampaign) {
  auto transaction = Given();
  Configure command = Creating();
  command.lease_ttl_default = 3s;
  (void)Do(transaction, command);
  Campaign campaign = FirstCampaignBy("a");
  campaign.opening->lease_ttl.reset();

  EXPECT_THAT(Do(transaction, campaign), AnswersElected());

  EXPECT_EQ(SessionIn(transaction, "a").lease_ttl, 3s);
}

// --- lock_delay ---

const Fact kLockDelayOf5s = WithSettings({.lock_delay = 5s});

TEST(LockDelayTest, TheSeatStaysEmptyForTheDelayAfterAnExpiry) {
  auto transaction =
      Given(LedBy("a", Term{7}), Waiting("b"), kLockDelayOf5s, Expired("a"), Alive("b"));

  (void)Do(transaction, Reconciliation());
  EXPECT_THAT(transaction, IsVacantAfter(Term{7}));
  EXPECT_THAT(ElectionIn(transaction).wake_at, Optional(kNow + 5s));

  transaction.now = kNow + 5s + -kInstant;
  (void)Do(transaction, Reconciliation());
  EXPECT_THAT(transaction, IsVacantAfter(Term{7}));

  transaction.now = kNow + 5s;
  (void)Do(transaction, Reconciliation());
  EXPECT_THAT(transaction, IsLedBy("b", Term{8}));
  EXPECT_EQ(ElectionIn(transaction).wake_at, std::nullopt);
  EXPECT_EQ(ElectionIn(transaction).vacant_until, DbTime{});
}

TEST(LockDelayTest, CandidatesThatCampaignMeanwhileWait) {
  auto transaction = Given(LedBy("a", Term{7}), kLockDelayOf5s, Expired("a"));

  EXPECT_THAT(Do(transaction, FirstCampaignBy("b")), AnswersStanding());

  EXPECT_THAT(transaction, IsVacantAfter(Term{7}));
  EXPECT_THAT(ElectionIn(transaction).wake_at, Optional(kNow + 5s));
}

TEST(LockDelayTest, WithoutWaitersNoWakeUpIsNeeded) {
  auto transaction = Given(LedBy("a", Term{7}), kLockDelayOf5s, Expired("a"));

  (void)Do(transaction, Reconciliation());

  EXPECT_EQ(ElectionIn(transaction).vacant_until, kNow + 5s);
  EXPECT_EQ(ElectionIn(transaction).wake_at, std::nullopt);
}

// How the last waiter of a vacant seat may leave.
const std::map<std::string, Command>& LastDepartures() {
  static const std::map<std::string, Command> departures = {
      {"Resignation", ResignBy("b")},
      {"Withdrawal", WithdrawalBy("b", CallId{5})},
      {"Settlement", ReconciliationOf("b")},
  };
  return departures;
}

class LastDepartureTest : public ::testing::TestWithParam<std::pair<const std::string, Command>> {};

TEST_P(LastDepartureTest, TheLastDepartureCancelsTheWakeUp) {
  auto transaction =
      Given(VacantAfter(Term{7}), Waiting("b", {.call_id = {5}}), VacantUntil(kNow + 5s));
  (void)Do(transaction, Reconciliation());
  if (GetParam().first == "Settlement") Ended("b", Cause::kSessionClosed)(transaction);

  (void)Do(transaction, GetParam().second);
  EXPECT_EQ(ElectionIn(transaction).waiting, 0);
  EXPECT_EQ(ElectionIn(transaction).wake_at, std::nullopt);

  const auto once = transaction;
  (void)Do(transaction, GetParam().second);
  EXPECT_THAT(transaction, IsSameAs(once));
}

INSTANTIATE_TEST_SUITE_P(Each, LastDepartureTest, ::testing::ValuesIn(LastDepartures()),
                         [](const auto& info) { return info.param.first; });

TEST(LockDelayTest, AFullQueueAdmitsNobodyDuringTheDelay) {
  auto transaction = Given(VacantAfter(Term{7}), VacantUntil(kNow + 5s));

  EXPECT_THAT(Do(transaction, FirstCampaignBy("b"), {.queue_max = 0}),
              FailsWith(Reason::kQueueFull));
}

struct Ending {
  std::string name;
  Fact fact;
  Command command;
  Cause cause;
};

std::vector<Ending> UncleanEndings() {
  return {{"Expiry", Expired("a"), Reconciliation(), Cause::kExpired},
          {"ALostSession", Forgotten("a"), Reconciliation(), Cause::kExpired},
          {"Deposition", Alive("a"), Deposing(Term{7}), Cause::kDeposed},
          {"ADeposedSession", Ended("a", Cause::kDeposed), Reconciliation(), Cause::kDeposed}};
}

std::vector<Ending> CleanEndings() {
  return {
      {"Resignation", Alive("a"), ResignBy("a"), Cause::kResigned},
      {"AClosedSession", Ended("a", Cause::kSessionClosed), Reconciliation(),
       Cause::kSessionClosed},
      {"ASupersededSession", Ended("a", Cause::kSuperseded), Reconciliation(), Cause::kSuperseded},
      {"Superseding", Alive("a"), Superseding(FirstCampaignBy("a/2", {.priority = -1})),
       Cause::kSuperseded},
      {"Appointment", Alive("a"), AppointingByForce("b", Term{7}), Cause::kAppointedAway}};
}

constexpr auto kEndingName = [](const auto& info) { return info.param.name; };

class UncleanEndingTest : public ::testing::TestWithParam<Ending> {};

TEST_P(UncleanEndingTest, AnUncleanEndIsFollowedByLockDelayAndNeverByMinHold) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b"), ElectedAt(kNow),
                           WithSettings({.lock_delay = 5s, .min_hold = 1h}), GetParam().fact);

  (void)Do(transaction, GetParam().command);

  EXPECT_THAT(transaction.events,
              ElementsAre(Vacated("a", GetParam().cause, Term{7}, Revision{14})));
  EXPECT_EQ(ElectionIn(transaction).vacant_until, kNow + 5s);
  EXPECT_THAT(ElectionIn(transaction).wake_at, Optional(kNow + 5s));
}

INSTANTIATE_TEST_SUITE_P(Each, UncleanEndingTest, ::testing::ValuesIn(UncleanEndings()),
                         kEndingName);

class CleanEndingTest : public ::testing::TestWithParam<Ending> {};

TEST_P(CleanEndingTest, ACleanEndIsNotFollowedByLockDelay) {
  auto transaction =
      Given(LedBy("a", Term{7}, {.call_id = {5}}), Waiting("b"), kLockDelayOf5s, GetParam().fact);

  (void)Do(transaction, GetParam().command);

  EXPECT_THAT(transaction.events, ElementsAre(Vacated("a", GetParam().cause, Term{7}, Revision{14}),
                                              Elected("b", Term{8}, Revision{15})));
}

INSTANTIATE_TEST_SUITE_P(Each, CleanEndingTest, ::testing::ValuesIn(CleanEndings()), kEndingName);

// --- min_hold ---

const Fact kMinHoldOf30s = WithSettings({.min_hold = 30s});

std::vector<Ending> VoluntaryEndings() {
  return {{"Resignation", Alive("a"), ResignBy("a"), Cause::kResigned},
          {"AClosedSession", Ended("a", Cause::kSessionClosed), Reconciliation(),
           Cause::kSessionClosed}};
}

class VoluntaryEndingTest : public ::testing::TestWithParam<Ending> {};

TEST_P(VoluntaryEndingTest, AResignationBeforeMinHoldLeavesTheSeatEmptyUntilThen) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b"), ElectedAt(kNow + -25s), kMinHoldOf30s,
                           GetParam().fact);

  (void)Do(transaction, GetParam().command);
  EXPECT_THAT(transaction.events,
              ElementsAre(Vacated("a", GetParam().cause, Term{7}, Revision{14})));
  EXPECT_THAT(ElectionIn(transaction).wake_at, Optional(kNow + 5s));

  transaction.now = kNow + 5s;
  (void)Do(transaction, Reconciliation());
  EXPECT_THAT(transaction, IsLedBy("b", Term{8}));
}

TEST_P(VoluntaryEndingTest, AResignationAfterMinHoldPassesTheSeatAtOnce) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b"), ElectedAt(kNow + -30s), kMinHoldOf30s,
                           GetParam().fact);

  (void)Do(transaction, GetParam().command);

  EXPECT_THAT(transaction, IsLedBy("b", Term{8}));
}

INSTANTIATE_TEST_SUITE_P(Each, VoluntaryEndingTest, ::testing::ValuesIn(VoluntaryEndings()),
                         kEndingName);

TEST(MinHoldTest, CandidatesThatResignedAreNotReelectedBeforeMinHold) {
  auto transaction = Given(LedBy("a", Term{7}), ElectedAt(kNow), kMinHoldOf30s);

  EXPECT_THAT(Do(transaction, ResignBy("a")), AnswersResigned(Term{7}));

  EXPECT_THAT(Do(transaction, CampaignBy("a")), AnswersStanding());
  EXPECT_THAT(ElectionIn(transaction).wake_at, Optional(kNow + 30s));
}

TEST(MinHoldTest, AClockThatStepsBackDoesNotExtendMinHold) {
  auto without = Given(LedBy("a", Term{7}), Waiting("b"), ElectedAt(kNow + 1h));
  auto with = Given(LedBy("a", Term{7}), Waiting("b"), ElectedAt(kNow + 1h), kMinHoldOf30s);

  (void)Do(without, ResignBy("a"));
  (void)Do(with, ResignBy("a"));

  EXPECT_THAT(without, IsLedBy("b", Term{8}));
  EXPECT_THAT(with, IsVacantAfter(Term{7}));
  EXPECT_THAT(ElectionIn(with).wake_at, Optional(kNow + 30s));
}

// --- queue_max ---

struct QueueBound {
  std::string name;
  uint64_t of_election;
  uint64_t of_server;
  std::string limit;
};

class QueueBoundTest : public ::testing::TestWithParam<QueueBound> {};

TEST_P(QueueBoundTest, TheStricterLimitOfElectionAndServerApplies) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b"), Waiting("c"),
                           WithSettings({.queue_max = GetParam().of_election}));

  EXPECT_THAT(Do(transaction, FirstCampaignBy("d"), {.queue_max = GetParam().of_server}),
              FailsWith(Reason::kQueueFull, "limit", GetParam().limit));
}

INSTANTIATE_TEST_SUITE_P(Each, QueueBoundTest,
                         ::testing::Values(QueueBound{"OfTheElection", 2, 9, "2"},
                                           QueueBound{"OfTheServer", 9, 2, "2"},
                                           QueueBound{"OfTheServerAlone", 0, 2, "2"},
                                           QueueBound{"SetBelowTheQueue", 1, 9, "1"}),
                         [](const auto& info) { return info.param.name; });

TEST(QueueMaxTest, ThereIsRoomUpToTheLimit) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b"), WithSettings({.queue_max = 2}));

  EXPECT_THAT(Do(transaction, FirstCampaignBy("c")), AnswersStanding());
}

TEST(QueueMaxTest, ALimitBelowTheQueueLengthRemovesNobody) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b"), Waiting("c"));

  (void)Do(transaction, With([](Configure& it) { it.queue_max = 1; }));

  EXPECT_THAT(Do(transaction, CampaignBy("c")), AnswersStanding());
  EXPECT_THAT(QueueIn(transaction), ElementsAre("b", "c"));
}

// --- Leases ---

const Limits kServer{.lease_ttl_max = 60s, .lease_ttl_default = 10s};

struct LeaseGiven {
  std::string name;
  std::optional<Duration> asked;
  Settings settings;
  Duration lease_ttl;
};

class LeaseGivenTest : public ::testing::TestWithParam<LeaseGiven> {};

TEST_P(LeaseGivenTest, TheLeaseIsWithinTheLimitsOfElectionAndServer) {
  auto transaction = Given(VacantAfter(Term{7}), WithSettings(GetParam().settings));
  Campaign campaign = FirstCampaignBy("a");
  campaign.opening->lease_ttl = GetParam().asked;

  EXPECT_THAT(Do(transaction, campaign, kServer), AnswersElected());

  EXPECT_EQ(SessionIn(transaction, "a").lease_ttl, GetParam().lease_ttl);
  EXPECT_EQ(SessionIn(transaction, "a").lease_ttl_asked, GetParam().lease_ttl);
  EXPECT_EQ(ElectionIn(transaction).leader->lease_ttl, GetParam().lease_ttl);
}

INSTANTIATE_TEST_SUITE_P(
    Each, LeaseGivenTest,
    ::testing::Values(
        LeaseGiven{"TheDefaultOfTheServer", std::nullopt, {}, 10s},
        LeaseGiven{"TheDefaultOfTheElection", std::nullopt, {.lease_ttl_default = 3s}, 3s},
        LeaseGiven{"TheDefaultWithinTheBoundOfTheElection",
                   std::nullopt,
                   {.lease_ttl_default = 30s, .lease_ttl_max = 20s},
                   20s},
        LeaseGiven{"TheDefaultOfTheServerWithinTheBoundOfTheElection",
                   std::nullopt,
                   {.lease_ttl_max = 5s},
                   5s},
        LeaseGiven{"TheDefaultWithinTheBoundOfTheServer",
                   std::nullopt,
                   {.lease_ttl_default = 2h, .lease_ttl_max = 3h},
                   60s},
        LeaseGiven{"WhatIsAskedForUpToTheBoundOfTheElection", 20s, {.lease_ttl_max = 20s}, 20s},
        LeaseGiven{"WhatIsAskedForUpToTheBoundOfTheServer", 60s, {.lease_ttl_max = 2h}, 60s},
        LeaseGiven{"LessThanTheDefaultIfAskedFor", 3s, {.lease_ttl_default = 20s}, 3s}),
    [](const auto& info) { return info.param.name; });

MATCHER_P(FailsWithALeaseOfAtMost, max_ms, "") {
  const std::map<std::string, std::string> metadata{{"min_ms", "1000"}, {"max_ms", max_ms}};
  return !arg && arg.error().reason == Reason::kInvalidLeaseTtl && arg.error().metadata == metadata;
}

TEST(LeaseTtlMaxTest, ALeaseLongerThanTheElectionAllowsIsRefused) {
  auto transaction = Given(VacantAfter(Term{7}), WithSettings({.lease_ttl_max = 5s}));
  const auto before = transaction;

  EXPECT_THAT(Do(transaction, FirstCampaignBy("a"), kServer), FailsWithALeaseOfAtMost("5000"));
  EXPECT_THAT(transaction, IsSameAs(before));
}

TEST(LeaseTtlMaxTest, TheElectionCannotRaiseTheServersMaximum) {
  auto transaction = Given(VacantAfter(Term{7}), WithSettings({.lease_ttl_max = 2h}));
  Campaign campaign = FirstCampaignBy("a");
  campaign.opening->lease_ttl = 60s + kInstant;

  EXPECT_THAT(Do(transaction, campaign, kServer), FailsWithALeaseOfAtMost("60000"));
}

TEST(LeaseTtlMaxTest, ASessionWithALongerLeaseThanTheElectionAllowsIsRefused) {
  auto transaction = Given(VacantAfter(Term{7}), Alive("a"), WithSettings({.lease_ttl_max = 5s}));
  const auto before = transaction;

  EXPECT_THAT(Do(transaction, CampaignBy("a"), kServer), FailsWithALeaseOfAtMost("5000"));
  EXPECT_THAT(transaction, IsSameAs(before));
}

TEST(LeaseTtlMaxTest, ACandidateThatAlreadyStandsMayCampaignAfterTheMaximumIsLowered) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b"), WithSettings({.lease_ttl_max = 5s}));

  EXPECT_THAT(Do(transaction, CampaignBy("a"), kServer), AnswersElected());
  EXPECT_THAT(Do(transaction, CampaignBy("b"), kServer), AnswersStanding());
}

}  // namespace
}  // namespace tenure::testing
