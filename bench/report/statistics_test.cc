#include "bench/report/statistics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

namespace tenure::bench {
namespace {

using ::testing::DoubleEq;

TEST(StatisticsTest, TheMedianDoesNotDependOnTheOrder) {
  EXPECT_THAT(Median({9, 1, 5}), DoubleEq(5));
}

TEST(StatisticsTest, TheMedianOfAnEvenNumberLiesBetweenTheMiddleTwo) {
  EXPECT_THAT(Median({1, 9, 2, 4}), DoubleEq(3));
}

TEST(StatisticsTest, OneOutlierDoesNotMoveTheMedian) {
  EXPECT_THAT(Median({2, 3, 1'000'000}), DoubleEq(3));
}

TEST(StatisticsTest, APercentileIsAMeasuredValue) {
  std::vector<double> values(200);
  std::iota(values.rbegin(), values.rend(), 1);

  EXPECT_THAT(Percentile(values, 0.99), DoubleEq(198));
  EXPECT_THAT(Percentile(values, 0.5), DoubleEq(100));
  EXPECT_THAT(Percentile(values, 1), DoubleEq(200));
}

TEST(StatisticsTest, APercentileOfFewValuesIsTheLargest) {
  EXPECT_THAT(Percentile({3, 7}, 0.99), DoubleEq(7));
}

}  // namespace
}  // namespace tenure::bench
