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
  return [usage](Docket& docket) { docket.usage["team"] = usage; };
}

Campaign As(const Quota& quota, Campaign campaign) {
  campaign.claimant = {"team", quota};
  return campaign;
}

CampaignForAll As(const Quota& quota, CampaignForAll campaign) {
  campaign.claimant = {"team", quota};
  return campaign;
}

auto IsOverTheLimitOf(const std::string& limit) {
  return FailsWith(Reason::kLimitReached, "limit", limit);
}

TEST(QuotaTest, ASessionBelongsToTheIdentityThatOpenedIt) {
  auto docket = Given();

  (void)Do(docket, As({}, FirstCampaignBy("a")));

  EXPECT_EQ(SessionIn(docket, "a").identity, "team");
}

TEST(QuotaTest, TheLastSessionWithinAQuotaIsOpenedAndTheNextIsNot) {
  auto docket = Given(Using({.sessions = 1}));

  EXPECT_TRUE(Do(docket, As(kTwoSessions, FirstCampaignBy("a"))).has_value());
  const auto before = docket;
  EXPECT_THAT(Do(docket, As(kTwoSessions, FirstCampaignBy("b"))), IsOverTheLimitOf("2"));

  EXPECT_THAT(docket, IsSameAs(before));
}

TEST(QuotaTest, AQuotaOfZeroAllowsNothing) {
  auto docket = Given();

  EXPECT_THAT(Do(docket, As({.sessions = 0}, FirstCampaignBy("a"))), IsOverTheLimitOf("0"));
}

TEST(QuotaTest, AnOpenSessionIsNotCountedAgain) {
  auto docket = Given(Waiting("a"), Using({.sessions = 2}));

  EXPECT_TRUE(Do(docket, As(kTwoSessions, CampaignBy("a"))).has_value());
}

TEST(QuotaTest, TheLastCandidacyWithinAQuotaIsAcceptedAndTheNextIsNot) {
  auto docket = Given(LedBy("x", Term{7}), Using({.candidacies = 1}));

  EXPECT_TRUE(Do(docket, As(kTwoCandidacies, FirstCampaignBy("a"))).has_value());
  EXPECT_THAT(Do(docket, As(kTwoCandidacies, FirstCampaignBy("b"))), IsOverTheLimitOf("2"));

  EXPECT_THAT(QueueIn(docket), ::testing::ElementsAre("a"));
}

TEST(QuotaTest, ACandidateThatAlreadyStandsMayCampaignAgainDespiteItsQuota) {
  auto docket = Given(LedBy("a", Term{7}), Waiting("b"), Using({.candidacies = 9}));

  EXPECT_TRUE(Do(docket, As(kTwoCandidacies, CampaignBy("a"))).has_value());
  EXPECT_TRUE(Do(docket, As(kTwoCandidacies, CampaignBy("b"))).has_value());
}

TEST(QuotaTest, ASupersedingSessionUsesNoMoreThanTheOlderOneDid) {
  auto docket = Given(LedBy("s/1", Term{7}), Using({.sessions = 2, .candidacies = 2}));
  docket.sessions.at(Id("s/1")).identity = "team";

  EXPECT_TRUE(Do(docket, As({.sessions = 2, .candidacies = 2}, Superseding(FirstCampaignBy("s/2"))))
                  .has_value());
}

TEST(IdentityTest, NobodySupersedesTheSessionOfAnotherIdentity) {
  auto docket = Given(LedBy("s/1", Term{7}));
  docket.sessions.at(Id("s/1")).identity = "others";

  const auto answer = Do(docket, As({}, Superseding(FirstCampaignBy("s/2"))));

  EXPECT_FALSE(std::get<CampaignAnswer>(*answer).elected);
  EXPECT_EQ(SessionIn(docket, "s/1").ended, Cause::kNone);
  EXPECT_THAT(docket, IsLedBy("s/1", Term{7}));
}

TEST(QuotaTest, ASetCountsEachOfItsElections) {
  const ElectionName europe{"orders/eu"};
  auto docket = Given(In(europe, [](Docket&) {}), Using({.candidacies = 1}));

  EXPECT_THAT(Do(docket, As(kTwoCandidacies, FirstCampaignForAllBy("a", {kElection, europe}))),
              IsOverTheLimitOf("2"));
  EXPECT_TRUE(Do(docket, As({.candidacies = 3}, FirstCampaignForAllBy("a", {kElection, europe})))
                  .has_value());
}

TEST(QuotaTest, IdentitiesAreCountedSeparately) {
  auto docket = Given(Using({.sessions = 2}));
  Campaign campaign = FirstCampaignBy("a");
  campaign.claimant = {"others", kTwoSessions};

  EXPECT_TRUE(Do(docket, campaign).has_value());
}

TEST(QuotaTest, UsageIsReadOnlyIfThereIsAQuota) {
  const Command unlimited = As({}, FirstCampaignBy("a"));
  const Command limited = As(kTwoSessions, FirstCampaignBy("a"));

  EXPECT_THAT(LockSetOf({&unlimited}).identities, IsEmpty());
  EXPECT_THAT(LockSetOf({&limited}).identities, ElementsAre("team"));
}

}  // namespace
}  // namespace tenure::testing
