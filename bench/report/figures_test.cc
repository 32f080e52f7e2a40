#include "bench/report/figures.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tenure::bench {
namespace {

using ::testing::Eq;

Figures TwoFigures(double lost) {
  return {.list = {{"renewals", "per s", 30'000}, {"sessions lost", "", lost, 0}},
          .remarks = {"Nothing was refused."}};
}

TEST(FiguresTest, OnlyAFigureAboveItsGoalMissesIt) {
  EXPECT_TRUE(TwoFigures(0).AllMet());
  EXPECT_FALSE(TwoFigures(1).AllMet());
}

TEST(FiguresTest, TheTextHasALinePerFigureFollowedByRemarks) {
  EXPECT_THAT(ToSheet(TwoFigures(1)).Text(),
              Eq("what           measured  unit   goal\n"
                 "renewals         30,000  per s\n"
                 "sessions lost         1         at most 0  MISSED\n"
                 "\n"
                 "Nothing was refused.\n"));
}

TEST(FiguresTest, TheMarkdownHasTheSameCells) {
  EXPECT_THAT(ToSheet(TwoFigures(0)).Markdown(), Eq("| what | measured | unit | goal |  |\n"
                                                    "| --- | ---: | --- | --- | --- |\n"
                                                    "| renewals | 30,000 | per s |  |  |\n"
                                                    "| sessions lost | 0 |  | at most 0 | met |\n"
                                                    "\n"
                                                    "Nothing was refused.\n"));
}

TEST(FiguresTest, TheJsonHasEveryFigureAndWhetherAllGoalsAreMet) {
  EXPECT_THAT(ToJson(TwoFigures(1)), Eq(nlohmann::ordered_json::parse(R"({
    "met": false,
    "figures": [
      {"what": "renewals", "unit": "per s", "value": 30000.0},
      {"what": "sessions lost", "unit": "", "value": 1.0, "at_most": 0.0, "met": false}],
    "remarks": ["Nothing was refused."]})")));
}

}  // namespace
}  // namespace tenure::bench
