// Quotas: how many sessions and candidacies an identity may take on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/law_testing.h"

namespace tenure::testing {
namespace {

const Quota kTwoSessions{.sessions = 2};
const Quota kTwoCandidacies{.candidacies = 2};

// What the identity "team" has taken on.
Fact Using(Usage usage) {
  return [usage](TransactionState& transaction) { transaction.usage["team"] = usage; };
}

Campaign As(const Quota& quota, Campaign campaign) {
  campaign.principal = {"team", quota};
  return campaign;
}

CampaignForAll As(const Quota& quota, CampaignForAll campaign) {
  campaign.principal = {"team", quota};
  return campaign;
}

auto IsOverTheLimitOf(const std::string& limit) {
  return FailsWith(Reason::kLimitReached, "limit", limit);
}

TEST(QuotaTest, ASessionBelongsToTheIdentityThatOpenedIt) {
  auto transaction = Given();

  (void)Do(transaction, As({}, FirstCampaignBy("a")));

  EXPECT_EQ(SessionIn(transaction, "a").identity, "team");
}

TEST(QuotaTest, TheLastSessionWithinAQuotaIsOpenedAndTheNextIsNot) {
  auto transaction = Given(Using({.sessions = 1}));

  EXPECT_TRUE(Do(transaction, As(kTwoSessions, FirstCampaignBy("a"))).has_value());
  const auto before = transaction;
  EXPECT_THAT(Do(transaction, As(kTwoSessions, FirstCampaignBy("b"))), IsOverTheLimitOf("2"));

  EXPECT_THAT(transaction, IsSameAs(before));
}

TEST(QuotaTest, AQuotaOfZeroAllowsNothing) {
  auto transaction = Given();

  EXPECT_THAT(Do(transaction, As({.sessions = 0}, FirstCampaignBy("a"))), IsOverTheLimitOf("0"));
}

TEST(QuotaTest, AnOpenSessionIsNotCountedAgain) {
  auto transaction = Given(Waiting("a"), Using({.sessions = 2}));

  EXPECT_TRUE(Do(transaction, As(kTwoSessions, CampaignBy("a"))).has_value());
}

TEST(QuotaTest, TheLastCandidacyWithinAQuotaIsAcceptedAndTheNextIsNot) {
  auto transaction = Given(LedBy("x", Term{7}), Using({.candidacies = 1}));

  EXPECT_TRUE(Do(transaction, As(kTwoCandidacies, FirstCampaignBy("a"))).has_value());
  EXPECT_THAT(Do(transaction, As(kTwoCandidacies, FirstCampaignBy("b"))), IsOverTheLimitOf("2"));

  EXPECT_THAT(QueueIn(transaction), ::testing::ElementsAre("a"));
}

TEST(QuotaTest, ACandidateThatAlreadyStandsMayCampaignAgainDespiteItsQuota) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b"), Using({.candidacies = 9}));

  EXPECT_TRUE(Do(transaction, As(kTwoCandidacies, CampaignBy("a"))).has_value());
  EXPECT_TRUE(Do(transaction, As(kTwoCandidacies, CampaignBy("b"))).has_value());
}

TEST(QuotaTest, ASupersedingSessionUsesNoMoreThanTheOlderOneDid) {
  auto transaction = Given(LedBy("s/1", Term{7}), Using({.sessions = 2, .candidacies = 2}));
  transaction.sessions.at(Id("s/1")).identity = "team";

  EXPECT_TRUE(
      Do(transaction, As({.sessions = 2, .candidacies = 2}, Superseding(FirstCampaignBy("s/2"))))
          .has_value());
}

TEST(IdentityTest, NobodySupersedesTheSessionOfAnotherIdentity) {
  auto transaction = Given(LedBy("s/1", Term{7}));
  transaction.sessions.at(Id("s/1")).identity = "others";

  const auto answer = Do(transaction, As({}, Superseding(FirstCampaignBy("s/2"))));

  EXPECT_FALSE(std::get<CampaignAnswer>(*answer).elected);
  EXPECT_EQ(SessionIn(transaction, "s/1").ended, Cause::kNone);
  EXPECT_THAT(transaction, IsLedBy("s/1", Term{7}));
}

TEST(QuotaTest, ASetCountsEachOfItsElections) {
  const ElectionName europe{"orders/eu"};
  auto transaction = Given(In(europe, [](TransactionState&) {}), Using({.candidacies = 1}));

  EXPECT_THAT(Do(transaction, As(kTwoCandidacies, FirstCampaignForAllBy("a", {kElection, europe}))),
              IsOverTheLimitOf("2"));
  EXPECT_TRUE(
      Do(transaction, As({.candidacies = 3}, FirstCampaignForAllBy("a", {kElection, europe})))
          .has_value());
}

TEST(QuotaTest, IdentitiesAreCountedSeparately) {
  auto transaction = Given(Using({.sessions = 2}));
  Campaign campaign = FirstCampaignBy("a");
  campaign.principal = {"others", kTwoSessions};

  EXPECT_TRUE(Do(transaction, campaign).has_value());
}

TEST(QuotaTest, UsageIsReadOnlyIfThereIsAQuota) {
  const Command unlimited = As({}, FirstCampaignBy("a"));
  const Command limited = As(kTwoSessions, FirstCampaignBy("a"));

  EXPECT_THAT(LockSetOf({&unlimited}).identities, IsEmpty());
  EXPECT_THAT(LockSetOf({&limited}).identities, ElementsAre("team"));
}

}  // namespace
}  // namespace tenure::testing
