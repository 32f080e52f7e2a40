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

TEST(TextLineTest, DeceptiveCharactersAreEscaped) {
  EXPECT_EQ(TextLine("x", {{"a", "\u009b31m"}, {"b", "c\u202Ed"}, {"e", "f\u2028g"}}),
            R"(x a="\u009b31m" b="c\u202ed" e="f\u2028g")");
  EXPECT_EQ(TextLine("x", {{"a", "\x9b"}, {"b", "föö 日本"}, {"c", "🗳"}}),
            "x a=\"\uFFFD\" b=\"föö 日本\" c=🗳");
}

// Unicode tags are invisible to people, and readable by programs.
TEST(TextLineTest, InvisibleCharactersAreEscaped) {
  EXPECT_EQ(
      TextLine("x", {{"a", "\U000E0041\U000E007Fb"}, {"c", "\U000E0100"}, {"d", "\U0001D173"}}),
      R"(x a="\udb40\udc41\udb40\udc7fb" c="\udb40\udd00" d="\ud834\udd73")");
  EXPECT_EQ(
      TextLine("x", {{"a", "o\u200Brders"}, {"b", "\u2060"}, {"c", "\uFEFF"}, {"d", "\u180E"}}),
      R"(x a="o\u200brders" b="\u2060" c="\ufeff" d="\u180e")");
  EXPECT_EQ(TextLine("x", {{"a", "\u3164"}, {"b", "\u115F"}, {"c", "\u034F"}, {"d", "e\uFE0F"}}),
            R"(x a="\u3164" b="\u115f" c="\u034f" d="e\ufe0f")");
  EXPECT_EQ(TextLine("x", {{"a", "\uFFF9b\uFFFB"}, {"c", "\u0600"}, {"d", "\u2066e\u2069"}}),
            R"(x a="\ufff9b\ufffb" c="\u0600" d="\u2066e\u2069")");
}

TEST(JsonLineTest, InvisibleCharactersAreEscapedAsSurrogatePairs) {
  const auto line = JsonLine("t", "info", "x", {{"a", "\U000E0041"}});

  EXPECT_THAT(line, HasSubstr(R"("a":"\udb40\udc41")"));
  EXPECT_EQ(nlohmann::json::parse(line).at("a"), "\U000E0041");
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

TEST(JsonLineTest, DeceptiveCharactersAreEscaped) {
  const auto line = JsonLine("t", "info", "x", {{"a", "\x7f\u009b\u061C\u200E\u202E\u2029\u2066"}});

  EXPECT_THAT(line, HasSubstr(R"("a":"\u007f\u009b\u061c\u200e\u202e\u2029\u2066")"));
}

TEST(JsonLineTest, BytesThatAreNotUtf8AreReplaced) {
  const auto line = JsonLine("t", "info", "x", {{"a", "\xff"}});

  EXPECT_EQ(nlohmann::json::parse(line).at("a"), "\xEF\xBF\xBD");
}

}  // namespace
}  // namespace tenure
