#include "base/duration_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace tenure {
namespace {

using namespace std::chrono_literals;

using Reading = std::pair<std::string, std::chrono::microseconds>;

class ParseDurationTest : public ::testing::TestWithParam<Reading> {};

INSTANTIATE_TEST_SUITE_P(Texts, ParseDurationTest,
                         ::testing::Values(Reading{"500ms", 500ms}, Reading{"10s", 10s},
                                           Reading{"2m", 2min}, Reading{"24h", 24h},
                                           Reading{"1.5s", 1500ms}, Reading{"0.25ms", 250us},
                                           Reading{"0s", 0s}, Reading{"-1s", -1s},
                                           Reading{"0010s", 10s}, Reading{"0.0000004s", 0s},
                                           Reading{"0.0000006s", 1us},
                                           Reading{"1000000000000s", 1'000'000'000'000s}));

TEST_P(ParseDurationTest, ADurationIsANumberAndAUnit) {
  EXPECT_EQ(ParseDuration(GetParam().first), GetParam().second);
}

class BadDurationTest : public ::testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(Texts, BadDurationTest,
                         ::testing::Values("", "10", "s", "ms", "-s", "10 s", " 10s", "10s ", "10S",
                                           "10sec", "10us", "10d", "1h30m", "+1s", "--1s", "1,5s",
                                           "1e3s", "0x10s", "infs", "nans", "ten s"));

TEST_P(BadDurationTest, ABadDurationIsRefused) {
  EXPECT_EQ(ParseDuration(GetParam()), std::nullopt);
}

INSTANTIATE_TEST_SUITE_P(TooLong, BadDurationTest,
                         ::testing::Values("1000000000001s", "-1000000000001s",
                                           "99999999999999999999h", std::string(400, '9') + "s"));

TEST(ParseDurationTextTest, NoTextIsNoDuration) {
  EXPECT_EQ(ParseDuration(std::string_view()), std::nullopt);
}

using Writing = std::pair<std::chrono::microseconds, std::string>;

class DurationTextTest : public ::testing::TestWithParam<Writing> {};

INSTANTIATE_TEST_SUITE_P(Durations, DurationTextTest,
                         ::testing::Values(Writing{10s, "10s"}, Writing{1500ms, "1500ms"},
                                           Writing{60s, "1m"}, Writing{90s, "90s"},
                                           Writing{24h, "24h"}, Writing{0s, "0ms"},
                                           Writing{-1s, "-1s"}));

TEST_P(DurationTextTest, TheShortestFormIsWritten) {
  EXPECT_EQ(DurationText(GetParam().first), GetParam().second);
}

TEST_P(DurationTextTest, ADurationReadsBackAsTheSame) {
  EXPECT_EQ(ParseDuration(DurationText(GetParam().first)), GetParam().first);
}

}  // namespace
}  // namespace tenure
