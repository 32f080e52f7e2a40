#include "server/access/trace.h"

#include <gtest/gtest.h>

namespace tenure::access {
namespace {

TEST(TraceIdTest, TheTraceIdComesFromTheTraceparent) {
  EXPECT_EQ(TraceIdOf("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"),
            "4bf92f3577b34da6a3ce929d0e0e4736");
  EXPECT_EQ(TraceIdOf("cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-of-a-later-version"),
            "4bf92f3577b34da6a3ce929d0e0e4736");
}

TEST(TraceIdTest, AMalformedTraceparentHasNoTraceId) {
  EXPECT_EQ(TraceIdOf(std::string_view()), "");
  EXPECT_EQ(TraceIdOf("00-4bf92f3577b34da6a3ce929d0e0e4736"), "");
  EXPECT_EQ(TraceIdOf("00-00000000000000000000000000000000-00f067aa0ba902b7-01"), "");
  EXPECT_EQ(TraceIdOf("00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01"), "");
  EXPECT_EQ(TraceIdOf("00-4bf92f3577b34da6a3ce929d0e0e473 -00f067aa0ba902b7-01"), "");
}

}  // namespace
}  // namespace tenure::access
