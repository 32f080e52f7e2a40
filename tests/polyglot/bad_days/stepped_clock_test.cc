#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <fstream>

#include "tests/support/process.h"

namespace tenure::testing {
namespace {

// A program whose time of day is ahead by what a file says.
TEST(SteppedClockTest, AProgramHasTheTimeOfDayThatATestWants) {
  const TempDir folder;
  const std::string clock = folder.path() / "clock";
  const int64_t ahead_ns = std::chrono::nanoseconds(1h).count();
  std::ofstream(clock, std::ios::binary)
      .write(reinterpret_cast<const char*>(&ahead_ns), sizeof ahead_ns);
  const auto now = [] {
    return std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  };

  const auto before = now();
  const Finished date = RunToEnd(
      {"date", "+%s"}, {{"LD_PRELOAD", TENURE_STEPPED_CLOCK}, {"TENURE_TEST_CLOCK", clock}});
  const auto after = now();

  const auto shown = std::stoll(date.output) - std::chrono::seconds(1h).count();
  EXPECT_GE(shown, before);
  EXPECT_LE(shown, after);
}

}  // namespace
}  // namespace tenure::testing
