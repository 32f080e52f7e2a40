#include "server/network/fair_share.h"

#include <gtest/gtest.h>

namespace tenure::network {
namespace {

using namespace std::chrono_literals;

constexpr FairShare::Time kNow = FairShare::Time() + 1h;

Origin Nth(size_t number) {
  return {static_cast<uint8_t>(number >> 8), static_cast<uint8_t>(number)};
}

size_t TakeAll(FairShare& share, const Origin& origin, FairShare::Time now = kNow) {
  size_t taken = 0;
  while (share.Take(origin, 1, now)) ++taken;
  return taken;
}

TEST(FairShareTest, AnOriginLeavesAsMuchAsItHolds) {
  FairShare share({.max = 90});

  EXPECT_EQ(TakeAll(share, Nth(1)), 45u);
  EXPECT_EQ(TakeAll(share, Nth(2)), 22u);
  EXPECT_EQ(share.held(), 67u);
}

TEST(FairShareTest, WhatIsGivenBackCanBeTaken) {
  FairShare share({.max = 2});
  ASSERT_TRUE(share.Take(Nth(1), 1, kNow));
  ASSERT_FALSE(share.Take(Nth(1), 1, kNow));

  share.GiveBack(Nth(1), 1);

  EXPECT_EQ(share.held(), 0u);
  EXPECT_TRUE(share.Take(Nth(1), 1, kNow));
}

TEST(FairShareTest, AnAmountIsTakenAsAWhole) {
  FairShare share({.max = 100});

  EXPECT_FALSE(share.Take(Nth(1), 101, kNow));
  EXPECT_TRUE(share.Take(Nth(1), 50, kNow));
  EXPECT_FALSE(share.Take(Nth(2), 51, kNow));

  EXPECT_EQ(share.held(), 50u);
}

TEST(FairShareTest, WhatWasHeldForNothingCountsUntilItIsForgiven) {
  FairShare share({.max = 40, .forgiven_per_s = 10, .forgiven_in_all_per_s = 10});
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(share.Take(Nth(1), 1, kNow));
  for (int i = 0; i < 20; ++i) share.GiveBackForNothing(Nth(1), 1, kNow);
  EXPECT_EQ(share.held(), 0u);

  EXPECT_EQ(TakeAll(share, Nth(1), kNow), 0u);
  EXPECT_EQ(TakeAll(share, Nth(1), kNow + 1s), 10u);
}

TEST(FairShareTest, AnOriginOwesOnlyWhatItHeldItself) {
  FairShare share({.max = 40, .forgiven_per_s = 1, .forgiven_in_all_per_s = 1});
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(share.Take(Nth(1), 1, kNow));
  for (int i = 0; i < 20; ++i) share.GiveBackForNothing(Nth(1), 1, kNow);

  EXPECT_EQ(TakeAll(share, Nth(2), kNow), 10u);
}

// Many origins that each hold something for nothing, again and again: only the rate in all bounds
// them.
TEST(FairShareTest, TheRateInAllBoundsManyOrigins) {
  FairShare share({.max = 100, .forgiven_per_s = 50, .forgiven_in_all_per_s = 100});
  size_t taken = 0;
  FairShare::Time now = kNow;
  for (size_t i = 0; i < 50'000; ++i, now += 1ms) {
    if (!share.Take(Nth(i), 1, now)) continue;
    share.GiveBackForNothing(Nth(i), 1, now);
    ++taken;
  }
  EXPECT_LE(taken, 100u + 50u * 100u);
  EXPECT_GE(taken, 50u * 100u);
}

}  // namespace
}  // namespace tenure::network
