#include "server/log/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace tenure {
namespace {

using ::testing::HasSubstr;

TEST(TextLineTest, FieldsFollowTheMessage) {
  EXPECT_EQ(TextLine("leader changed",
                     {{"election", "orders/eu"}, {"term", uint64_t{8}}, {"leaderless_s", 0.25}}),
            "leader changed election=orders/eu term=8 leaderless_s=0.250");
}

TEST(TextLineTest, AmbiguousValuesAreQuoted) {
  EXPECT_EQ(TextLine("x", {{"a", "b c"}, {"d", "e=f"}, {"g", "h\"i"}, {"j", "k\nl"}}),
            R"(x a="b c" d="e=f" g="h\"i" j="k\nl")");
}

TEST(TextLineTest, WhatWouldDeceiveAReaderIsEscaped) {
  EXPECT_EQ(TextLine("x", {{"a", "\u009b31m"}, {"b", "c\u202Ed"}, {"e", "f\u2028g"}}),
            R"(x a="\u009b31m" b="c\u202ed" e="f\u2028g")");
  EXPECT_EQ(TextLine("x", {{"a", "\x9b"}, {"b", "föö 日本"}, {"c", "🗳"}}),
            "x a=\"\uFFFD\" b=\"föö 日本\" c=🗳");
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

TEST(JsonLineTest, WhatWouldDeceiveAReaderIsEscaped) {
  const auto line = JsonLine("t", "info", "x", {{"a", "\x7f\u009b\u061C\u200E\u202E\u2029\u2066"}});

  EXPECT_THAT(line, HasSubstr(R"("a":"\u007f\u009b\u061c\u200e\u202e\u2029\u2066")"));
}

TEST(JsonLineTest, BytesThatAreNotUtf8AreReplaced) {
  const auto line = JsonLine("t", "info", "x", {{"a", "\xff"}});

  EXPECT_EQ(nlohmann::json::parse(line).at("a"), "\xEF\xBF\xBD");
}

}  // namespace
}  // namespace tenure
