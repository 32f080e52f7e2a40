// Quotas: how many sessions and candidacies an identity may take on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/law/law_testing.h"

namespace tenure::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

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

// --- Elections ---

const Quota kTwoElections{.elections = 2};

TEST(ElectionQuotaTest, TheLastElectionWithinAQuotaIsCreatedAndTheNextIsNot) {
  const ElectionName europe{"orders/eu"};
  auto transaction = Given(In(europe, [](TransactionState&) {}), Using({.elections = 1}));
  Campaign next = As(kTwoElections, FirstCampaignBy("b"));
  next.election = europe;

  EXPECT_TRUE(Do(transaction, As(kTwoElections, FirstCampaignBy("a"))));
  const auto before = transaction;
  EXPECT_THAT(Do(transaction, next), IsOverTheLimitOf("2"));

  EXPECT_THAT(transaction, IsSameAs(before));
  EXPECT_EQ(ElectionIn(transaction).creator, "team");
}

TEST(ElectionQuotaTest, AnExistingElectionCountsForNobody) {
  auto transaction = Given(VacantAfter(Term{7}), Using({.elections = 2}));

  EXPECT_TRUE(Do(transaction, As(kTwoElections, FirstCampaignBy("a"))));

  EXPECT_EQ(ElectionIn(transaction).creator, "");
  EXPECT_EQ(transaction.usage.at("team").elections, 2u);
}

TEST(ElectionQuotaTest, ASetCountsTheElectionsThatItCreates) {
  const ElectionName europe{"orders/eu"};
  const ElectionName asia{"orders/asia"};
  const std::vector<ElectionName> all = {kElection, europe, asia};
  auto transaction = Given(VacantAfter(Term{7}), In(europe, [](TransactionState&) {}),
                           In(asia, [](TransactionState&) {}), Using({.elections = 1}));

  EXPECT_THAT(Do(transaction, As(kTwoElections, FirstCampaignForAllBy("a", all))),
              IsOverTheLimitOf("2"));
  EXPECT_FALSE(transaction.elections.at(europe).exists);
  EXPECT_TRUE(Do(transaction, As({.elections = 3}, FirstCampaignForAllBy("a", all))));
}

TEST(ElectionQuotaTest, ABlockedSetCreatesNoElection) {
  const ElectionName europe{"orders/eu"};
  auto transaction =
      Given(LedBy("x", Term{7}), In(europe, [](TransactionState&) {}), Using({.elections = 2}));

  EXPECT_TRUE(Do(transaction, As(kTwoElections, FirstCampaignForAllBy("a", {kElection, europe}))));

  EXPECT_FALSE(transaction.elections.at(europe).exists);
}

TEST(ElectionQuotaTest, AnElectionThatAnOperatorCreatesCountsForTheOperator) {
  auto transaction = Given(Using({.elections = 2}));
  Configure create = Creating();
  create.principal = {"team", kTwoElections};

  EXPECT_THAT(Do(transaction, create), IsOverTheLimitOf("2"));
  EXPECT_FALSE(StateIn(transaction).exists);
  create.principal = {"others", kTwoElections};
  EXPECT_THAT(Do(transaction, create), AnswersChanged());

  EXPECT_EQ(ElectionIn(transaction).creator, "others");
  EXPECT_EQ(transaction.usage.at("others").elections, 1u);
}

// Its row still exists.
TEST(ElectionQuotaTest, ADeletedElectionStillCountsForItsCreator) {
  auto transaction = Given(Using({.elections = 1}));
  ASSERT_TRUE(Do(transaction, As(kTwoElections, FirstCampaignBy("a"))));
  ASSERT_TRUE(Do(transaction, Deleting(Term{1})));
  EXPECT_EQ(ElectionIn(transaction).creator, "team");

  EXPECT_TRUE(Do(transaction, As(kTwoElections, CampaignBy("a"))));

  EXPECT_EQ(transaction.usage.at("team").elections, 2u);
}

TEST(ElectionQuotaTest, ADeletedElectionCountsForTheIdentityThatCreatesItAgain) {
  auto transaction = Given(Using({.elections = 1}));
  ASSERT_TRUE(Do(transaction, As(kTwoElections, FirstCampaignBy("a"))));
  ASSERT_TRUE(Do(transaction, Deleting(Term{1})));
  Campaign campaign = FirstCampaignBy("b");
  campaign.principal = {"others", {.elections = 0}};

  EXPECT_THAT(Do(transaction, campaign), IsOverTheLimitOf("0"));
  campaign.principal.quota.elections = 1;
  EXPECT_TRUE(Do(transaction, campaign));

  EXPECT_EQ(ElectionIn(transaction).creator, "others");
}

TEST(ElectionQuotaTest, ElectionsAreCountedOnlyForLimitedIdentities) {
  const Command unlimited = As({}, FirstCampaignBy("a"));
  const Command limited = As(kTwoElections, FirstCampaignBy("a"));
  Configure change = Configuring();
  change.principal = {"team", kTwoElections};
  const Command configure = change;
  change.create = true;
  const Command create = change;
  const auto creators = [](const Command& command) {
    return LockSetOf({&command}).elections.at(kElection).creators;
  };

  EXPECT_THAT(creators(unlimited), IsEmpty());
  EXPECT_THAT(creators(limited), ElementsAre("team"));
  EXPECT_THAT(LockSetOf({&limited}).identities, IsEmpty());
  EXPECT_THAT(creators(configure), IsEmpty());
  EXPECT_THAT(creators(create), ElementsAre("team"));
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
