#include "base/fair_share.h"

#include <gtest/gtest.h>

namespace tenure {
namespace {

using namespace std::chrono_literals;
using Share = FairShare<size_t>;

constexpr Share::Time kNow = Share::Time() + 1h;

size_t TakeAll(Share& share, size_t holder, Share::Time now = kNow) {
  size_t taken = 0;
  while (share.Take(holder, 1, now)) ++taken;
  return taken;
}

TEST(FairShareTest, AHolderLeavesAsMuchAsItHolds) {
  Share share({.max = 90});

  EXPECT_EQ(TakeAll(share, 1), 45u);
  EXPECT_EQ(TakeAll(share, 2), 22u);
  EXPECT_EQ(share.held(), 67u);
}

TEST(FairShareTest, AReturnedAmountCanBeTakenAgain) {
  Share share({.max = 2});
  ASSERT_TRUE(share.Take(1, 1, kNow));
  ASSERT_FALSE(share.Take(1, 1, kNow));

  share.Release(1, 1);

  EXPECT_EQ(share.held(), 0u);
  EXPECT_TRUE(share.Take(1, 1, kNow));
}

TEST(FairShareTest, AnAmountIsTakenAsAWhole) {
  Share share({.max = 100});

  EXPECT_FALSE(share.Take(1, 101, kNow));
  EXPECT_TRUE(share.Take(1, 50, kNow));
  EXPECT_FALSE(share.Take(2, 51, kNow));

  EXPECT_EQ(share.held(), 50u);
}

TEST(FairShareTest, AnAmountHeldToNoPurposeCountsUntilItIsForgiven) {
  Share share({.max = 40, .forgiven_per_s = 10, .forgiven_in_all_per_s = 10});
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(share.Take(1, 1, kNow));
  for (int i = 0; i < 20; ++i) share.ReleaseUnused(1, 1, kNow);
  EXPECT_EQ(share.held(), 0u);

  EXPECT_EQ(TakeAll(share, 1, kNow), 0u);
  EXPECT_EQ(TakeAll(share, 1, kNow + 1s), 10u);
}

TEST(FairShareTest, AHolderOwesOnlyWhatItHeldItself) {
  Share share({.max = 40, .forgiven_per_s = 1, .forgiven_in_all_per_s = 1});
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(share.Take(1, 1, kNow));
  for (int i = 0; i < 20; ++i) share.ReleaseUnused(1, 1, kNow);

  EXPECT_EQ(TakeAll(share, 2, kNow), 10u);
}

// Each of many holders holds a little for nothing: only the total rate bounds them.
TEST(FairShareTest, TheTotalRateBoundsManyHolders) {
  Share share({.max = 100, .forgiven_per_s = 50, .forgiven_in_all_per_s = 100});
  size_t taken = 0;
  Share::Time now = kNow;
  for (size_t i = 0; i < 50'000; ++i, now += 1ms) {
    if (!share.Take(i, 1, now)) continue;
    share.ReleaseUnused(i, 1, now);
    ++taken;
  }
  EXPECT_LE(taken, 100u + 50u * 100u);
  EXPECT_GE(taken, 50u * 100u);
}

}  // namespace
}  // namespace tenure
