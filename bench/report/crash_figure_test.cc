#include "bench/report/crash_figure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tenure::bench {
namespace {

using ::testing::Eq;

CrashFigure TwoSystems() {
  return {{{Column::kTenure, 100, {2000, 2010, 2030}},
           {Column::kTenure, 10'000, {4000}},
           {Column::kZooKeeper, 100, {3000, 6000}},
           {Column::kZooKeeper, 10'000, {}, "too many files"}}};
}

TEST(CrashFigureTest, EachPointIsALineAndOmissionsAreStated) {
  EXPECT_THAT(ToSheet(TwoSystems()).Text(),
              Eq("system       wait  median ms  least ms  most ms  crashes\n"
                 "Tenure        100      2,010     2,000    2,030        3\n"
                 "Tenure     10,000      4,000     4,000    4,000        1\n"
                 "ZooKeeper     100      4,500     3,000    6,000        2\n"
                 "\n"
                 "Left out: ZooKeeper with 10,000: too many files\n"));
}

TEST(CrashFigureTest, OnlyTenureMustBeMeasuredAtEveryPoint) {
  CrashFigure figure = TwoSystems();
  EXPECT_TRUE(figure.Complete());

  figure.points.front().times_ms.clear();

  EXPECT_FALSE(figure.Complete());
}

TEST(CrashFigureTest, TheJsonHasEveryCrash) {
  const auto points = ToJson(TwoSystems())["points"];

  EXPECT_THAT(points[0], Eq(nlohmann::ordered_json::parse(
                             R"({"system": "Tenure", "waiting": 100, "median_ms": 2010.0,
                                 "times_ms": [2000.0, 2010.0, 2030.0]})")));
  EXPECT_THAT(points[3], Eq(nlohmann::ordered_json::parse(
                             R"({"system": "ZooKeeper", "waiting": 10000,
                                 "left_out": "too many files"})")));
}

}  // namespace
}  // namespace tenure::bench
