// Transactions that are decided from memory, checked on every store: they are committed if the
// remembered state still holds, and are otherwise decided from what is locked.
#include <limits>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/law/remembered.h"
#include "core/limits.h"
#include "tests/contract/gate.h"
#include "tests/contract/store_contract.h"

namespace tenure::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

using Memory = Committed::Memory;

class MemoryContract : public StoreContract {
 protected:
  void SetUp() override {
    StoreContract::SetUp();
    ASSERT_TRUE(Stand("e", a_, "a").elected);
  }

  // All that a command needs, as it is now.
  TransactionState Remember(const Command& command) {
    TransactionState state;
    EXPECT_TRUE(store_->Transact(LockSetOf({command}), {},
                                 [&](TransactionState& loaded) { state = loaded; }));
    return state;
  }

  // Decides from `state`, by the current clock. Changes nothing if the store refuses that.
  Memory Try(TransactionState state, const Command& command) {
    state.now = store_->FindDueWork(1).value().now;
    bool decided = false;
    answer_.reset();
    const auto committed = store_->Transact(LockSetOf({command}), {.remembered = &state},
                                            [&](TransactionState& transaction) {
                                              if (std::exchange(decided, true)) return;
                                              answer_ = Apply(transaction, limits_, command);
                                            });
    EXPECT_TRUE(committed) << committed.error().message;
    if (!committed) return Memory::kUnused;
    committed_ = committed->offsets;
    transaction_ = committed->transaction;
    return committed->memory;
  }

  [[nodiscard]] bool Holds(const TransactionState& state, const Command& command) {
    for (int tries = 0; tries < kTries; ++tries) {
      if (Try(state, command) == Memory::kHeld) return true;
    }
    return false;
  }

  // Like Holds, with several commands in one transaction and their state loaded for each try.
  [[nodiscard]] bool TogetherHold(const std::vector<Command>& commands) {
    const LockSet locks = LockSetOf(commands);
    for (int tries = 0; tries < kTries; ++tries) {
      TransactionState state;
      EXPECT_TRUE(store_->Transact(locks, {}, [&](TransactionState& loaded) { state = loaded; }));
      bool decided = false;
      const auto committed =
          store_->Transact(locks, {.remembered = &state}, [&](TransactionState& transaction) {
            if (std::exchange(decided, true)) return;
            for (const Command& command : commands) {
              EXPECT_TRUE(Apply(transaction, limits_, command));
            }
          });
      EXPECT_TRUE(committed) << committed.error().message;
      if (!committed) return false;
      if (committed->memory == Memory::kHeld) return true;
    }
    return false;
  }

  // Resigns as session `a_`, which leads the election "e".
  Memory Resigning(const TransactionState& state) { return Try(state, Resign{{"e"}, a_, {}}); }

  const SessionId a_ = NewSessionId();
  const SessionId b_ = NewSessionId();
  std::optional<Result<Answer>> answer_;  // of the last decision
  TransactionState transaction_;
};

INSTANTIATE_TEST_SUITE_P(Stores, MemoryContract,
                         ::testing::Values(Kind::kSqliteMemory, Kind::kSqliteFile, Kind::kServer),
                         KindName);

TEST_P(MemoryContract, AResignationIsCommitted) {
  const Command resign = Resign{{"e"}, a_, {}};
  const int partition = PartitionOf({"e"});
  const uint64_t before =
      store_->ReadPartitions().value().offsets.at(static_cast<size_t>(partition));

  ASSERT_TRUE(Holds(Remember(resign), resign));

  EXPECT_EQ(std::get<ResignAnswer>(answer_->value()).outcome, ResignOutcome::kResigned);
  EXPECT_THAT(History("e"), ElementsAre("1 ELECTED a 1 ", "2 VACATED a 1 RESIGNED"));
  ASSERT_THAT(committed_, SizeIs(1));
  EXPECT_EQ(committed_[0].partition, partition);
  EXPECT_EQ(committed_[0].offset, before + 1);
  EXPECT_THAT(store_->ReadFeed(partition, before, before + 1).value(), SizeIs(1));
  EXPECT_EQ(View("e").election, transaction_.elections.at({"e"}).election);
}

