#include "storage/mysql/pool.h"

#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <thread>

namespace tenure::mysql {
namespace {

using namespace std::chrono_literals;

TEST(PoolTest, AWaitingBorrowerContinuesWhenASlotIsReturned) {
  Config config;
  config.connections_max = 1;
  Pool pool(config, 1min);

  // Some begin to wait before the slot is returned.
  for (int round = 0; round < 100 && !HasFailure(); ++round) {
    std::unique_ptr<Pool::Loan> loan(new Pool::Loan(pool.Borrow()));
    std::promise<void> begins;
    auto waits = std::async(std::launch::async, [&] {
      begins.set_value();
      (void)pool.Borrow();
    });
    begins.get_future().wait();
    std::this_thread::yield();
    loan.reset();

    EXPECT_EQ(waits.wait_for(30s), std::future_status::ready) << "it was not notified";
  }
}

TEST(PoolTest, AWaitForASlotIsBounded) {
  Config config;
  config.connections_max = 1;
  Pool pool(config, 1ms);
  const auto loan = pool.Borrow();

  EXPECT_THROW((void)pool.Borrow(), MySqlError);
}

}  // namespace
}  // namespace tenure::mysql
