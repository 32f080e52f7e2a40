#include "server/network/self_check.h"

#include <gtest/gtest.h>

#include <future>

namespace tenure::network {
namespace {

TEST(SelfCheckTest, ANewSelfCheckIsHealthy) {
  std::promise<void> asked;
  std::atomic<bool> first = true;
  const SelfCheck check([&] {
    if (first.exchange(false)) asked.set_value();
    return false;
  });
  asked.get_future().wait();

  EXPECT_TRUE(check.Healthy());
}

TEST(SelfCheckTest, AStoppedSelfCheckStaysHealthyAndAsksNoMore) {
  std::atomic<int> asked = 0;
  SelfCheck check([&] {
    ++asked;
    return false;
  });

  check.Stop();
  const int until_then = asked;

  EXPECT_TRUE(check.Healthy());
  EXPECT_EQ(asked, until_then);
  check.Stop();  // again: no effect
}

}  // namespace
}  // namespace tenure::network
