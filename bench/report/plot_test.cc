#include "bench/report/plot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tenure::bench {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

Results OneRow(std::map<Column, std::vector<double>> rounds) {
  return {{{RowId::kReads,
            "reads",
            "reads/s",
            Row::Summary::kMedian,
            {{Goal::Sense::kAtLeast, 2, Column::kEtcd}},
            std::move(rounds)}}};
}

TEST(PlotTest, ABarIsAsLongAsItsFigureAndTheGoalIsALine) {
  const auto svg = Plot(OneRow({{Column::kTenure, {400}}, {Column::kEtcd, {250}}}));

  EXPECT_THAT(svg,
              AllOf(HasSubstr("<rect class=\"Tenure\" x=\"130\" y=\"52\" width=\"400.0\""),
                    HasSubstr("<rect class=\"etcd\" x=\"130\" y=\"76\" width=\"250.0\""),
                    HasSubstr("<path class=\"goal\" d=\"M630.0 "), HasSubstr("more is better")));
}

TEST(PlotTest, ABarShowsTheRangeOfItsRounds) {
  const auto svg = Plot(OneRow({{Column::kTenure, {100, 500, 300}}, {Column::kEtcd, {1}}}));

  EXPECT_THAT(svg, HasSubstr("<path class=\"range\" d=\"M230.0 61H630.0\"/>"));
}

TEST(PlotTest, ARowWithOneSystemMakesNoComparison) {
  EXPECT_THAT(Plot(OneRow({{Column::kTenure, {400}}})), Not(HasSubstr("class=\"title\"")));
}

}  // namespace
}  // namespace tenure::bench
