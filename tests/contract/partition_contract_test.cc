// The order of changes, checked on every store: several replicas commit in one partition at once,
// each in an election of its own, so that nothing but the partition keeps them apart.
#include <algorithm>
#include <atomic>
#include <mutex>
#include <numeric>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "tests/contract/store_contract.h"

namespace tenure::testing {
namespace {

using namespace std::chrono_literals;

constexpr int kReplicas = 4;
constexpr int kCycles = 15;

class PartitionContract : public StoreContract {
 protected:
  // The name of an election in partition 0, or in another one.
  static std::string NameOf(int number, bool elsewhere = false) {
    for (int i = 0;; ++i) {
      const std::string name = "e" + std::to_string(number) + "-" + std::to_string(i);
      if ((PartitionOf({name}) != 0) == elsewhere) return name;
    }
  }

  // Decides only when nothing it needs is locked, as the engine does.
  static Result<Committed> Transact(Store& store, const LockSet& locks, const CommitRules& rules,
                                    const std::function<void(TransactionState&)>& decide) {
    Result<Committed> committed;
    EXPECT_TRUE(Eventually([&] {
      bool busy = false;
      committed = store.Transact(locks, rules, [&](TransactionState& transaction) {
        busy = !transaction.busy.empty() || !transaction.busy_sessions.empty();
        if (!busy) decide(transaction);
      });
      return !busy;
    }));
    return committed;
  }

  // Commits one transaction, and returns its offset in partition 0.
  std::optional<uint64_t> Commit(Store& store, const std::vector<Command>& commands,
                                 bool from_memory) {
    const LockSet locks = LockSetOf(commands);
    TransactionState state;
    if (from_memory) {
      EXPECT_TRUE(Transact(store, locks, {}, [&](TransactionState& loaded) { state = loaded; }));
      state.now = store.FindDueWork(1).value().now;
    }
    const auto committed = Transact(store, locks, {.remembered = from_memory ? &state : nullptr},
                                    [&](TransactionState& transaction) {
                                      for (const Command& command : commands) {
                                        EXPECT_TRUE(Apply(transaction, limits_, command));
                                      }
                                    });
    EXPECT_TRUE(committed) << committed.error().message;
    if (!committed) return std::nullopt;
    for (const PartitionOffset& it : committed->offsets) {
      if (it.partition == 0) return it.offset;
    }
    ADD_FAILURE() << "it has no offset";
    return std::nullopt;
  }

  // Expects each offset once, without gaps: a transaction has one event in the partition.
  void ExpectNoGaps(Store& store) {
    const uint64_t end = store.ReadPartitions().value().offsets.at(0);
    const auto feed = store.ReadFeed(0, 0, end).value();
    ASSERT_EQ(feed.size(), end);
    for (size_t i = 0; i < feed.size(); ++i) ASSERT_EQ(feed[i].offset, i + 1);
  }
};

INSTANTIATE_TEST_SUITE_P(Stores, PartitionContract,
                         ::testing::Values(Kind::kSqliteFile, Kind::kServer), KindName);

TEST_P(PartitionContract, EveryOffsetIsGivenOnceWithoutAGap) {
  std::mutex mutex;
  std::vector<uint64_t> given;
  std::atomic<bool> done = false;
  std::thread reader([&] {
    const auto store = Open();
    while (!done && !HasFailure()) ExpectNoGaps(*store);
  });

  std::vector<std::thread> replicas;
  for (int i = 0; i < kReplicas; ++i) {
    replicas.emplace_back([&, i] {
      const auto store = Open();
      const SessionId session = NewSessionId();
      std::vector<std::string> names = {NameOf(i)};
      const bool in_two_partitions = i % 2 == 0;
      if (in_two_partitions) names.push_back(NameOf(i, true));
      std::vector<Command> stand;
      std::vector<Command> leave;
      for (const std::string& name : names) {
        stand.emplace_back(Campaign{{name}, session, Campaign::Opening{"c", 1h}, {}, "", 0, {1}});
        leave.emplace_back(Resign{{name}, session, {}});
      }
      for (int cycle = 0; cycle < kCycles && !HasFailure(); ++cycle) {
        const bool from_memory = cycle > 0 && (cycle + i / 2) % 2 == 0;
        for (const auto& commands : {stand, leave}) {
          const auto offset = Commit(*store, commands, from_memory);
          const std::lock_guard lock(mutex);
          if (offset) given.push_back(*offset);
        }
      }
    });
  }
  for (std::thread& replica : replicas) replica.join();
  done = true;
  reader.join();

  std::vector<uint64_t> all(2ull * kReplicas * kCycles);
  std::iota(all.begin(), all.end(), 1);
  std::ranges::sort(given);
  EXPECT_EQ(given, all);
  EXPECT_EQ(store_->ReadPartitions().value().offsets.at(0), all.size());
  ExpectNoGaps(*store_);
}

}  // namespace
}  // namespace tenure::testing
