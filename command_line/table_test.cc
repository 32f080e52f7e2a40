#include "command_line/table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tenure {
namespace {

using ::testing::ElementsAre;

TEST(TableTest, ColumnsAreAsWideAsTheirWidestCell) {
  Table table({{.title = "NAME"}, {.title = "TERM", .align = Align::kRight}, {.title = "STATE"}});

  table.Add({"orders", "7", ""});
  table.Add({"a", "12345", "paused"});

  EXPECT_THAT(table.Lines(), ElementsAre("NAME     TERM  STATE",  //
                                         "orders      7",         //
                                         "a       12345  paused"));
}

TEST(TableTest, TheMarkdownHasTheSameCells) {
  Table table({{.title = "NAME"}, {.title = "TERM", .align = Align::kRight}, {.title = ""}});

  table.Add({"orders", "7", ""});

  EXPECT_THAT(table.MarkdownLines(),
              ElementsAre("| NAME | TERM |  |", "| --- | ---: | --- |", "| orders | 7 |  |"));
}

TEST(TableTest, AnEmptyTableHasOnlyTitles) {
  const Table table({{.title = "A"}, {.title = "B"}});

  EXPECT_THAT(table.Lines(), ElementsAre("A  B"));
}

TEST(TableTest, WideCharactersKeepTheColumnsStraight) {
  Table table({{.title = "NAME"}, {.title = "X"}});

  table.Add({"日本", "1"});
  table.Add({"föö", "2"});

  EXPECT_THAT(table.Lines(), ElementsAre("NAME  X", "日本  1", "föö   2"));
}

TEST(TableTest, CellsAreMadePrintable) {
  Table table({{.title = "VALUE"}});

  table.Add({"a\nb\x1b[31m"});

  EXPECT_THAT(table.Lines(), ElementsAre("VALUE", R"(a\nb\x1b[31m)"));
}

TEST(TableTest, CellsAreCutAtTheWidthOfTheirColumn) {
  Table table({{.title = "V", .width_max = 4}, {.title = "X"}});

  table.Add({"abcdefgh", "1"});

  EXPECT_THAT(table.Lines(), ElementsAre("V     X", "abc…  1"));
}

TEST(TableTest, AColumnKeepsItsMinimumWidth) {
  Table table({{.title = "A", .align = Align::kRight, .width_min = 4}, {.title = "B"}});

  table.Add({"1", "2"});

  EXPECT_THAT(table.Lines(), ElementsAre("   A  B", "   1  2"));
}

TEST(TableTest, TheWidestElasticColumnShrinksFirst) {
  Table table({{.title = "NAME", .elastic = true},
               {.title = "N", .align = Align::kRight},
               {.title = "WHO", .elastic = true}});

  table.Add({"a-very-long-name", "12", "somebody"});

  EXPECT_THAT(table.Lines(22), ElementsAre("NAME       N  WHO",  //
                                           "a-very-…  12  somebody"));
  EXPECT_THAT(table.Lines(20), ElementsAre("NAME      N  WHO",  //
                                           "a-very…  12  somebo…"));
}

TEST(TableTest, LinesAreCutWhereNoColumnCanShrink) {
  Table table({{.title = "NAME"}, {.title = "WHO"}});

  table.Add({"orders", "alice"});

  EXPECT_THAT(table.Lines(9), ElementsAre("NAME    …", "orders  …"));
  EXPECT_THAT(table.Lines(0), ElementsAre("", ""));
}

}  // namespace
}  // namespace tenure
