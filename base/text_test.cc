#include "base/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace tenure {
namespace {

// --- Printable ---

struct PrintableCase {
  std::string bytes;
  std::string expected;
};

class PrintableTest : public ::testing::TestWithParam<PrintableCase> {};

TEST_P(PrintableTest, TextIsMadePrintableAsTheTableSays) {
  EXPECT_EQ(Printable(GetParam().bytes), GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    TextIsKept, PrintableTest,
    ::testing::Values(PrintableCase{"", ""}, PrintableCase{"host-7:4242", "host-7:4242"},
                      PrintableCase{"föö", "föö"}, PrintableCase{"日本", "日本"},
                      PrintableCase{"🗳", "🗳"}, PrintableCase{R"(C:\new)", R"(C:\new)"}));

INSTANTIATE_TEST_SUITE_P(ControlCharactersAreEscaped, PrintableTest,
                         ::testing::Values(PrintableCase{"a\nb\tc\r", R"(a\nb\tc\r)"},
                                           PrintableCase{"\x1b[2J", R"(\x1b[2J)"},
                                           PrintableCase{std::string(1, '\0'), R"(\x00)"},
                                           PrintableCase{"\x7f", R"(\x7f)"},
                                           PrintableCase{"\xc2\x9b", R"(\xc2\x9b)"}));

INSTANTIATE_TEST_SUITE_P(
    WhatIsNotUtf8IsEscaped, PrintableTest,
    ::testing::Values(PrintableCase{"a\xff", R"(a\xff)"}, PrintableCase{"\xe6\x97", R"(\xe6\x97)"},
                      PrintableCase{"\xc0\xaf", R"(\xc0\xaf)"},
                      PrintableCase{"\xed\xa0\x80", R"(\xed\xa0\x80)"},
                      PrintableCase{"\xf5\x80\x80\x80", R"(\xf5\x80\x80\x80)"}));

INSTANTIATE_TEST_SUITE_P(WhatDeceivesTheEyeIsEscaped, PrintableTest,
                         ::testing::Values(PrintableCase{"a\u202Eb", R"(a\xe2\x80\xaeb)"},
                                           PrintableCase{"a\u200Bb", R"(a\xe2\x80\x8bb)"},
                                           PrintableCase{"a\u061Cb", R"(a\xd8\x9cb)"},
                                           PrintableCase{"a\u3164b", R"(a\xe3\x85\xa4b)"},
                                           PrintableCase{"\U000E0041", R"(\xf3\xa0\x81\x81)"},
                                           PrintableCase{"\U000E0100", R"(\xf3\xa0\x84\x80)"},
                                           PrintableCase{"\uFEFFa", R"(\xef\xbb\xbfa)"}));

// --- JSON ---

TEST(PrintableJsonTest, InvisibleCharactersBecomeNumericEscapes) {
  for (const auto& [text, expected] : std::vector<std::pair<std::string, std::string>>{
           {"\x7f", R"(\u007f)"},
           {"\u0080\u009b\u009f", R"(\u0080\u009b\u009f)"},
           {"\u061C\u200E\u200F", R"(\u061c\u200e\u200f)"},
           {"\u202A\u202E\u2066\u2069", R"(\u202a\u202e\u2066\u2069)"},
           {"\u2028\u2029\uFEFF", R"(\u2028\u2029\ufeff)"},
           {"\U000E0001x", R"(\udb40\udc01x)"}}) {
    EXPECT_EQ(PrintableJson("{\"a\":\"" + text + "\"}"), "{\"a\":\"" + expected + "\"}");
  }
}

TEST(PrintableJsonTest, EverythingElseIsKept) {
  const std::string json = "{\"föö\":\"日本\", \"b\":\t\"\\n \\u202e 🗳\"}\n";

  EXPECT_EQ(PrintableJson(json), json);
}

// --- Widths ---

TEST(WidthTest, TheWidthIsCountedInColumnsNotBytes) {
  EXPECT_EQ(WidthOf("abc"), 3u);
  EXPECT_EQ(WidthOf("föö"), 3u);
  EXPECT_EQ(WidthOf("日本"), 4u);
  EXPECT_EQ(WidthOf("e\u0301"), 1u);  // an accent on its letter
}

TEST(CutTest, CutTextEndsWithAnEllipsis) {
  EXPECT_EQ(CutTo("abcdef", 6), "abcdef");
  EXPECT_EQ(CutTo("abcdef", 5), "abcd…");
  EXPECT_EQ(CutTo("abcdef", 1), "…");
  EXPECT_EQ(CutTo("abcdef", 0), "");
}

TEST(CutTest, ACharacterIsNeverSplit) {
  EXPECT_EQ(CutTo("日本語", 5), "日本…");
  EXPECT_EQ(CutTo("日本語", 4), "日…");
}

TEST(PadTest, TextIsPaddedToTheWidthAndNoFurther) {
  EXPECT_EQ(PadAfter("日", 4), "日  ");
  EXPECT_EQ(PadBefore("7", 3), "  7");
  EXPECT_EQ(PadAfter("abcd", 3), "abcd");
}

TEST(WithoutLastTest, AWholeCharacterIsDropped) {
  EXPECT_EQ(WithoutLast("ab"), "a");
  EXPECT_EQ(WithoutLast("aö"), "a");
  EXPECT_EQ(WithoutLast(""), "");
}

}  // namespace
}  // namespace tenure
