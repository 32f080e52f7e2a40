#include "proto/time.h"

#include <gtest/gtest.h>

#include <limits>

namespace tenure {
namespace {

using namespace std::chrono_literals;

constexpr Duration kCentury = std::chrono::hours(100 * 365 * 24);
constexpr int64_t kProtoSecondsMax = 315'576'000'000;

google::protobuf::Duration Message(int64_t seconds, int32_t nanos) {
  google::protobuf::Duration message;
  message.set_seconds(seconds);
  message.set_nanos(nanos);
  return message;
}

struct DurationCase {
  int64_t seconds;
  int32_t nanos;
  std::optional<Duration> expected;
};

class DurationFromProtoTest : public ::testing::TestWithParam<DurationCase> {};

TEST_P(DurationFromProtoTest, ADurationIsReadAsTheTableSays) {
  const auto& [seconds, nanos, expected] = GetParam();

  EXPECT_EQ(FromProto(Message(seconds, nanos)), expected);
}

INSTANTIATE_TEST_SUITE_P(Valid, DurationFromProtoTest,
                         ::testing::Values(DurationCase{0, 0, 0us},  //
                                           DurationCase{10, 0, 10s},
                                           DurationCase{1, 500'000'000, 1500ms},
                                           DurationCase{0, 1'000, 1us}, DurationCase{-1, 0, -1s},
                                           DurationCase{-1, -500'000'000, -1500ms},
                                           DurationCase{0, -1'000, -1us}));

INSTANTIATE_TEST_SUITE_P(PartsOfAMicrosecondAreDropped, DurationFromProtoTest,
                         ::testing::Values(DurationCase{0, 999, 0us},
                                           DurationCase{1, 1'999, 1s + 1us},
                                           DurationCase{0, 999'999'999, 999'999us},
                                           DurationCase{0, -999, 0us}));

INSTANTIATE_TEST_SUITE_P(MoreThanACenturyIsACentury, DurationFromProtoTest,
                         ::testing::Values(DurationCase{kProtoSecondsMax, 0, kCentury},
                                           DurationCase{kProtoSecondsMax, 999'999'999, kCentury},
                                           DurationCase{-kProtoSecondsMax, 0, -kCentury},
                                           DurationCase{100LL * 365 * 24 * 3600, 1'000, kCentury}));

INSTANTIATE_TEST_SUITE_P(
    Refused, DurationFromProtoTest,
    ::testing::Values(DurationCase{1, -1, std::nullopt}, DurationCase{-1, 1, std::nullopt},
                      DurationCase{0, 1'000'000'000, std::nullopt},
                      DurationCase{0, -1'000'000'000, std::nullopt},
                      DurationCase{kProtoSecondsMax + 1, 0, std::nullopt},
                      DurationCase{-kProtoSecondsMax - 1, 0, std::nullopt},
                      DurationCase{std::numeric_limits<int64_t>::max(), 0, std::nullopt},
                      DurationCase{std::numeric_limits<int64_t>::min(), 0, std::nullopt},
                      DurationCase{0, std::numeric_limits<int32_t>::min(), std::nullopt}));

TEST(DurationToProtoTest, EveryMicrosecondIsKept) {
  const auto message = ToProto(Duration(1'500'001us));

  EXPECT_EQ(message.seconds(), 1);
  EXPECT_EQ(message.nanos(), 500'001'000);
}

TEST(DurationToProtoTest, ADurationReadsBackAsTheSame) {
  for (const Duration duration : {Duration(0), Duration(1us), Duration(10s), Duration(-1500ms)}) {
    EXPECT_EQ(FromProto(ToProto(duration)), duration);
  }
}

TEST(TimestampToProtoTest, ATimestampCountsFromTheEpoch) {
  const auto message = ToProto(DbTime{1'700'000'000s + 250ms});

  EXPECT_EQ(message.seconds(), 1'700'000'000);
  EXPECT_EQ(message.nanos(), 250'000'000);
}

TEST(TimestampToProtoTest, ATimestampReadsBackAsTheSame) {
  const DbTime time{1'700'000'000s + 1us};

  EXPECT_EQ(FromProto(ToProto(time)), time);
}

}  // namespace
}  // namespace tenure
