#include "server/log/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace tenure {
namespace {

TEST(TextLineTest, FieldsFollowTheMessage) {
  EXPECT_EQ(TextLine("leader changed",
                     {{"election", "orders/eu"}, {"term", uint64_t{8}}, {"leaderless_s", 0.25}}),
            "leader changed election=orders/eu term=8 leaderless_s=0.250");
}

TEST(TextLineTest, AmbiguousValuesAreQuoted) {
  EXPECT_EQ(TextLine("x", {{"a", "b c"}, {"d", "e=f"}, {"g", "h\"i"}, {"j", "k\nl"}}),
            R"(x a="b c" d="e=f" g="h\"i" j="k\nl")");
}

TEST(TextLineTest, EmptyFieldsAreLeftOut) {
  EXPECT_EQ(TextLine("x", {{"a", ""}, {"b", "c"}}), "x b=c");
}

TEST(JsonLineTest, ALineIsOneJsonObject) {
  const auto line = JsonLine("2026-11-21T10:00:00.000Z", "info", "leader \"changed\"",
                             {{"election", "a\nb"}, {"to", ""}, {"term", uint64_t{8}}});

  EXPECT_EQ(line.find('\n'), std::string::npos);
  EXPECT_EQ(nlohmann::json::parse(line), nlohmann::json({{"time", "2026-11-21T10:00:00.000Z"},
                                                         {"level", "info"},
                                                         {"message", "leader \"changed\""},
                                                         {"election", "a\nb"},
                                                         {"term", 8}}));
}

TEST(JsonLineTest, BytesThatAreNotUtf8AreReplaced) {
  const auto line = JsonLine("t", "info", "x", {{"a", "\xff"}});

  EXPECT_EQ(nlohmann::json::parse(line).at("a"), "\xEF\xBF\xBD");
}

}  // namespace
}  // namespace tenure
