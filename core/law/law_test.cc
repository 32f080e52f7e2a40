// What holds for every command.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/law/law_testing.h"

namespace tenure::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Key;
using ::testing::UnorderedElementsAre;

using CommandTable = std::map<std::string, Command>;

Campaign WithPrevious(Campaign campaign, std::string_view previous) {
  campaign.opening->previous = Id(previous);
  return campaign;
}

Configure ConfiguringALockDelay() {
  Configure configure = Configuring();
  configure.lock_delay = 5s;
  return configure;
}

// Given by candidate "c", which is alive and stands nowhere, or by an operator who has seen term 7.
const CommandTable& CommandsThatEndNoTerm() {
  static const CommandTable commands = {
      {"Campaign", CampaignBy("c")},
      {"CampaignAndSupersede", Superseding(CampaignBy("c"))},
      {"CampaignForAll", CampaignForAllBy("c", {kElection})},
      {"Proclaim", ProclaimBy("c", Term{7}, "v")},
      {"Resign", ResignBy("c")},
      {"ResignInATerm", ResignBy("c", Term{7})},
      {"Withdraw", WithdrawalBy("c", CallId{5})},
      {"Settle", Reconciliation()},
      {"SettleASession", ReconciliationOf("c")},
      {"Pause", Pausing()},
      {"Resume", Resuming()},
      {"Configure", ConfiguringALockDelay()},
      {"ConfigureAndCreate", Creating()},
  };
  return commands;
}

// Commands that are meant to remove the leader, now or soon.
const CommandTable& CommandsAgainstTheLeader() {
  static const CommandTable commands = {
      {"Appoint", Appointing("c", Term{7}, 30s)},
      {"AppointByForce", AppointingByForce("c", Term{7}, 30s)},
      {"Depose", Deposing(Term{7})},
      {"DeposeAndCoolDown", Deposing(Term{7}, 30s)},
      {"Delete", Deleting(Term{7})},
  };
  return commands;
}

CommandTable Commands() {
  CommandTable commands = CommandsThatEndNoTerm();
  commands.insert(CommandsAgainstTheLeader().begin(), CommandsAgainstTheLeader().end());
  return commands;
}

class EveryCommandTest : public ::testing::TestWithParam<std::pair<const std::string, Command>> {
 protected:
  const Command& command() const { return GetParam().second; }
};

TEST_P(EveryCommandTest, EveryCommandNamesItsElection) {
  EXPECT_THAT(ElectionsOf(command()), ElementsAre(kElection));
}

TEST_P(EveryCommandTest, ADeadLeaderIsReplacedFirst) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b"), Alive("c"), Expired("a"));

  (void)Do(transaction, command());

  EXPECT_THAT(transaction, IsLedBy("b", Term{8}));
  EXPECT_THAT(transaction.events, ElementsAre(Vacated("a", Cause::kExpired, Term{7}, Revision{14}),
                                              Elected("b", Term{8}, Revision{15})));
}

TEST_P(EveryCommandTest, AVacantSeatIsFilledFirst) {
  auto transaction = Given(VacantAfter(Term{7}), Waiting("b"), Alive("c"));

  (void)Do(transaction, command());

  EXPECT_THAT(transaction, IsLedBy("b", Term{8}));
  EXPECT_THAT(transaction.events, ElementsAre(Elected("b", Term{8}, Revision{15})));
}

TEST_P(EveryCommandTest, ApplyingACommandTwiceChangesNothingMore) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b"), Alive("c"));
  (void)Do(transaction, command());
  const auto once = transaction;

  (void)Do(transaction, command());

  EXPECT_THAT(transaction, IsSameAs(once));
}

TEST_P(EveryCommandTest, OtherElectionsAreLeftAlone) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b"), Alive("c"), Expired("a"));
  const ElectionName other{"orders/eu"};
  transaction.elections[other] = StateIn(transaction);
  transaction.elections[other].election.name = other;
  const auto before = transaction.elections[other];

  (void)Do(transaction, command());

  EXPECT_TRUE(SameState(transaction.elections[other], before));
}

INSTANTIATE_TEST_SUITE_P(Each, EveryCommandTest, ::testing::ValuesIn(Commands()),
                         [](const auto& info) { return info.param.first; });

// The commands against the leader are exempt.
class CommandThatEndsNoTermTest : public EveryCommandTest {};

