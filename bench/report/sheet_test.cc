#include "bench/report/sheet.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tenure::bench {
namespace {

using ::testing::EndsWith;
using ::testing::Eq;

Results TwoRows() {
  using enum Goal::Sense;
  using enum Row::Summary;
  return {{
      {RowId::kCycles32,
       "cycles",
       "per s",
       kMedian,
       {{kAtLeast, 2, Column::kEtcd}, {kAtLeast, 3, Column::kZooKeeper}},
       {{Column::kTenure, {12'000}}, {Column::kEtcd, {5'000}}, {Column::kZooKeeper, {6'000}}}},
      {RowId::kHandOverElsewhere,
       "told elsewhere",
       "ms",
       kMedian,
       {{kAtMost, 20, Goal::RowUnit{}}},
       {{Column::kTenure, {12.5}}}},
      {RowId::kIdle, "idle", "per s", kMedian, {}, {}},
  }};
}

TEST(SheetTest, FiguresAreAlignedAndEachGoalHasALine) {
  EXPECT_THAT(
      ToSheet(TwoRows()).Text(),
      Eq("work            unit   Tenure   etcd  ZooKeeper  goal                    is\n"
         "cycles          per s  12,000  5,000      6,000  at least 2 x etcd       2.4   met\n"
         "                                                 at least 3 x ZooKeeper  2     MISSED\n"
         "told elsewhere  ms       12.5                    at most 20 ms           12.5  met\n"
         "idle            per s\n"));
}

TEST(SheetTest, TheMarkdownHasTheSameCells) {
  EXPECT_THAT(ToSheet(TwoRows()).Markdown(),
              Eq("| work | unit | Tenure | etcd | ZooKeeper | goal | is |  |\n"
                 "| --- | --- | ---: | ---: | ---: | --- | --- | --- |\n"
                 "| cycles | per s | 12,000 | 5,000 | 6,000 | at least 2 x etcd | 2.4 | met |\n"
                 "|  |  |  |  |  | at least 3 x ZooKeeper | 2 | MISSED |\n"
                 "| told elsewhere | ms | 12.5 |  |  | at most 20 ms | 12.5 | met |\n"
                 "| idle | per s |  |  |  |  |  |  |\n"));
}

TEST(SheetTest, AdditionalMeasurementsHaveTheirOwnColumns) {
  const Results results{{{RowId::kReads,
                          "reads",
                          "reads/s",
                          Row::Summary::kMedian,
                          {},
                          {{Column::kTenure, {3}}, {Column::kTenureOnMySql, {2}}}}}};

  EXPECT_THAT(ToSheet(results).Text(),
              Eq("work   unit     Tenure  Tenure on MySQL  etcd  ZooKeeper  goal  is\n"
                 "reads  reads/s       3                2\n"));
}

TEST(SheetTest, RemarksAreUnderTheTable) {
  Results results = TwoRows();

  results.remarks = {"One was left out."};

  EXPECT_THAT(ToSheet(results).Text(), EndsWith("\n\nOne was left out.\n"));
}

}  // namespace
}  // namespace tenure::bench
