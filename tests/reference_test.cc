// Holds pages to the programs: the tables of docs/configuration.md and docs/cli.md have every
// option that `--help` prints, with its variable and its default, and no other; and each command in
// docs/track-record.md replays something.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include "tests/support/process.h"

namespace tenure::testing {
namespace {

using ::testing::ContainerEq;
using ::testing::HasSubstr;

// "--listen TENURE_LISTEN 127.0.0.1:7070", as tests that fail show it.
using Options = std::set<std::string>;

std::string OptionText(const std::string& flag, const std::string& variable,
                       const std::string& value) {
  return flag + (variable.empty() ? "" : " " + variable) + (value.empty() ? "" : " " + value);
}

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::string Page(const std::string& name) {
  std::ifstream file(TENURE_SOURCE_DIR "/docs/" + name);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string Help(const std::string& program, const std::string& command = "") {
  std::vector<std::string> line = {TENURE_TEST_PROGRAMS "/" + program, "--help"};
  if (!command.empty()) line.insert(line.begin() + 1, command);
  return RunToEnd(line).output;
}

// What is indented by two and has no dash, below a title: "  campaign     Stand for elections,
// ...".
std::vector<std::string> CommandsOf(const std::string& program) {
  static const std::regex kCommand("^  ([a-z][a-z-]*)  +[A-Z].*");
  std::vector<std::string> commands;
  for (const std::string& line : Lines(Help(program))) {
    std::smatch match;
    if (std::regex_match(line, match, kCommand)) commands.push_back(match[1]);
  }
  return commands;
}

// "  --queue-max UINT=100000 (Env:TENURE_QUEUE_MAX)": what stands before the description.
Options OptionsIn(const std::string& help) {
  static const std::regex kOption(R"(^  (--[a-z-]+)((?: \S+)*).*)");
  static const std::regex kVariable(R"(\(Env:(\w+)\))");
  static const std::regex kDefault(R"(=(\S+))");
  Options options;
  for (const std::string& line : Lines(help)) {
    std::smatch option, variable, value;
    if (!std::regex_match(line, option, kOption) || option[1] == "--version") continue;
    const std::string rest = option[2];
    std::regex_search(rest, variable, kVariable);
    std::regex_search(rest, value, kDefault);
    options.insert(OptionText(option[1], variable[1], value[1] == "[]" ? "" : value[1].str()));
  }
  return options;
}

std::vector<std::string> Cells(const std::string& row) {
  std::vector<std::string> cells;
  std::istringstream stream(row.substr(1));
  for (std::string cell; std::getline(stream, cell, '|');) {
    const auto begin = cell.find_first_not_of(' ');
    cells.push_back(begin == std::string::npos
                        ? ""
                        : cell.substr(begin, cell.find_last_not_of(' ') + 1 - begin));
  }
  return cells;
}

// The text in a cell's backquotes, up to the first space; nothing if it does not begin with one.
std::string Code(const std::string& cell) {
  return cell.starts_with('`') ? cell.substr(1, cell.find_first_of("` ", 1) - 1) : "";
}

// The rows of a page whose first cell is an option, under the headings that `wanted` accepts.
Options OptionsOn(const std::string& page,
                  const std::function<bool(const std::string& heading)>& wanted) {
  Options options;
  bool inside = wanted("");
  bool has_variables = false;
  for (const std::string& line : Lines(page)) {
    if (line.starts_with('#')) inside = wanted(line);
    if (!inside || !line.starts_with('|')) continue;
    const auto cells = Cells(line);
    if (cells[0] == "flag" || cells[0] == "option") has_variables = cells[1] == "variable";
    if (!cells[0].starts_with("`--")) continue;
    options.insert(OptionText(Code(cells[0]), has_variables ? Code(cells[1]) : "",
                              Code(cells[has_variables ? 2 : 1])));
  }
  return options;
}

TEST(ReferenceTest, TheConfigurationPageHasEveryOptionOfTenured) {
  const auto documented = OptionsOn(Page("configuration.md"), [](const auto&) { return true; });

  EXPECT_THAT(documented, ContainerEq(OptionsIn(Help("tenured"))));
  EXPECT_TRUE(documented.contains("--listen TENURE_LISTEN 127.0.0.1:7070"));
}

TEST(ReferenceTest, TheConfigurationPageHasEverySubcommandOfTenured) {
  const auto commands = CommandsOf("tenured");

  EXPECT_THAT(commands, ::testing::Contains("migrate"));
  for (const std::string& command : commands) {
    EXPECT_THAT(Page("configuration.md"), HasSubstr("\n| `tenured " + command + "` |"));
  }
}

TEST(ReferenceTest, TheCommandLinePageHasEveryCommonOptionOfTenure) {
  const auto documented = OptionsOn(Page("cli.md"), [](const std::string& heading) {
    return heading == "## Options of every command";
  });

  EXPECT_THAT(documented, ContainerEq(OptionsIn(Help("tenure"))));
  EXPECT_TRUE(documented.contains("--endpoint TENURE_ENDPOINTS 127.0.0.1:7070"));
}

TEST(ReferenceTest, TheCommandLinePageHasEveryCommandWithItsOptions) {
  const auto commands = CommandsOf("tenure");

  EXPECT_THAT(commands, ::testing::Contains("campaign"));
  for (const std::string& command : commands) {
    SCOPED_TRACE(command);
    bool has_heading = false;
    const auto documented = OptionsOn(Page("cli.md"), [&](const std::string& heading) {
      const bool named = heading.find("`" + command + "`") != std::string::npos;
      has_heading |= named;
      return named;
    });
    EXPECT_TRUE(has_heading);
    EXPECT_THAT(documented, ContainerEq(OptionsIn(Help("tenure", command))));
  }
}

// The commands of the track record that run tests of this build: those of mechanisms that have gone
// name the commit to build.
std::vector<std::vector<std::string>> Replays() {
  static const std::regex kCommand(
      R"(`build/bin/(\w+_test) --gtest_filter='?([^'` ]+)'?[^`]*`(?! of commit))");
  const std::string page = Page("track-record.md");
  std::vector<std::vector<std::string>> replays;
  for (std::sregex_iterator it(page.begin(), page.end(), kCommand), end; it != end; ++it) {
    const std::string program = TENURE_TEST_PROGRAMS "/" + it->str(1);
    if (!std::filesystem::exists(program)) continue;  // of a group that is not built here
    replays.push_back({program, "--gtest_list_tests", "--gtest_filter=" + it->str(2)});
  }
  return replays;
}

TEST(TrackRecordTest, EachCommandReplaysATest) {
  const auto replays = Replays();
  EXPECT_FALSE(replays.empty());
  for (const auto& replay : replays) {
    // Tests are indented, below the name of their suite.
    EXPECT_THAT(RunToEnd(replay).output, HasSubstr("\n  "))
        << replay.front() << " " << replay.back();
  }
}

}  // namespace
}  // namespace tenure::testing
