// Adaptive leases: a candidate that lost its session while it lived gets a longer lease.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/law/law_testing.h"

namespace tenure::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::IsEmpty;

const Limits kOff{.adaptive_leases = false};

// A lost session of "a" that had this lease.
Fact LostWithALeaseOf(Duration lease_ttl) {
  return [=](TransactionState& transaction) {
    Ended("a", Cause::kExpired)(transaction);
    transaction.sessions[Id("a")].lease_ttl = lease_ttl;
  };
}

// The candidate's next session, after its last one was lost.
Campaign NextCampaign(std::optional<Duration> lease_ttl = kLease) {
  Campaign campaign = FirstCampaignBy("a/2");
  campaign.opening->lease_ttl = lease_ttl;
  campaign.opening->previous = Id("a");
  return campaign;
}

// --- Growth ---

struct Growth {
  std::string name;
  Duration lost;
  Duration asked;
  Duration given;
};

class GrowthTest : public ::testing::TestWithParam<Growth> {};

TEST_P(GrowthTest, APrematureExpiryGivesALongerLeaseWithinBounds) {
  auto transaction = Given(LostWithALeaseOf(GetParam().lost));

  EXPECT_THAT(Do(transaction, NextCampaign(GetParam().asked)), AnswersElected());

  const Session expected{.id = Id("a/2"),
                         .candidate = "a",
                         .lease_ttl = GetParam().given,
                         .opened_at = kNow,
                         .lease_ttl_asked = GetParam().asked,
                         .lease_ttl_since = kNow,
                         .moves = 1};
  EXPECT_EQ(SessionIn(transaction, "a/2"), expected);
  EXPECT_EQ(ElectionIn(transaction).leader->lease_ttl, GetParam().given);
  EXPECT_EQ(transaction.premature_expirations, 1);
}

INSTANTIATE_TEST_SUITE_P(
    Each, GrowthTest,
    ::testing::Values(Growth{"TwiceAsLong", 10s, 10s, 20s}, Growth{"AndTwiceAgain", 20s, 10s, 40s},
                      Growth{"ToEightTimesWhatWasAskedFor", 40s, 10s, 80s},
                      Growth{"AndNoLonger", 80s, 10s, 80s},
                      Growth{"OfAShorterOneToNoLessThanWhatIsAskedFor", 2s, 10s, 10s},
                      Growth{"OfALongerOneToEightTimesWhatIsAskedForNow", 60s, 2s, 16s}),
    [](const auto& info) { return info.param.name; });

TEST(GrowthTest, ACalmTimeBeforeTheLossCounts) {
  auto transaction = Given([](TransactionState& state) {
    LostWithALeaseOf(80s)(state);
    Session& lost = state.sessions[Id("a")];
    lost.lease_ttl_asked = 10s;
    lost.lease_ttl_since = DbTime{lost.ended_at.since_epoch - 1h};
  });

  (void)Do(transaction, NextCampaign(10s));

  EXPECT_EQ(SessionIn(transaction, "a/2").lease_ttl, 40s);
}

TEST(GrowthTest, ALongerLeaseStaysWithinTheServersMaximum) {
  auto transaction = Given(LostWithALeaseOf(kLease));

  (void)Do(transaction, NextCampaign(), {.lease_ttl_max = 15s});

  EXPECT_EQ(SessionIn(transaction, "a/2").lease_ttl, 15s);
}

TEST(GrowthTest, ALongerLeaseStaysWithinTheElectionsMaximum) {
  auto transaction =
      Given(VacantAfter(Term{7}), WithSettings({.lease_ttl_max = 12s}), LostWithALeaseOf(kLease));

  (void)Do(transaction, NextCampaign());

  EXPECT_EQ(SessionIn(transaction, "a/2").lease_ttl, 12s);
}

TEST(GrowthTest, ForASetTheStrictestElectionLimitsTheLongerLease) {
  const ElectionName other{"orders/eu"};
  auto transaction = Given(VacantAfter(Term{7}), LostWithALeaseOf(kLease),
                           In(other, VacantAfter(Term{3}), WithSettings({.lease_ttl_max = 12s})));
  auto campaign = FirstCampaignForAllBy("a/2", {kElection, other});
  campaign.opening->previous = Id("a");

  (void)Do(transaction, campaign);

  EXPECT_EQ(SessionIn(transaction, "a/2").lease_ttl, 12s);
  EXPECT_EQ(transaction.premature_expirations, 1);
}

