// Commits whose replies are lost on the way from a database server: their outcome is looked up on a
// new connection, and nothing is done twice.
#include <array>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/law/purging.h"
#include "core/law/remembered.h"
#include "tests/contract/gate.h"
#include "tests/contract/store_contract.h"
#include "tests/support/sql_relay.h"

namespace tenure::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

using Memory = Committed::Memory;
using Held = SqlRelay::Held;

class LostReplyContract : public StoreContract {
 protected:
  void SetUp() override {
    StoreContract::SetUp();
    relay_ = std::make_unique<SqlRelay>(Server().port());
    store_ = OpenUrl("mysql://root@127.0.0.1:" + std::to_string(relay_->port()) +
                     "/tenure?tls=disabled");
    for (const std::string& name : kElections) ASSERT_TRUE(Stand(name, a_, "a").elected);
    before_ = store_->ReadPartitions().value().offsets;
    retries_before_ = store_->Activity().retries;
  }
  void TearDown() override { store_.reset(); }

  // Applies the commands once; later tries change nothing.
  void TransactOnce(const std::vector<Command>& commands, const CommitRules& rules = {}) {
    Transact(commands, rules, 1);
  }
  // Applies them in each try, up to a limit.
  void Transact(const std::vector<Command>& commands, const CommitRules& rules = {},
                int applied_max = 10) {
    tries_ = 0;
    auto committed =
        store_->Transact(LockSetOf(commands), rules, [&](TransactionState& transaction) {
          if (++tries_ > applied_max) return;
          outcomes_.clear();
          for (const Command& command : commands) {
            const auto answer = Apply(transaction, limits_, command);
            if (!answer) continue;
            const auto* resigned = std::get_if<ResignAnswer>(&*answer);
            outcomes_.push_back(resigned ? resigned->outcome : ResignOutcome::kNotStanding);
          }
        });
    EXPECT_TRUE(relay_->broke());
    committed_.clear();
    error_.reset();
    memory_ = Memory::kUnused;
    if (committed) {
      committed_ = committed->offsets;
      memory_ = committed->memory;
    } else {
      error_ = committed.error();
    }
  }

  // Whether they are decided from memory, after `plant` has set up the relay.
  [[nodiscard]] bool IsDecidedFromMemory(const std::vector<Command>& commands,
                                         const std::function<void()>& plant) {
    for (int tries = 0; tries < kTries && !HasFailure() && !error_; ++tries) {
      TransactionState state = Remember(commands);
      state.now = store_->FindDueWork(1).value().now;
      retries_before_ = store_->Activity().retries;
      plant();
      TransactOnce(commands, {.remembered = &state});
      if (memory_ == Memory::kHeld) return true;
    }
    return false;
  }

  // The current state of everything that the commands need.
  TransactionState Remember(const std::vector<Command>& commands) {
    TransactionState state;
    EXPECT_TRUE(store_->Transact(LockSetOf(commands), {},
                                 [&](TransactionState& loaded) { state = loaded; }));
    return state;
  }

  // Expects one commit, in the partitions of these elections, whose offsets were returned.
  void ExpectFound(const std::vector<std::string>& elections) {
    EXPECT_EQ(error_, std::nullopt);
    EXPECT_EQ(tries_, 1);
    EXPECT_EQ(store_->Activity().retries, retries_before_);
    EXPECT_THAT(outcomes_, SizeIs(elections.size()));
    EXPECT_THAT(outcomes_, Each(ResignOutcome::kResigned));
    std::map<int, uint64_t> expected;
    for (const std::string& name : elections) {
      EXPECT_THAT(History(name), ElementsAre("1 ELECTED a 1 ", "2 VACATED a 1 RESIGNED")) << name;
      const int partition = PartitionOf({name});
      expected[partition] = before_.at(static_cast<size_t>(partition)) + 1;
    }
    std::map<int, uint64_t> answered;
    for (const PartitionOffset& it : committed_) answered[it.partition] = it.offset;
    EXPECT_EQ(answered, expected);
  }

