#include "storage/mysql/runner.h"

#include <gtest/gtest.h>

namespace tenure::mysql {
namespace {

using namespace std::chrono_literals;

TEST(BackoffTest, RisesToTwentyMillisecondsAndStaysThere) {
  EXPECT_EQ(LongestBackoff(1), 1ms);
  EXPECT_EQ(LongestBackoff(2), 2ms);
  EXPECT_EQ(LongestBackoff(5), 16ms);
  for (int tries = 6; tries < 300; ++tries) EXPECT_EQ(LongestBackoff(tries), 20ms) << tries;
}

}  // namespace
}  // namespace tenure::mysql
