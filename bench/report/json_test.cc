#include "bench/report/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tenure::bench {
namespace {

using ::testing::Eq;

TEST(JsonTest, ARowHasItsFigureEveryRoundAndItsVerdicts) {
  const Results results{{{RowId::kReads,
                          "reads",
                          "reads/s",
                          Row::Summary::kMedian,
                          {{Goal::Sense::kAtLeast, 1.5, Column::kEtcd}},
                          {{Column::kTenure, {30, 10, 20}}, {Column::kEtcd, {10}}},
                          {{"p99 ms", {{Column::kTenure, {4, 2, 3}}}}}}},
                        {"A remark."}};

  EXPECT_THAT(ToJson(results), Eq(nlohmann::ordered_json::parse(R"({
    "met": true,
    "rows": [{
      "work": "reads", "unit": "reads/s", "summary": "median",
      "figures": {
        "Tenure": {"value": 20.0, "rounds": [30.0, 10.0, 20.0], "p99 ms": 3.0},
        "etcd": {"value": 10.0, "rounds": [10.0]}
      },
      "goals": [{"goal": "at least 1.5 x etcd", "bound": 15.0, "is": 2.0, "met": true}]
    }],
    "remarks": ["A remark."]
  })")));
}

TEST(JsonTest, FiguresOfWorkThatWasNotDoneAsPlannedAreMarked) {
  Results results{{{RowId::kReads, "reads", "reads/s", Row::Summary::kMedian, {}}}};
  results.rows[0].rounds = {{Column::kTenure, {3}}, {Column::kEtcd, {2}}};

  results.rows[0].spoiled = {Column::kEtcd};

  const auto figures = ToJson(results)["rows"][0]["figures"];
  EXPECT_FALSE(figures["Tenure"].contains("spoiled"));
  EXPECT_THAT(figures["etcd"]["spoiled"], Eq(true));
}

TEST(JsonTest, UnmeasuredFiguresAreNull) {
  const Results results{{{RowId::kReads,
                          "reads",
                          "reads/s",
                          Row::Summary::kMedian,
                          {{Goal::Sense::kAtLeast, 1.5, Column::kEtcd}}}}};

  const auto json = ToJson(results);

  EXPECT_THAT(json["met"], Eq(false));
  EXPECT_THAT(json["rows"][0]["goals"][0]["bound"], Eq(nullptr));
  EXPECT_THAT(json["rows"][0]["goals"][0]["is"], Eq(nullptr));
}

}  // namespace
}  // namespace tenure::bench