TEST_P(MemoryContract, ASessionIsOpenedAndAVacantSeatIsTaken) {
  Run(Resign{{"e"}, a_, {}});
  const Command campaign = Campaign{{"e"}, b_, Campaign::Opening{"b", 30s}, {}, "v", 0, {7}};

  ASSERT_TRUE(Holds(Remember(campaign), campaign));

  EXPECT_TRUE(std::get<CampaignAnswer>(answer_->value()).elected);
  EXPECT_EQ(View("e").election, transaction_.elections.at({"e"}).election);
  EXPECT_TRUE(View("e").LeaderAlive());
}

TEST_P(MemoryContract, ASessionThatIsKnownTakesAVacantSeat) {
  Run(Resign{{"e"}, a_, {}});
  const Command campaign = Campaign{{"e"}, a_, {}, {}, "again", 0, {8}};
  const TransactionState state = Remember(campaign);

  ASSERT_TRUE(Holds(state, campaign));

  EXPECT_EQ(View("e").election.leader->value, "again");
  const LockSet session{{}, {a_}};
  EXPECT_TRUE(store_->Transact(session, {}, [&](TransactionState& loaded) {
    EXPECT_EQ(loaded.sessions.at(a_), transaction_.sessions.at(a_));
  }));
}

// Two events of one election.
TEST_P(MemoryContract, ALeaderIsElectedAgainInTheNextTerm) {
  Campaign campaign{{"e"}, a_, {}, {}, "again", 0, {8}};
  campaign.after_term = Term{1};
  const TransactionState state = Remember(campaign);

  ASSERT_TRUE(Holds(state, campaign));

  EXPECT_TRUE(std::get<CampaignAnswer>(answer_->value()).elected);
  EXPECT_EQ(View("e").election, transaction_.elections.at({"e"}).election);
  EXPECT_EQ(View("e").election.term, Term{2});
  EXPECT_THAT(History("e"),
              ElementsAre("1 ELECTED a 1 ", "2 VACATED a 1 RESIGNED", "3 ELECTED a 2 "));
  const auto partition = static_cast<size_t>(PartitionOf({"e"}));
  const uint64_t offset = store_->ReadPartitions().value().offsets.at(partition);
  EXPECT_THAT(store_->ReadFeed(PartitionOf({"e"}), offset - 1, offset).value(), SizeIs(2));
  // Sent again, by a replica that remembers the term before.
  EXPECT_NE(Try(state, campaign), Memory::kHeld);
  EXPECT_EQ(View("e").election.term, Term{2});
}

TEST_P(MemoryContract, SeveralElectionsAreCommittedTogether) {
  std::vector<Command> resign;
  for (const char* name : {"e", "f", "g", "h", "i"}) {
    ASSERT_TRUE(Stand(name, a_, "a").elected);
    resign.emplace_back(Resign{{name}, a_, {}});
  }
  const LockSet locks = LockSetOf(resign);
  const auto apply_all = [&](TransactionState& transaction) {
    for (const Command& command : resign) EXPECT_TRUE(Apply(transaction, limits_, command));
  };

  Memory memory = Memory::kUnused;
  TransactionState state;
  for (int tries = 0; tries < kTries && memory != Memory::kHeld; ++tries) {
    EXPECT_TRUE(store_->Transact(locks, {}, [&](TransactionState& loaded) { state = loaded; }));
    bool decided = false;
    const auto committed =
        store_->Transact(locks, {.remembered = &state}, [&](TransactionState& transaction) {
          if (std::exchange(decided, true)) return;
          apply_all(transaction);
        });
    ASSERT_TRUE(committed) << committed.error().message;
    memory = committed->memory;
  }

  EXPECT_EQ(memory, Memory::kHeld);
  for (const char* name : {"e", "f", "g", "h", "i"}) {
    EXPECT_EQ(View(name).election.leader, std::nullopt) << name;
    EXPECT_THAT(History(name), SizeIs(2)) << name;
  }
}

TEST_P(MemoryContract, ACandidateJoinsTheQueueIfAnotherCommandMakesAnEvent) {
  const SessionId c = NewSessionId();
  ASSERT_TRUE(Stand("f", c, "c").elected);
  const std::vector<Command> commands = {
      Campaign{{"e"}, b_, Campaign::Opening{"b", 30s}, {}, "v", 0, {7}}, Resign{{"f"}, c, {}}};

  ASSERT_TRUE(TogetherHold(commands));

  EXPECT_EQ(View("e").election.waiting, 1u);
  EXPECT_THAT(store_->FilterWaiting({{{"e"}, b_}}).value(), SizeIs(1));
}

