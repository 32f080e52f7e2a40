#include "bench/report/scheme_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tenure::bench {
namespace {

using ::testing::Eq;
using ::testing::HasSubstr;

SchemeTable TwoSchemes() {
  return {.rows = {{.scheme = "lock row",
                    .candidates = 10,
                    .elections = 1,
                    .cost = {.statements_per_second = 9.3,
                             .database_processors = 0.01,
                             .log_bytes_per_second = 2048,
                             .connections = 10},
                    .losses = {.crash_ms = {10'400, 10'100, 10'900},
                               .resign_ms = {90, 40, 400},
                               .overlap_ms = {1.5, 0, 0.5}}},
                   {.scheme = "Tenure",
                    .candidates = 1000,
                    .elections = 100,
                    .cost = {.statements_per_second = 3,
                             .database_processors = 0.004,
                             .tenured_processors = 0.25,
                             .connections = 5}}},
          .remarks = {"One remark."}};
}

TEST(SchemeTableTest, ARowHasItsCostAndMedians) {
  EXPECT_THAT(
      ToSheet(TwoSchemes()).Markdown(),
      Eq("| scheme | candidates | elections | statements/s | processors: database | tenured | "
         "binary log KB/s | connections | crash to next ms | resign to next ms | two led |\n"
         "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |\n"
         "| lock row | 10 | 1 | 9.3 | 0.01 |  | 2 | 10 | 10,400 | 90 | 2 of 3, 1 ms |\n"
         "| Tenure | 1,000 | 100 | 3 | < 0.01 | 0.25 | 0 | 5 |  |  |  |\n"
         "\n"
         "One remark.\n"));
}

TEST(SchemeTableTest, AFormerLeaderThatStopsInTimeIsCounted) {
  SchemeTable table = TwoSchemes();

  table.rows[0].losses.overlap_ms = {0, 0};

  EXPECT_THAT(ToSheet(table).Markdown(), HasSubstr("| 90 | 0 of 2 |\n"));
}

TEST(SchemeTableTest, RemarksNameRowsThatWereNotSteady) {
  SchemeTable table = TwoSchemes();

  table.rows[0].cost.new_leaders = 2;
  table.rows[1].cost.failed_statements = 1200;

  EXPECT_THAT(ToSheet(table).remarks,
              Eq(std::vector<std::string>{
                  "One remark.",
                  "Leaders did not hold their seats: lock row, 10 candidates, 1 election: 2 new "
                  "leaders",
                  "Statements failed: Tenure, 1,000 candidates, 100 elections: 1,200"}));
}

TEST(SchemeTableTest, TheJsonHasEveryTime) {
  const auto json = ToJson(TwoSchemes());

  EXPECT_THAT(json["rows"][0], Eq(nlohmann::ordered_json::parse(R"({
    "scheme": "lock row", "candidates": 10, "elections": 1, "statements_per_second": 9.3,
    "database_processors": 0.01, "log_bytes_per_second": 2048.0, "connections": 10.0,
    "new_leaders": 0, "failed_statements": 0, "crash_ms": [10400.0, 10100.0, 10900.0],
    "resign_ms": [90.0, 40.0, 400.0], "overlap_ms": [1.5, 0.0, 0.5]})")));
  EXPECT_FALSE(json["rows"][1].contains("crash_ms"));
  EXPECT_THAT(json["rows"][1]["tenured_processors"], Eq(0.25));
}

}  // namespace
}  // namespace tenure::bench