  // Expects one commit, at the second try.
  void ExpectTriedAgain() {
    EXPECT_EQ(error_, std::nullopt);
    EXPECT_EQ(tries_, 2);
    EXPECT_EQ(RetriesBecauseOf(RetryReason::kLostReply), 1u);
    EXPECT_THAT(outcomes_, ElementsAre(ResignOutcome::kResigned));
    EXPECT_THAT(History("e"), ElementsAre("1 ELECTED a 1 ", "2 VACATED a 1 RESIGNED"));
    EXPECT_EQ(store_->ReadPartitions().value().offsets.at(static_cast<size_t>(PartitionOf({"e"}))),
              before_.at(static_cast<size_t>(PartitionOf({"e"}))) + 1);
  }

  uint64_t RetriesBecauseOf(RetryReason reason) {
    const auto which = static_cast<size_t>(reason);
    return store_->Activity().retries.at(which) - retries_before_.at(which);
  }

  std::vector<Command> ResignFromAll() const {
    std::vector<Command> all;
    for (const std::string& name : kElections) all.emplace_back(Resign{{name}, a_, {}});
    return all;
  }

  // These lie in several partitions.
  const std::vector<std::string> kElections = {"e", "f", "g", "h", "i"};
  const SessionId a_ = NewSessionId();
  const std::vector<Command> resign_ = {Resign{{"e"}, a_, {}}};
  std::unique_ptr<SqlRelay> relay_;
  PartitionOffsets before_{};
  std::array<uint64_t, kRetryReasons> retries_before_{};
  // About the last transaction:
  int tries_ = 0;
  std::vector<ResignOutcome> outcomes_;  // of the last try that was applied
  std::optional<Error> error_;
  Memory memory_ = Memory::kUnused;
};

// --- Decided from what is locked ---

class LostReplyTest : public LostReplyContract {};

INSTANTIATE_TEST_SUITE_P(Stores, LostReplyTest, ::testing::Values(Kind::kServer), KindName);

TEST_P(LostReplyTest, ACommitThatHappenedIsFoundAndNotRepeated) {
  relay_->LoseReplyTo("COMMIT");

  Transact(resign_);

  ExpectFound({"e"});
}

// As for every commit of a replica.
TEST_P(LostReplyTest, ACommitInAKnownHistoryIsFoundAndNotRepeated) {
  const Partitions partitions = store_->ReadPartitions().value();
  relay_->LoseReplyTo("COMMIT");

  Transact(resign_, {.point = HistoryPoint{partitions.epoch, partitions.offsets}});

  ExpectFound({"e"});
}

TEST_P(LostReplyTest, ALookUpWhoseConnectionBreaksIsMadeAgain) {
  relay_->BreakAt("COMMIT", [&](const Held& held) {
    held.Deliver();
    held.HangUp();
    relay_->BreakAt("FROM writers", [](const Held& look_up) { look_up.HangUp(); });
  });

  Transact(resign_);

  ExpectFound({"e"});
}

TEST_P(LostReplyTest, TheOffsetInEachPartitionIsFound) {
  relay_->LoseReplyTo("COMMIT");

  Transact(ResignFromAll());

  ASSERT_GE(committed_.size(), 3u);
  ExpectFound(kElections);
}

TEST_P(LostReplyTest, ACommitThatDidNotHappenIsTriedAgain) {
  relay_->BreakAt("COMMIT", [](const Held& held) { held.HangUp(); });

  Transact(resign_);

  ExpectTriedAgain();
}