TEST_P(MemoryContract, ACommandWithoutAnEventIsDecidedFromWhatIsLocked) {
  const Command campaign = Campaign{{"e"}, a_, {}, {}, "v", 0, {8}};

  EXPECT_EQ(Try(Remember(campaign), campaign), Memory::kUnused);
}

TEST_P(MemoryContract, ARefusedDecisionIsMadeAgainFromWhatIsLocked) {
  const Command resign = Resign{{"e"}, a_, {}};
  const TransactionState state = Remember(resign);
  Stand("e", b_, "b");

  std::vector<uint64_t> waiting;
  const auto committed = store_->Transact(
      LockSetOf({resign}), {.remembered = &state}, [&](TransactionState& transaction) {
        waiting.push_back(transaction.elections.at({"e"}).election.waiting);
        EXPECT_TRUE(Apply(transaction, limits_, resign));
      });

  ASSERT_TRUE(committed);
  EXPECT_EQ(committed->memory, Memory::kRefused);
  EXPECT_THAT(waiting, ElementsAre(0, 1));
  EXPECT_THAT(History("e"),
              ElementsAre("1 ELECTED a 1 ", "2 VACATED a 1 RESIGNED", "3 ELECTED b 2 "));
}

TEST_P(MemoryContract, AWrongEstimateOfTheClockIsRefused) {
  Stand("vacant", a_, "a");
  Run(Resign{{"vacant"}, a_, {}});
  const std::vector<Command> commands = {
      Resign{{"e"}, a_, {}},
      Campaign{{"vacant"}, b_, Campaign::Opening{"b", 30s}, {}, "v", 0, {7}}};
  for (const Command& command : commands) {
    for (const Duration off : {Duration(-10s), Duration(10s)}) {
      TransactionState state = Remember(command);
      state.now = state.now + off;
      const auto committed =
          store_->Transact(LockSetOf({command}), {.remembered = &state}, [&](TransactionState& it) {
            if (it.now != state.now) return;
            EXPECT_TRUE(Apply(it, limits_, command));
          });

      ASSERT_TRUE(committed);
      EXPECT_EQ(committed->memory, Memory::kRefused);
    }
  }
  EXPECT_THAT(History("e"), SizeIs(1));
  EXPECT_THAT(History("vacant"), SizeIs(2));
}

TEST_P(MemoryContract, ASessionThatExistsIsNotOpenedAgain) {
  Run(Resign{{"e"}, a_, {}});
  const Command campaign = Campaign{{"e"}, b_, Campaign::Opening{"b", 30s}, {}, "v", 0, {7}};
  const TransactionState state = Remember(campaign);
  Stand("other", b_, "b");

  EXPECT_NE(Try(state, campaign), Memory::kHeld);

  EXPECT_EQ(View("e").election.leader, std::nullopt);
}

TEST_P(MemoryContract, ADecisionInAnotherHistoryIsNotSaved) {
  const Command resign = Resign{{"e"}, a_, {}};
  const HistoryPoint another{.epoch = 7};
  const TransactionState state = Remember(resign);

  const auto committed =
      store_->Transact(LockSetOf({resign}), {.point = another, .remembered = &state},
                       [&](TransactionState& it) { EXPECT_TRUE(Apply(it, limits_, resign)); });

  ASSERT_FALSE(committed);
  EXPECT_THAT(committed.error().message, HasSubstr("history is not the one"));
  EXPECT_THAT(History("e"), SizeIs(1));
}

TEST_P(MemoryContract, ADecisionIsNotSavedIfOneOfItsPartitionsIsBehind) {
  std::vector<Command> resign;
  for (const char* name : {"e", "f", "g", "h", "i"}) {
    ASSERT_TRUE(Stand(name, a_, "a").elected);
    resign.emplace_back(Resign{{name}, a_, {}});
  }
  TransactionState state;
  ASSERT_TRUE(
      store_->Transact(LockSetOf(resign), {}, [&](TransactionState& loaded) { state = loaded; }));
  const Partitions partitions = store_->ReadPartitions().value();
  const auto behind = static_cast<size_t>(PartitionOf({"h"}));
  HistoryPoint point{.epoch = partitions.epoch, .seen = partitions.offsets};
  ++point.seen.at(behind);

  for (const TransactionState* remembered : {&std::as_const(state), {}}) {
    EXPECT_FALSE(store_->Transact(LockSetOf(resign), {.point = point, .remembered = remembered},
                                  [&](TransactionState& it) {
                                    for (const Command& command : resign) {
                                      EXPECT_TRUE(Apply(it, limits_, command));
                                    }
                                  }));
    for (const char* name : {"e", "f", "g", "h", "i"}) EXPECT_THAT(History(name), SizeIs(1));
    EXPECT_EQ(store_->ReadPartitions().value().offsets, partitions.offsets);
  }
}