TEST_P(CommandThatEndsNoTermTest, ALiveLeaderKeepsItsSeat) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b"), Alive("c"));

  (void)Do(transaction, command());

  EXPECT_THAT(transaction, IsLedBy("a", Term{7}));
  EXPECT_THAT(transaction.events, IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(Each, CommandThatEndsNoTermTest,
                         ::testing::ValuesIn(CommandsThatEndNoTerm()),
                         [](const auto& info) { return info.param.first; });

class CommandAgainstTheLeaderTest : public EveryCommandTest {};

TEST_P(CommandAgainstTheLeaderTest, ALeaderOfALaterTermIsLeftAlone) {
  auto transaction = Given(LedBy("a", Term{8}), Waiting("b"), Alive("c"));
  const auto before = transaction;

  (void)Do(transaction, command());

  EXPECT_THAT(transaction, IsSameAs(before));
}

INSTANTIATE_TEST_SUITE_P(Each, CommandAgainstTheLeaderTest,
                         ::testing::ValuesIn(CommandsAgainstTheLeader()),
                         [](const auto& info) { return info.param.first; });

// --- What a command needs ---

LockSet::Part PartOf(const Command& command) {
  return LockSetOf({&command}).elections.at(kElection);
}

std::vector<std::string> CommandsWhere(const std::function<bool(const LockSet::Part&)>& holds) {
  std::vector<std::string> names;
  for (const auto& [name, command] : Commands()) {
    if (holds(PartOf(command))) names.push_back(name);
  }
  return names;
}

TEST(LockSetTest, OnlyCampaignAndConfigureCanCreateAnElection) {
  EXPECT_THAT(
      CommandsWhere([](const LockSet::Part& part) { return part.create; }),
      ElementsAre("Campaign", "CampaignAndSupersede", "CampaignForAll", "ConfigureAndCreate"));
}

TEST(LockSetTest, ItHasTheSessionOfACommand) {
  EXPECT_THAT(CommandsWhere([](const LockSet::Part& part) {
                return part.sessions == std::vector<SessionId>{Id("c")};
              }),
              ElementsAre("Campaign", "CampaignAndSupersede", "CampaignForAll", "Proclaim",
                          "Resign", "ResignInATerm", "SettleASession", "Withdraw"));
  EXPECT_THAT(CommandsWhere([](const LockSet::Part& part) { return part.sessions.empty(); }),
              ElementsAre("Appoint", "AppointByForce", "Configure", "ConfigureAndCreate", "Delete",
                          "Depose", "DeposeAndCoolDown", "Pause", "Resume", "Settle"));
}

TEST(LockSetTest, ItHasThePreviousSession) {
  auto for_all = FirstCampaignForAllBy("c", {kElection});
  for_all.opening->previous = Id("old");

  EXPECT_THAT(PartOf(WithPrevious(FirstCampaignBy("c"), "old")).sessions,
              ElementsAre(Id("c"), Id("old")));
  EXPECT_THAT(PartOf(for_all).sessions, ElementsAre(Id("c"), Id("old")));
}

TEST(LockSetTest, ItHasTheCandidateWhoseOtherPlacesMatter) {
  EXPECT_THAT(CommandsWhere([](const LockSet::Part& part) {
                return part.candidates == std::set<std::string>{"c"};
              }),
              ElementsAre("Appoint", "AppointByForce", "CampaignAndSupersede"));
  EXPECT_THAT(PartOf(Superseding(FirstCampaignBy("c/2"))).candidates, ElementsAre("c"));
  EXPECT_THAT(CommandsWhere([](const LockSet::Part& part) { return part.candidates.empty(); }),
              ::testing::SizeIs(Commands().size() - 3));
}

TEST(LockSetTest, ItHasEachElectionOfASet) {
  const ElectionName other{"orders/eu"};
  const Command command = CampaignForAllBy("c", {other, kElection});

  EXPECT_THAT(ElectionsOf(command), ElementsAre(other, kElection));
  EXPECT_THAT(LockSetOf({&command}).elections, UnorderedElementsAre(Key(other), Key(kElection)));
}

// Besides the term of a leader that is found dead.
TEST(LockSetTest, ItHasASuccessorForTheTermThatACommandMayEnd) {
  EXPECT_THAT(CommandsWhere([](const LockSet::Part& part) { return part.departures == 0; }),
              ElementsAre("Campaign", "CampaignForAll", "Configure", "ConfigureAndCreate", "Delete",
                          "Proclaim"));
  EXPECT_THAT(CommandsWhere([](const LockSet::Part& part) { return part.departures > 1; }),
              IsEmpty());
}

TEST(LockSetTest, CommandsOfOneElectionCombineTheirNeeds) {
  Campaign campaign = Superseding(FirstCampaignBy("s/2"));
  campaign.opening->previous = Id("s/1");
  const std::vector<Command> commands = {campaign, ResignBy("b"), Appointing("c", {1}),
                                         Deposing({1})};

  const LockSet locks = LockSetOf({&commands[0], &commands[1], &commands[2], &commands[3]});

  ASSERT_EQ(locks.elections.size(), 1u);
  const LockSet::Part& item = locks.elections.at(kElection);
  EXPECT_THAT(item.sessions, UnorderedElementsAre(Id("s/2"), Id("s/1"), Id("b")));
  EXPECT_THAT(item.candidates, UnorderedElementsAre("s", "c"));
  EXPECT_EQ(item.departures, 4u);
  EXPECT_TRUE(item.create);
}

TEST(LockSetTest, ASetNeedsEachOfItsElections) {
  const Command set = FirstCampaignForAllBy("a", {{"x"}, {"y"}});
  const Command settle = Reconcile{{"z"}, std::nullopt};

  const LockSet locks = LockSetOf({&set, &settle});

  EXPECT_TRUE(locks.elections.at({"x"}).create);
  EXPECT_THAT(locks.elections.at({"y"}).sessions, ElementsAre(Id("a")));
  EXPECT_FALSE(locks.elections.at({"z"}).create);
  EXPECT_EQ(locks.elections.at({"z"}).departures, 1u);
}

}  // namespace
}  // namespace tenure::testing
