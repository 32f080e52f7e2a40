#include "bench/report/call_tally.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tenure::bench {
namespace {

using ::testing::DoubleEq;
using ::testing::Eq;

CallTally SomeCalls() {
  return {.answered_ms = {1, 2, 9},
          .refused_ms = {5},
          .refused_without_retry_info = 1,
          .failed = {{"DEADLINE", 2}, {"STORE_UNAVAILABLE", 1}}};
}

TEST(CallTallyTest, ASummaryHasCountsAndLatencies) {
  const auto summary = Summarize(SomeCalls());

  EXPECT_THAT(summary.answered.count, Eq(3));
  EXPECT_THAT(summary.answered.median_ms, DoubleEq(2));
  EXPECT_THAT(summary.answered.p99_ms, DoubleEq(9));
  EXPECT_THAT(summary.refused.count, Eq(1));
  EXPECT_THAT(summary.FailedInAll(), Eq(3));
}

TEST(CallTallyTest, NoCallsHaveNoLatency) {
  const auto summary = Summarize({});

  EXPECT_THAT(summary.answered.count, Eq(0));
  EXPECT_THAT(summary.answered.p99_ms, DoubleEq(0));
}

TEST(CallTallyTest, TalliesAddUp) {
  CallTally tally = SomeCalls();

  tally.Add(SomeCalls());

  const auto summary = Summarize(tally);
  EXPECT_THAT(summary.answered.count, Eq(6));
  EXPECT_THAT(summary.refused_without_retry_info, Eq(2));
  EXPECT_THAT(summary.failed.at("DEADLINE"), Eq(4));
}

TEST(CallTallyTest, ASummaryIsTheSameInAnotherProcess) {
  const auto json = ToJson(Summarize(SomeCalls()));

  EXPECT_THAT(ToJson(TallySummaryFromJson(nlohmann::json::parse(json.dump()))), Eq(json));
}

TEST(CallTallyTest, SaturationIsTheFewestCallsInFlightThatReachTheBestThroughput) {
  EXPECT_THAT(SaturatingInFlight({{32, 500}, {128, 960}, {512, 1000}, {2048, 990}}, 0.95), Eq(128));
  EXPECT_THAT(SaturatingInFlight({{32, 500}, {128, 600}, {512, 1000}}, 0.95), Eq(512));
}

}  // namespace
}  // namespace tenure::bench