// --- Anything that the decision was based on may have changed ---

// What another replica does.
struct Step {
  std::string name;
  Command command;
};

TEST_P(MemoryContract, AChangeByAnotherReplicaIsNoticed) {
  const Author author{"op", "why"};
  const SessionId a = a_;
  const auto configure = [&](const auto& set) {
    Configure command;
    command.election = {"e"};
    command.author = author;
    set(command);
    return command;
  };
  const std::vector<Step> steps = {
      {"paused", Pause{{"e"}, true, author}},
      {"resumed", Pause{{"e"}, false, author}},
      {"queue_max", configure([](Configure& it) { it.queue_max = 5; })},
      {"lease_ttl_max", configure([](Configure& it) { it.lease_ttl_max = 90s; })},
      {"lease_ttl_default", configure([](Configure& it) { it.lease_ttl_default = 9s; })},
      {"min_hold", configure([](Configure& it) { it.min_hold = 1s; })},
      {"no min_hold", configure([](Configure& it) { it.min_hold = 0s; })},
      {"lock_delay", configure([](Configure& it) { it.lock_delay = 1s; })},
      {"no lock_delay", configure([](Configure& it) { it.lock_delay = 0s; })},
      {"appointed", Appoint{{"e"}, {1}, "z", false, 60s, author}},
      {"proclaimed", Proclaim{{"e"}, a, {1}, "new"}},
      {"campaigned again", Campaign{{"e"}, a, {}, {}, "new", 0, {99}}},
      {"waits", Campaign{{"e"}, b_, Campaign::Opening{"b", 60s}, {}, "v", 0, {7}}},
      {"left", Withdraw{{"e"}, b_, {7}}},
      {"resigned", Resign{{"e"}, a, {}}},
      {"led again", Campaign{{"e"}, a, {}, {}, "v", 0, {7}}},
  };
  const Command resign = Resign{{"e"}, a_, {}};
  for (const Step& step : steps) {
    const TransactionState before = Remember(resign);
    ASSERT_TRUE(Run(step.command)) << step.name;
    if (!IsPlain(before.elections.at({"e"}))) continue;  // and so not remembered

    for (int tries = 0; tries < 3; ++tries) {
      EXPECT_NE(Resigning(before), Memory::kHeld) << step.name;
    }
  }
}

TEST_P(MemoryContract, ASessionThatHasEndedIsNoticed) {
  const Command resign = Resign{{"e"}, a_, {}};
  const TransactionState before = Remember(resign);
  ASSERT_TRUE(store_->Transact({{}, {a_}}, {}, [&](TransactionState& it) {
    EXPECT_TRUE(EndSession(it, a_, Cause::kSessionClosed));
  }));

  for (int tries = 0; tries < 3; ++tries) EXPECT_EQ(Resigning(before), Memory::kRefused);

  EXPECT_THAT(History("e"), SizeIs(1));
}

// And it is refused again when it is decided from what is locked.
TEST_P(MemoryContract, NothingIsCommittedForAHomeThatDoesNotStand) {
  const HomeId home{7};
  ASSERT_TRUE(store_->BeginHome({.id = home, .beat = 3, .good_for = 3s}).value());
  const Command resign = Resign{{"e"}, a_, {}};
  const auto resign_as = [&](const HomeWitness& witness) {
    TransactionState state = Remember(resign);
    state.now = store_->FindDueWork(1).value().now;
    return store_->Transact(
        LockSetOf({resign}), {.witness = witness, .remembered = &state},
        [&](TransactionState& transaction) { (void)Apply(transaction, limits_, resign); });
  };

  EXPECT_EQ(ReasonOf(resign_as({home, 4})), Reason::kStoreUnavailable);
  EXPECT_EQ(ReasonOf(resign_as({HomeId{8}, 0})), Reason::kStoreUnavailable);
  ASSERT_TRUE(store_->DeclareDead(home, 3).value());
  EXPECT_EQ(ReasonOf(resign_as({home, 3})), Reason::kStoreUnavailable);
  EXPECT_THAT(History("e"), SizeIs(1));

  ASSERT_TRUE(store_->BeginHome({.id = {9}, .beat = 3, .good_for = 3s}).value());
  EXPECT_EQ(ReasonOf(resign_as({HomeId{9}, 3})), std::nullopt);
  EXPECT_THAT(History("e"), SizeIs(2));
}