TEST_P(LostReplyTest, ACommitThatIsStuckIsWaitedForAndFound) {
  if (SeveralServersWrite()) GTEST_SKIP() << "its COMMIT is a message of its own";
  Gate gate;
  relay_->BreakAt("COMMIT", [](const Held& held) { held.Deliver(); });
  std::jthread opener([&] {
    gate.WaitUntilOneWaits();
    gate.WaitUntilItIsLookedUp();
    gate.Open();
  });

  Transact(resign_);
  opener.join();

  ExpectFound({"e"});
}

TEST_P(LostReplyTest, ACommitThatIsStuckAndThenRolledBackIsTriedAgain) {
  if (SeveralServersWrite()) GTEST_SKIP() << "its COMMIT is a message of its own";
  Gate gate;
  relay_->BreakAt("COMMIT", [](const Held& held) { held.Deliver(); });
  std::jthread killer([&] {
    gate.WaitUntilOneWaits();
    gate.WaitUntilItIsLookedUp();
    gate.EndTheOneThatWaits();
    gate.Open();
  });

  Transact(resign_);
  killer.join();

  ExpectTriedAgain();
}

TEST_P(LostReplyTest, AnUnknownOutcomeIsAnErrorAndNotDoneTwice) {
  if (SeveralServersWrite()) GTEST_SKIP() << "its COMMIT is a message of its own";
  Gate gate;
  relay_->BreakAt("COMMIT", [](const Held& held) { held.Deliver(); });

  Transact(resign_);

  EXPECT_EQ(tries_, 1);
  ASSERT_TRUE(error_);
  EXPECT_EQ(error_->reason, Reason::kStoreUnavailable);
  EXPECT_THAT(error_->message, HasSubstr("the reply to a commit was lost"));
  EXPECT_THAT(History("e"), SizeIs(1));
  gate.Open();
  EXPECT_TRUE(Eventually([&] { return History("e").size() == 2; }));
}

// No event carries its offset.
TEST_P(LostReplyTest, APurgeIsFoundWithoutAnOffset) {
  ASSERT_TRUE(Run(resign_.front()));
  LockSet locks;
  locks.elections[{"e"}].past = true;
  relay_->LoseReplyTo("COMMIT");
  int tries = 0;

  const auto committed = store_->Transact(locks, {}, [&](TransactionState& transaction) {
    ++tries;
    uint64_t events = 1'000;
    const Author author{"olga", "tidies up"};
    EXPECT_EQ(Apply(transaction, {Duration(0), false, author}, {"e"}, events), Purged::kYes);
  });

  EXPECT_TRUE(relay_->broke());
  ASSERT_TRUE(committed) << committed.error().message;
  EXPECT_EQ(tries, 1);
  EXPECT_THAT(committed->offsets, IsEmpty());
  EXPECT_THAT(store_->ReadElections({{"e"}}).value(), IsEmpty());
}

// By then, every caller that could look it up has long had its answer.
TEST_P(LostReplyTest, AWritersRowIsKeptForADay) {
  const auto add = [](const std::string& writer, const std::string& hours) {
    Server().Ask("INSERT INTO tenure.writers (writer, transaction, at_us) VALUES ('" + writer +
                 "', 7, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) - " + hours +
                 " * 3600000000)");
  };
  const std::string old = "SELECT COUNT(*) FROM tenure.writers WHERE transaction = 7 AND writer ";
  add("older than a day", "25");
  add("younger", "23");

  ASSERT_TRUE(store_->ForgetSessions(1h, 100));

  EXPECT_EQ(Server().Ask(old + "LIKE 'older%'"), "0");
  EXPECT_EQ(Server().Ask(old + "LIKE 'younger%'"), "1");
}

// --- Decided from memory ---

class LostReplyFromMemoryTest : public LostReplyContract {};

INSTANTIATE_TEST_SUITE_P(Stores, LostReplyFromMemoryTest, ::testing::Values(Kind::kServer),
                         KindName);

TEST_P(LostReplyFromMemoryTest, ACommitThatHappenedIsFoundAndNotRepeated) {
  ASSERT_TRUE(IsDecidedFromMemory(resign_, [&] { relay_->LoseReplyTo("COMMIT"); }));

  ExpectFound({"e"});
}

