#include "bench/report/arrivals.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tenure::bench {
namespace {

using ::testing::Eq;
using ::testing::Optional;

using namespace std::chrono_literals;

constexpr Schedule::TimePoint kStart{1h};

TEST(ScheduleTest, ArrivalsAreEvenlySpaced) {
  const Schedule schedule(kStart, 500);

  EXPECT_THAT(schedule.Due(0), Eq(kStart));
  EXPECT_THAT(schedule.Due(1), Eq(kStart + 2ms));
  EXPECT_THAT(schedule.Due(2), Eq(kStart + 4ms));
}

TEST(ScheduleTest, AFractionalSpacingDoesNotDrift) {
  const Schedule schedule(kStart, 3'000);

  EXPECT_THAT(schedule.Due(3'000'000), Eq(kStart + 1'000s));
}

TEST(ArrivalsTest, TheWorkerThatHasBeenFreeForLongestIsNext) {
  Arrivals arrivals(2);

  EXPECT_THAT(arrivals.Arrive(0), Optional(0));
  EXPECT_THAT(arrivals.Done(0), Eq(std::nullopt));

  EXPECT_THAT(arrivals.Arrive(1), Optional(1));
  EXPECT_THAT(arrivals.Arrive(2), Optional(0));
}

TEST(ArrivalsTest, ArrivalsThatFindAllWorkersBusyAreDoneInOrder) {
  Arrivals arrivals(1);
  (void)arrivals.Arrive(0);

  EXPECT_THAT(arrivals.Arrive(1), Eq(std::nullopt));
  EXPECT_THAT(arrivals.Arrive(2), Eq(std::nullopt));

  EXPECT_THAT(arrivals.Done(0), Optional(1));
  EXPECT_THAT(arrivals.Done(0), Optional(2));
  EXPECT_THAT(arrivals.Done(0), Eq(std::nullopt));
}

TEST(ArrivalsTest, ALoopIsIdleWhenAllArrivalsAreDone) {
  Arrivals arrivals(1);
  EXPECT_TRUE(arrivals.Idle());

  (void)arrivals.Arrive(0);
  (void)arrivals.Arrive(1);
  (void)arrivals.Done(0);
  EXPECT_FALSE(arrivals.Idle());

  (void)arrivals.Done(0);
  EXPECT_TRUE(arrivals.Idle());
}

}  // namespace
}  // namespace tenure::bench