TEST_P(MemoryContract, AnotherLeaseIsNoticed) {
  const Command resign = Resign{{"e"}, a_, {}};
  const TransactionState before = Remember(resign);
  ASSERT_TRUE(store_->Transact({{}, {a_}}, {}, [&](TransactionState& it) {
    it.sessions.at(a_).lease_ttl = 50s;
    it.sessions.at(a_).lease_ttl_since = it.now;
  }));

  for (int tries = 0; tries < 3; ++tries) EXPECT_EQ(Resigning(before), Memory::kRefused);
}

TEST_P(MemoryContract, AMoveElsewhereIsKept) {
  const Command resign = Resign{{"e"}, a_, {}};
  Run(resign);
  const Command campaign = Campaign{{"e"}, a_, {}, {}, "v", 0, {8}};
  const TransactionState before = Remember(campaign);
  ASSERT_TRUE(store_->Transact({{}, {a_}}, {}, [&](TransactionState& it) {
    it.home = {7};
    EXPECT_TRUE(Adopt(it, a_));
  }));

  ASSERT_TRUE(Holds(before, campaign));

  EXPECT_TRUE(store_->Transact({{}, {a_}}, {}, [&](TransactionState& it) {
    EXPECT_EQ(it.sessions.at(a_).home, HomeId{7});
  }));
}

// --- The conditions in SQL ---

class MemoryConditionTest : public MemoryContract {
 protected:
  // For the election "e", which is restored after each change.
  void ExpectThatEveryColumnIsCompared(const Command& command);
  void ExpectBusyWhileLocked(const Command& command);
};

INSTANTIATE_TEST_SUITE_P(Stores, MemoryConditionTest, ::testing::Values(Kind::kServer), KindName);

// Each column is compared, or it could change unnoticed.
void MemoryConditionTest::ExpectThatEveryColumnIsCompared(const Command& command) {
  const std::vector<std::string> changes = {
      "term = term + 1",
      "revision = revision + 1",
      "next_ticket = next_ticket + 1",
      "waiting = 1",
      "leader_attempt = COALESCE(leader_attempt, 0) + 1",
      "lock_delay_us = 1",
      "min_hold_us = 1",
      "lease_ttl_default_us = 1000000",
      "lease_ttl_max_us = 100000000",
      "queue_max = 3",
      "paused = 1",
      "deleted = 1",
      "vacant_until_us = 1",
      "appointed_candidate = 'z'",
      "cooling_until_us = 1",
      "wake_at_us = 1",
      "history_from = 1",
  };
  const TransactionState before = Remember(command);
  for (const std::string& change : changes) {
    Server().Query(
        "CREATE TABLE tenure.kept LIKE tenure.elections;"
        "INSERT INTO tenure.kept SELECT * FROM tenure.elections;"
        "UPDATE tenure.elections SET " +
        change);

    for (int tries = 0; tries < 3; ++tries) {
      EXPECT_EQ(Try(before, command), Memory::kRefused) << change;
    }

    Server().Query(
        "REPLACE INTO tenure.elections SELECT * FROM tenure.kept;"
        "DROP TABLE tenure.kept");
  }
  EXPECT_TRUE(Holds(before, command));
}

TEST_P(MemoryConditionTest, EveryColumnThatTheLawReadsIsCompared) {
  ExpectThatEveryColumnIsCompared(Resign{{"e"}, a_, {}});
  ExpectThatEveryColumnIsCompared(
      Campaign{{"e"}, b_, Campaign::Opening{"b", 30s}, {}, "v", 0, {7}});
}

TEST_P(MemoryConditionTest, ALockedElectionIsBusyAndNotWaitedFor) {
  ExpectBusyWhileLocked(Resign{{"e"}, a_, {}});
  Run(Resign{{"e"}, a_, {}});
  ExpectBusyWhileLocked(Campaign{{"e"}, b_, Campaign::Opening{"b", 30s}, {}, "v", 0, {7}});
}

