#include "server/database_clock.h"

#include <gtest/gtest.h>

namespace tenure {
namespace {

using namespace std::chrono_literals;

constexpr SteadyTime kStart{1h};
constexpr DbTime kDatabaseStart{1000h};

class DatabaseClockTest : public ::testing::Test {
 protected:
  // The database's clock is ahead by `ahead`, when it is asked so long after the start.
  std::optional<Duration> Ask(SteadyTime::duration after, Duration ahead = 0s,
                              SteadyTime::duration round_trip = 0s) {
    const auto middle = std::chrono::duration_cast<Duration>(after + round_trip / 2);
    return clock_.Saw(kDatabaseStart + middle + ahead, kStart + after, kStart + after + round_trip);
  }

  DatabaseClock clock_;
};

TEST_F(DatabaseClockTest, TheClockIsUnknownBeforeTheFirstReading) {
  EXPECT_EQ(clock_.At(kStart), std::nullopt);
}

TEST_F(DatabaseClockTest, TheClockAdvancesWithTheMonotonicClock) {
  Ask(0s);

  EXPECT_EQ(clock_.At(kStart + 5s), kDatabaseStart + 5s);
}

TEST_F(DatabaseClockTest, AReadingCountsForTheMiddleOfTheRoundTrip) {
  clock_.Saw(kDatabaseStart, kStart, kStart + 200ms);

  EXPECT_EQ(clock_.At(kStart + 100ms), kDatabaseStart);
}

TEST_F(DatabaseClockTest, ASteadyClockHasNotJumped) {
  Ask(0s);

  EXPECT_EQ(Ask(1h), std::nullopt);
  EXPECT_EQ(Ask(1h + 1s, 500ms), std::nullopt);
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

TEST_F(DatabaseClockTest, ADifferenceWithinTheRoundTripIsNoJump) {
  Ask(0s);

  EXPECT_EQ(Ask(1s, 1s, 4s), std::nullopt);
  EXPECT_EQ(Ask(10s, 4s), Duration(3s));
}

}  // namespace
}  // namespace tenure