TEST(GrowthTest, WithoutARequestedLeaseGrowthStartsFromTheDefault) {
  auto transaction = Given(LostWithALeaseOf(3s));

  (void)Do(transaction, NextCampaign(std::nullopt), {.lease_ttl_default = 3s});

  EXPECT_EQ(SessionIn(transaction, "a/2").lease_ttl, 6s);
  EXPECT_EQ(SessionIn(transaction, "a/2").lease_ttl_asked, 3s);
}

TEST(GrowthTest, WhenSwitchedOffPrematureExpiriesAreStillCounted) {
  auto transaction = Given(LostWithALeaseOf(kLease));

  (void)Do(transaction, NextCampaign(), kOff);

  EXPECT_EQ(SessionIn(transaction, "a/2").lease_ttl, kLease);
  EXPECT_EQ(transaction.premature_expirations, 1);
}

TEST(GrowthTest, ARetriedCallCountsOnce) {
  auto transaction = Given(LostWithALeaseOf(kLease));
  (void)Do(transaction, NextCampaign());
  const auto once = transaction;

  EXPECT_THAT(Do(transaction, NextCampaign()), AnswersElected());
  EXPECT_THAT(transaction, IsSameAs(once));
}

TEST(GrowthTest, APlaceInTheQueueHasTheLongerLease) {
  auto transaction = Given(LedBy("b", Term{7}), Expired("a"));

  EXPECT_THAT(Do(transaction, NextCampaign()), AnswersStanding());

  EXPECT_EQ(SessionIn(transaction, "a/2").lease_ttl, 2 * kLease);
  EXPECT_EQ(PlaceIn(transaction, "a/2").lease_ttl, 2 * kLease);
}

// --- No growth ---

struct NoGrowth {
  std::string name;
  Fact fact;
};

class NoGrowthTest : public ::testing::TestWithParam<NoGrowth> {};

TEST_P(NoGrowthTest, TheRequestedLeaseIsGiven) {
  auto transaction = Given(GetParam().fact);

  EXPECT_THAT(Do(transaction, NextCampaign()), AnswersElected());

  EXPECT_EQ(SessionIn(transaction, "a/2").lease_ttl, kLease);
  EXPECT_EQ(transaction.premature_expirations, 0);
  EXPECT_THAT(transaction.ended, IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(
    Each, NoGrowthTest,
    ::testing::Values(NoGrowth{"AfterASessionThatLives", Alive("a")},
                      NoGrowth{"AfterASessionThatIsForgotten", Forgotten("a")},
                      NoGrowth{"AfterASessionThatWasClosed", Ended("a", Cause::kSessionClosed)},
                      NoGrowth{"AfterASessionThatWasDeposed", Ended("a", Cause::kDeposed)},
                      NoGrowth{"AfterASessionThatWasSuperseded", Ended("a", Cause::kSuperseded)},
                      NoGrowth{"AfterTheSessionOfAnother",
                               [](TransactionState& transaction) {
                                 Ended("a", Cause::kExpired)(transaction);
                                 transaction.sessions[Id("a")].candidate = "b";
                               }}),
    [](const auto& info) { return info.param.name; });

TEST(NoGrowthTest, WithoutAPreviousSessionTheLeaseDoesNotGrow) {
  auto transaction = Given(Ended("a", Cause::kExpired));

  (void)Do(transaction, FirstCampaignBy("a/2"));

  EXPECT_EQ(SessionIn(transaction, "a/2").lease_ttl, kLease);
  EXPECT_EQ(transaction.premature_expirations, 0);
}

TEST(NoGrowthTest, ARefusedCampaignDoesNotGrowTheLease) {
  auto transaction = Given(LedBy("b", Term{7}), Ended("a", Cause::kExpired));
  const auto before = transaction;

  EXPECT_THAT(Do(transaction, NextCampaign(), {.queue_max = 0}), FailsWith(Reason::kQueueFull));
  EXPECT_THAT(transaction, IsSameAs(before));
}

}  // namespace
}  // namespace tenure::testing
