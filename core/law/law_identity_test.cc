// With a policy, a session belongs to the identity that opened it. To all others it does not exist.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/law/law_testing.h"

namespace tenure::testing {
namespace {

using namespace std::chrono_literals;

const Principal kTeam{"team", {}};
const Principal kOthers{"others", {}};
const Principal kWithoutPolicy;

Fact OpenedBy(const std::string& identity, std::string name) {
  return
      [=](TransactionState& transaction) { transaction.sessions.at(Id(name)).identity = identity; };
}

template <typename It>
It As(const Principal& principal, It command) {
  command.principal = principal;
  return command;
}

// A way to use a session.
struct Use {
  const char* name;
  std::function<bool(TransactionState&, const Principal&)> does;
};

void PrintTo(const Use& use, std::ostream* out) { *out << use.name; }

// True if it succeeded, false if the session does not exist.
template <typename T>
bool Done(const Result<T>& result) {
  const Reason reason = result ? Reason::kSessionNotFound : result.error().reason;
  EXPECT_EQ(reason, Reason::kSessionNotFound);
  return result.has_value();
}

const Use kUses[] = {
    {"Campaigns", [](auto& it, const auto& as) { return Done(Do(it, As(as, CampaignBy("a")))); }},
    {"CampaignsAsItsCandidate",
     [](auto& it, const auto& as) { return Done(Do(it, As(as, Superseding(CampaignBy("a"))))); }},
    {"CampaignsAsIfToOpenIt",
     [](auto& it, const auto& as) { return Done(Do(it, As(as, FirstCampaignBy("a")))); }},
    {"CampaignsForASet",
     [](auto& it, const auto& as) {
       return Done(Do(it, As(as, CampaignForAllBy("a", {kElection}))));
     }},
    {"CampaignsForASetAsIfToOpenIt",
     [](auto& it, const auto& as) {
       return Done(Do(it, As(as, FirstCampaignForAllBy("a", {kElection}))));
     }},
    {"Proclaims",
     [](auto& it, const auto& as) { return Done(Do(it, As(as, ProclaimBy("a", Term{7}, "v")))); }},
    {"Resigns", [](auto& it, const auto& as) { return Done(Do(it, As(as, ResignBy("a")))); }},
    {"ResignsItsTerm",
     [](auto& it, const auto& as) { return Done(Do(it, As(as, ResignBy("a", Term{7})))); }},
    {"MovesItsSession", [](auto& it, const auto& as) { return Done(Adopt(it, Id("a"), as)); }},
    {"Closes",
     [](auto& it, const auto& as) {
       return Done(EndSession(it, Id("a"), Cause::kSessionClosed, as));
     }},
};

class SessionUseTest : public ::testing::TestWithParam<Use> {
 protected:
  static bool Does(TransactionState& transaction, const Principal& principal) {
    return GetParam().does(transaction, principal);
  }
};

INSTANTIATE_TEST_SUITE_P(All, SessionUseTest, ::testing::ValuesIn(kUses),
                         [](const auto& each) { return each.param.name; });

TEST_P(SessionUseTest, ItsIdentityMayUseIt) {
  auto transaction = Given(LedBy("a", Term{7}), OpenedBy("team", "a"));

  EXPECT_TRUE(Does(transaction, kTeam));
}

TEST_P(SessionUseTest, ToAnotherIdentityItIsNotThereAndNothingChanges) {
  auto transaction = Given(LedBy("a", Term{7}), OpenedBy("team", "a"));
  const auto before = transaction;

  EXPECT_FALSE(Does(transaction, kOthers));

  EXPECT_THAT(transaction, IsSameAs(before));
}

TEST_P(SessionUseTest, ToAnotherIdentityAnEndedSessionIsNotThereEither) {
  auto transaction =
      Given(VacantAfter(Term{7}), Ended("a", Cause::kResigned), OpenedBy("team", "a"));

  EXPECT_FALSE(Does(transaction, kOthers));
}

TEST_P(SessionUseTest, WithoutAPolicyEverybodyMayUseIt) {
  auto transaction = Given(LedBy("a", Term{7}), OpenedBy("team", "a"));

  EXPECT_TRUE(Does(transaction, kWithoutPolicy));
}

TEST_P(SessionUseTest, ASessionFromBeforeThePolicyMayBeUsedByAnyone) {
  auto transaction = Given(LedBy("a", Term{7}));

  EXPECT_TRUE(Does(transaction, kOthers));
}

TEST(SessionOwnerTest, TheLastSessionOfAnotherIdentityMakesNoLeaseLonger) {
  auto transaction = Given(Ended("old", Cause::kExpired), OpenedBy("team", "old"));
  Campaign campaign = FirstCampaignBy("a");
  transaction.sessions.at(Id("old")).candidate = "a";
  campaign.opening->previous = Id("old");

  auto mine = transaction;
  EXPECT_TRUE(Do(mine, As(kTeam, campaign)));
  EXPECT_TRUE(Do(transaction, As(kOthers, campaign)));

  EXPECT_EQ(SessionIn(mine, "a").lease_ttl, 2 * kLease);
  EXPECT_EQ(SessionIn(transaction, "a").lease_ttl, kLease);
}

TEST(SessionOwnerTest, OperatorsEndTheSessionsOfAllIdentities) {
  auto transaction = Given(LedBy("a", Term{7}), OpenedBy("team", "a"));

  EXPECT_TRUE(DeposeSession(transaction, Id("a"), kOperator));

  EXPECT_EQ(SessionIn(transaction, "a").ended, Cause::kDeposed);
}

}  // namespace
}  // namespace tenure::testing
