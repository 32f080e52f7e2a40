#include "client/tool/moments.h"

#include <gtest/gtest.h>

#include <string>

#include "proto/time.h"

namespace tenure {
namespace {

using namespace std::chrono_literals;

struct TextCase {
  Duration duration;
  std::string expected;
};

class AgeTest : public ::testing::TestWithParam<TextCase> {};

TEST_P(AgeTest, AnAgeIsShownAsTheTableSays) {
  EXPECT_EQ(AgeText(GetParam().duration), GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(All, AgeTest,
                         ::testing::Values(TextCase{-5s, "0s"},  //
                                           TextCase{0s, "0s"}, TextCase{999ms, "0s"},
                                           TextCase{59s, "59s"}, TextCase{60s, "1m 0s"},
                                           TextCase{3min + 5s, "3m 5s"}, TextCase{1h, "1h 0m"},
                                           TextCase{23h + 59min, "23h 59m"}, TextCase{24h, "1d 0h"},
                                           TextCase{50h, "2d 2h"}));

class LeftTest : public ::testing::TestWithParam<TextCase> {};

TEST_P(LeftTest, RemainingTimeIsShownAsTheTableSays) {
  EXPECT_EQ(LeftText(GetParam().duration), GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(All, LeftTest,
                         ::testing::Values(TextCase{-1s, "over"},  //
                                           TextCase{0s, "over"}, TextCase{50ms, "0.0s"},
                                           TextCase{1250ms, "1.2s"}, TextCase{9999ms, "9.9s"},
                                           TextCase{10s, "10s"}, TextCase{125s, "2m 5s"}));

TEST(UtcTest, UtcTimesAreMachineReadable) {
  EXPECT_EQ(UtcText(ToProto(DbTime{1'777'000'000s + 250ms})), "2026-04-24T03:06:40.250Z");
}

}  // namespace
}  // namespace tenure
