// The order in which writers of a store run that takes them in turn, checked on SQLite; and that
// reads wait for nobody in any store.
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "tests/contract/store_contract.h"

namespace tenure::testing {
namespace {

using ::testing::ElementsAre;

// Writes the row of the home with the next number, as an adoption does.
CommitRules Adoption(uint64_t number) { return {.witness = HomeWitness{{7}, 0, number}}; }

// Whether a thread of this process waits for something.
bool Sleeps(pid_t thread) {
  std::ifstream stat("/proc/self/task/" + std::to_string(thread) + "/stat");
  const std::string text(std::istreambuf_iterator<char>(stat), {});
  return text.find(") S ") != std::string::npos;
}

// Several transactions queue, one after the other, while one runs; then all of them go.
class TurnsContract : public StoreContract {
 protected:
  void SetUp() override {
    StoreContract::SetUp();
    ASSERT_TRUE(store_->BeginHome({.id = {7}, .good_for = std::chrono::seconds(3)}).value());
  }

  std::vector<std::string> OrderOf(const CommitRules& running,
                                   const std::vector<std::pair<std::string, CommitRules>>& queue) {
    std::vector<std::string> order;  // written in transactions, one at a time
    std::vector<std::thread> threads;
    const auto add = [&](const std::string& name, const CommitRules& rules) {
      std::atomic<pid_t> thread = 0;
      threads.emplace_back([&, name, rules] {
        thread = gettid();
        EXPECT_TRUE(store_->Transact({}, rules, [&](const auto&) { order.push_back(name); }));
      });
      EXPECT_TRUE(Eventually([&] { return thread != 0 && Sleeps(thread); }));
    };
    EXPECT_TRUE(store_->Transact({}, running, [&](const auto&) {
      for (const auto& [name, rules] : queue) add(name, rules);
    }));
    for (std::thread& thread : threads) thread.join();
    return order;
  }
};

INSTANTIATE_TEST_SUITE_P(Stores, TurnsContract,
                         ::testing::Values(Kind::kSqliteMemory, Kind::kSqliteFile), KindName);

TEST_P(TurnsContract, AnAdoptionGoesBeforeAllOthersThatWait) {
  const auto order = OrderOf({}, {{"first", {}}, {"second", {}}, {"adoption", Adoption(1)}});

  EXPECT_THAT(order, ElementsAre("adoption", "first", "second"));
}

TEST_P(TurnsContract, AdoptionsDoNotKeepTheOthersOut) {
  const auto order =
      OrderOf(Adoption(1),
              {{"adoption 2", Adoption(2)}, {"adoption 3", Adoption(3)}, {"a", {}}, {"b", {}}});

  EXPECT_THAT(order, ElementsAre("a", "adoption 2", "b", "adoption 3"));
}

class ReadsContract : public StoreContract {};

INSTANTIATE_TEST_SUITE_P(Stores, ReadsContract, ::testing::Values(Kind::kSqliteFile, Kind::kServer),
                         KindName);

TEST_P(ReadsContract, AReadDoesNotWaitForATransaction) {
  std::future<Result<Statistics>> read;

  ASSERT_TRUE(store_->Transact({}, {}, [&](const auto&) {
    read = std::async(std::launch::async, [&] { return store_->ReadStatistics(); });
    EXPECT_EQ(read.wait_for(kPatience), std::future_status::ready);
  }));
}

}  // namespace
}  // namespace tenure::testing