TEST_P(MemoryConditionTest, ALockedSessionIsBusyAndNotWaitedFor) {
  const Command resign = Resign{{"e"}, a_, {}};
  const TransactionState state = Remember(resign);
  const auto other = Open();
  bool busy = false;

  ASSERT_TRUE(other->Transact({{}, {a_}}, {}, [&](TransactionState&) {
    const auto committed = store_->Transact(LockSetOf({resign}), {.remembered = &state},
                                            [&](TransactionState& transaction) {
                                              busy = transaction.busy.contains({"e"});
                                              if (busy) return;
                                              EXPECT_TRUE(Apply(transaction, limits_, resign));
                                            });
    ASSERT_TRUE(committed);
    EXPECT_EQ(committed->memory, Memory::kRefused);
  }));

  EXPECT_TRUE(busy);
  EXPECT_THAT(History("e"), SizeIs(1));
}

void MemoryConditionTest::ExpectBusyWhileLocked(const Command& command) {
  const TransactionState state = Remember(command);
  const size_t events = History("e").size();
  const auto other = Open();
  bool busy = false;

  ASSERT_TRUE(other->Transact(LockSetOf({command}), {}, [&](TransactionState&) {
    const auto committed = store_->Transact(LockSetOf({command}), {.remembered = &state},
                                            [&](TransactionState& transaction) {
                                              busy = transaction.busy.contains({"e"});
                                              if (busy) return;
                                              EXPECT_TRUE(Apply(transaction, limits_, command));
                                            });
    EXPECT_TRUE(committed);
    EXPECT_EQ(committed->memory, Memory::kRefused);
  }));

  EXPECT_TRUE(busy);
  EXPECT_THAT(History("e"), SizeIs(events));
}

// It may have been interrupted after its COMMIT.
TEST_P(MemoryConditionTest, AMessageThatIsInterruptedIsLookedUp) {
  if (SeveralServersWrite()) GTEST_SKIP() << "each statement is a message";
  const Command resign = Resign{{"e"}, a_, {}};
  const TransactionState state = Remember(resign);
  Gate gate;
  std::thread killer([&] {
    gate.WaitUntilOneWaits();
    gate.InterruptTheOneThatWaits();
    gate.Open();
  });

  const Memory memory = Try(state, resign);
  killer.join();

  EXPECT_EQ(memory, Memory::kUnused) << "it was not committed, and then decided from rows";
  EXPECT_EQ(store_->Activity().retries.at(static_cast<size_t>(RetryReason::kLostReply)), 1u);
  EXPECT_THAT(History("e"), SizeIs(1));
  EXPECT_TRUE(Eventually(
      [] { return Server().Ask("SELECT COUNT(*) FROM information_schema.innodb_trx") == "0"; }));
}

// Everything that can be long is long.
TEST_P(MemoryContract, TheLongestNamesAndValuesFit) {
  const ElectionName name{std::string(kNameBytesMax, 'n')};
  const SessionId session = NewSessionId();
  Stand(name.bytes, a_, "a");
  Run(Resign{name, a_, {}});
  const std::string value(kValueBytesMax, '\xff');
  const Command campaign = Campaign{name,
                                    session,
                                    Campaign::Opening{std::string(kNameBytesMax, 'c'), 30s},
                                    {},
                                    value,
                                    0,
                                    {std::numeric_limits<uint64_t>::max()}};

  ASSERT_TRUE(Holds(Remember(campaign), campaign));

  EXPECT_EQ(View(name.bytes).election, transaction_.elections.at(name).election);
  EXPECT_EQ(View(name.bytes).election.leader->value, value);
  Event event = transaction_.events.at(0);
  event.leader.call_id = {};  // is not saved
  EXPECT_EQ(store_->ReadEvents(name, event.revision, 1).value().at(0), event);
}

TEST_P(MemoryContract, TwoEventsOfOneElectionAreBothCommitted) {
  const std::vector<Command> commands = {Proclaim{{"e"}, a_, {1}, "first"},
                                         Proclaim{{"e"}, a_, {1}, "second"}};

  ASSERT_TRUE(TogetherHold(commands));

  EXPECT_THAT(History("e"),
              ElementsAre("1 ELECTED a 1 ", "2 PROCLAIMED a 1 ", "3 PROCLAIMED a 1 "));
}

}  // namespace
}  // namespace tenure::testing
