#include "server/engine/work/database_clock.h"

#include <gtest/gtest.h>

namespace tenure::engine {
namespace {

using namespace std::chrono_literals;

constexpr SteadyTime kBegin{1h};
constexpr DbTime kDatabaseStart{1000h};

TEST(DatabaseClockTest, TheClockIsUnknownBeforeTheFirstReading) {
  EXPECT_EQ(DatabaseClock().At(kBegin), std::nullopt);
}

TEST(DatabaseClockTest, TheClockAdvancesWithTheMonotonicClock) {
  DatabaseClock clock;
  clock.Saw(kDatabaseStart, kBegin, kBegin);

  EXPECT_EQ(clock.At(kBegin + 5s), kDatabaseStart + 5s);
}

TEST(DatabaseClockTest, AReadingCountsForTheMiddleOfTheRoundTrip) {
  DatabaseClock clock;
  clock.Saw(kDatabaseStart, kBegin, kBegin + 200ms);

  EXPECT_EQ(clock.At(kBegin + 100ms), kDatabaseStart);
}

TEST(DatabaseClockTest, AClockThatWasSetIsFollowed) {
  DatabaseClock clock;
  clock.Saw(kDatabaseStart, kBegin, kBegin);
  clock.Saw(kDatabaseStart + 1h, kBegin + 1s, kBegin + 1s);

  EXPECT_EQ(clock.At(kBegin + 2s), kDatabaseStart + 1h + 1s);
}

}  // namespace
}  // namespace tenure::engine