TEST_P(LostReplyFromMemoryTest, TheOffsetInEachPartitionIsFound) {
  ASSERT_TRUE(IsDecidedFromMemory(ResignFromAll(), [&] { relay_->LoseReplyTo("COMMIT"); }));

  ASSERT_GE(committed_.size(), 3u);
  ExpectFound(kElections);
}

TEST_P(LostReplyFromMemoryTest, ACommitThatDidNotHappenIsTriedAgain) {
  const TransactionState state = Remember(resign_);
  relay_->BreakAt("COMMIT", [](const Held& held) { held.HangUp(); });

  Transact(resign_, {.remembered = &state});

  ExpectTriedAgain();
}

TEST_P(LostReplyFromMemoryTest, ACommitThatIsStuckIsWaitedForAndFound) {
  if (SeveralServersWrite()) GTEST_SKIP() << "its COMMIT is a message of its own";
  Gate gate;
  std::jthread opener;

  const bool decided = IsDecidedFromMemory(resign_, [&] {
    relay_->BreakAt("COMMIT", [&](const Held& held) {
      held.Deliver();
      gate.WaitUntilOneWaits();
      opener = std::jthread([&] {
        gate.WaitUntilItIsLookedUp();
        gate.Open();
      });
    });
  });
  if (!decided) relay_.reset();  // it may still wait at the gate
  ASSERT_TRUE(decided);
  opener.join();

  ExpectFound({"e"});
}

// It reaches the server after it was looked up.
TEST_P(LostReplyFromMemoryTest, AMessageThatComesLateIsRefused) {
  if (SeveralServersWrite()) GTEST_SKIP() << "its COMMIT is a message of its own";
  TransactionState state = Remember(resign_);
  const Held* late = nullptr;
  relay_->BreakAt("COMMIT", [&](const Held& held) { late = &held; });
  state.now = store_->FindDueWork(1).value().now;

  TransactOnce(resign_, {.remembered = &state});
  ASSERT_NE(late, nullptr);
  EXPECT_EQ(tries_, 2);
  EXPECT_EQ(RetriesBecauseOf(RetryReason::kLostReply), 1u);
  late->Deliver();
  late->HangUp();

  EXPECT_THAT(History("e"), SizeIs(1));
  EXPECT_EQ(View("e").election.leader->candidate, "a");
  // The remembered ticket is taken by now, whatever the clocks show.
  EXPECT_EQ(View("e").election.next_ticket.value,
            state.elections.at({"e"}).election.next_ticket.value + 1);
}

TEST_P(LostReplyFromMemoryTest, AnotherEventInItsPlaceIsNotTakenForIt) {
  const auto other = Open();
  for (const Command& instead :
       {Command(Proclaim{{"e"}, a_, {1}, "another"}), Command(Resign{{"e"}, a_, {}})}) {
    const std::vector<Command> proclaim = {Proclaim{{"e"}, a_, {1}, "lost"}};
    const TransactionState state = Remember(proclaim);
    retries_before_ = store_->Activity().retries;
    relay_->BreakAt("COMMIT", [&](const Held& held) {
      held.HangUp();
      const auto answer = Run(*other, {instead}).at(0);
      EXPECT_TRUE(answer) << answer.error().message;
    });

    TransactOnce(proclaim, {.remembered = &state});

    EXPECT_EQ(tries_, 2);
    EXPECT_EQ(memory_, Memory::kUnused);
    EXPECT_EQ(RetriesBecauseOf(RetryReason::kLostReply), 1u);
  }
  EXPECT_THAT(History("e"),
              ElementsAre("1 ELECTED a 1 ", "2 PROCLAIMED a 1 ", "3 VACATED a 1 RESIGNED"));
}

}  // namespace
}  // namespace tenure::testing
