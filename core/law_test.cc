// What is true of every command, whatever it asks for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/law_testing.h"

namespace tenure::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::Optional;

// Each as candidate "c" would give it, who is alive and stands nowhere.
const std::map<std::string, Command>& Commands() {
  static const std::map<std::string, Command> commands = {
      {"Campaign", CampaignBy("c")},
      {"Proclaim", ProclaimBy("c", Term{7}, "v")},
      {"Resign", ResignBy("c")},
      {"ResignInATerm", ResignBy("c", Term{7})},
      {"Withdraw", WithdrawalBy("c", Attempt{5})},
      {"Settle", Settlement()},
      {"SettleASession", SettlementOf("c")},
  };
  return commands;
}

class EveryCommandTest : public ::testing::TestWithParam<std::pair<const std::string, Command>> {
 protected:
  const Command& command() const { return GetParam().second; }
};

TEST_P(EveryCommandTest, NamesItsElection) { EXPECT_EQ(ElectionOf(command()), kElection); }

TEST_P(EveryCommandTest, EndsTheTermOfADeadLeaderAndFillsTheSeatFirst) {
  auto docket = Given(LedBy("a", Term{7}), Waiting("b"), Alive("c"), Expired("a"));

  (void)Do(docket, command());

  EXPECT_THAT(docket, IsLedBy("b", Term{8}));
  EXPECT_THAT(docket.events, ElementsAre(Vacated("a", Cause::kExpired, Term{7}, Revision{14}),
                                         Elected("b", Term{8}, Revision{15})));
  EXPECT_THAT(docket.ended, ElementsAre(Id("a")));
}

TEST_P(EveryCommandTest, FillsAVacantSeatFirst) {
  auto docket = Given(VacantAfter(Term{7}), Waiting("b"), Alive("c"));

  (void)Do(docket, command());

  EXPECT_THAT(docket, IsLedBy("b", Term{8}));
  EXPECT_THAT(docket.events, ElementsAre(Elected("b", Term{8}, Revision{15})));
}

TEST_P(EveryCommandTest, LeavesALivingLeaderInItsSeat) {
  auto docket = Given(LedBy("a", Term{7}), Waiting("b"), Alive("c"));

  (void)Do(docket, command());

  EXPECT_THAT(docket, IsLedBy("a", Term{7}));
  EXPECT_THAT(docket.events, ::testing::IsEmpty());
}

TEST_P(EveryCommandTest, AppliedTwiceChangesNothingMore) {
  auto docket = Given(LedBy("a", Term{7}), Waiting("b"), Alive("c"));
  (void)Do(docket, command());
  const auto once = docket;

  (void)Do(docket, command());

  EXPECT_THAT(docket, IsSameAs(once));
}

TEST_P(EveryCommandTest, LeavesOtherElectionsAlone) {
  auto docket = Given(LedBy("a", Term{7}), Waiting("b"), Alive("c"), Expired("a"));
  const ElectionName other{"orders/eu"};
  docket.contests[other] = ContestIn(docket);
  docket.contests[other].election.name = other;
  const auto before = docket.contests[other];

  (void)Do(docket, command());

  EXPECT_TRUE(SameContest(docket.contests[other], before));
}

INSTANTIATE_TEST_SUITE_P(Each, EveryCommandTest, ::testing::ValuesIn(Commands()),
                         [](const auto& info) { return info.param.first; });

TEST(CommandTest, OnlyACampaignMayBringAnElectionIntoBeing) {
  std::vector<std::string> creating;

  for (const auto& [name, command] : Commands()) {
    if (Creates(command)) creating.push_back(name);
  }

  EXPECT_THAT(creating, ElementsAre("Campaign"));
}

TEST(CommandTest, NamesTheSessionThatItSpeaksFor) {
  EXPECT_THAT(SessionOf(CampaignBy("a")), Optional(Id("a")));
  EXPECT_THAT(SessionOf(ProclaimBy("a", Term{7}, "v")), Optional(Id("a")));
  EXPECT_THAT(SessionOf(ResignBy("a")), Optional(Id("a")));
  EXPECT_THAT(SessionOf(WithdrawalBy("a", Attempt{5})), Optional(Id("a")));
  EXPECT_THAT(SessionOf(SettlementOf("a")), Optional(Id("a")));
  EXPECT_EQ(SessionOf(Settlement()), std::nullopt);
}

}  // namespace
}  // namespace tenure::testing
