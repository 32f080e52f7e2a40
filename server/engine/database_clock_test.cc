#include "server/engine/database_clock.h"

#include <gtest/gtest.h>

namespace tenure::engine {
namespace {

using namespace std::chrono_literals;

constexpr SteadyTime kBegin{1h};
constexpr DbTime kDatabaseStart{1000h};

class DatabaseClockTest : public ::testing::Test {
 protected:
  // The database's clock is ahead by `ahead`, when it is asked so long after the start.
  std::optional<Duration> Ask(SteadyTime::duration after, Duration ahead = 0s,
                              SteadyTime::duration round_trip = 0s) {
    const auto middle = std::chrono::duration_cast<Duration>(after + round_trip / 2);
    const DbTime now = kDatabaseStart + middle + ahead;
    const auto jump = clock_.JumpTo(now, kBegin + after, kBegin + after + round_trip);
    clock_.Saw(now, kBegin + after, kBegin + after + round_trip);
    return jump;
  }

  DatabaseClock clock_;
};

TEST_F(DatabaseClockTest, TheClockIsUnknownBeforeTheFirstReading) {
  EXPECT_EQ(clock_.At(kBegin), std::nullopt);
}

TEST_F(DatabaseClockTest, TheClockAdvancesWithTheMonotonicClock) {
  Ask(0s);

  EXPECT_EQ(clock_.At(kBegin + 5s), kDatabaseStart + 5s);
}

TEST_F(DatabaseClockTest, AReadingCountsForTheMiddleOfTheRoundTrip) {
  clock_.Saw(kDatabaseStart, kBegin, kBegin + 200ms);

  EXPECT_EQ(clock_.At(kBegin + 100ms), kDatabaseStart);
}

TEST_F(DatabaseClockTest, ASteadyClockHasNotJumped) {
  Ask(0s);

  EXPECT_EQ(Ask(1h), std::nullopt);
  EXPECT_EQ(Ask(1h + 1s, 50ms), std::nullopt);
}

TEST_F(DatabaseClockTest, AJumpAheadIsSeenOnce) {
  Ask(0s);

  EXPECT_EQ(Ask(1s, 2s), Duration(2s));
  EXPECT_EQ(Ask(2s, 2s), std::nullopt);
}

TEST_F(DatabaseClockTest, AJumpBackIsSeen) {
  Ask(0s);

  EXPECT_EQ(Ask(1s, -3s), Duration(-3s));
}

TEST_F(DatabaseClockTest, AJumpInASlowRoundTripIsSeenInTheNext) {
  Ask(0s);

  EXPECT_EQ(Ask(1s, 2500ms, 6s), std::nullopt);
  EXPECT_TRUE(clock_.HasJumped(kDatabaseStart + 10s + 2500ms, kBegin + 10s, kBegin + 10s));
  EXPECT_EQ(Ask(10s, 2500ms), Duration(2500ms));
}

TEST_F(DatabaseClockTest, TwoClocksMayDriftApart) {
  Ask(0s);

  EXPECT_EQ(Ask(1h, 1s), std::nullopt);
  EXPECT_EQ(Ask(1h + 1s, 3s), Duration(2s));
}

TEST_F(DatabaseClockTest, AClockHasJumpedIfItShowsMoreThanCanHavePassed) {
  EXPECT_FALSE(clock_.HasJumped(kDatabaseStart + 1h, kBegin, kBegin));  // it is not known
  clock_.Saw(kDatabaseStart, kBegin, kBegin + 200ms);  // it may have shown that at the start

  EXPECT_FALSE(clock_.HasJumped(kDatabaseStart + 1s + 50ms, kBegin + 1s, kBegin + 1s));
  EXPECT_TRUE(clock_.HasJumped(kDatabaseStart + 1s + 60ms, kBegin + 1s, kBegin + 1s));
}

TEST_F(DatabaseClockTest, AClockHasJumpedIfItShowsLessThanMustHavePassed) {
  clock_.Saw(kDatabaseStart, kBegin, kBegin + 200ms);  // it may have shown that at the end

  EXPECT_FALSE(clock_.HasJumped(kDatabaseStart + 800ms + -50ms, kBegin + 1s, kBegin + 4s));
  EXPECT_TRUE(clock_.HasJumped(kDatabaseStart + 800ms + -60ms, kBegin + 1s, kBegin + 4s));
}

TEST_F(DatabaseClockTest, AClockIsFamiliarWhenItWasWatchedForLongEnough) {
  EXPECT_FALSE(clock_.IsFamiliar(kBegin + 1h));
  Ask(0s);
  Ask(800ms);

  EXPECT_FALSE(clock_.IsFamiliar(kBegin + 899ms));
  EXPECT_TRUE(clock_.IsFamiliar(kBegin + 900ms));
}

TEST_F(DatabaseClockTest, AClockIsNotFamiliarBySlowAnswers) {
  clock_.Saw(kDatabaseStart, kBegin, kBegin + 4s);
  clock_.Saw(kDatabaseStart + 5s, kBegin + 5s, kBegin + 5s);

  EXPECT_FALSE(clock_.IsFamiliar(kBegin + 5899ms));
  EXPECT_TRUE(clock_.IsFamiliar(kBegin + 5900ms));
}

TEST_F(DatabaseClockTest, ADifferenceWithinTheRoundTripIsNoJump) {
  Ask(0s);

  EXPECT_EQ(Ask(1s, 1s, 4s), std::nullopt);
}

}  // namespace
}  // namespace tenure::engine
