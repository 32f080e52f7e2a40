// `tenure completion`: what shells complete. tests/package/install.sh asks zsh and fish as well.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <set>
#include <sstream>

#include "tests/support/tenured.h"

namespace tenure::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string Tenure(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), Program("tenure"));
  const Finished finished = RunToEnd(std::move(arguments));
  EXPECT_EQ(finished.exit_code, 0) << finished.errors;
  return finished.output;
}

// The first group of each line of the help that matches.
std::set<std::string> InHelp(const std::string& help, const std::string& pattern) {
  std::set<std::string> found;
  std::istringstream lines(help);
  const std::regex regex(pattern);
  std::smatch match;
  for (std::string line; std::getline(lines, line);) {
    if (std::regex_search(line, match, regex)) found.insert(match[1]);
  }
  return found;
}

// What bash offers for the last of these words.
std::vector<std::string> BashCompletes(const std::string& words) {
  const Finished finished = RunToEnd({"bash", "-c",
                                      "source <(\"$0\" completion bash); COMP_WORDS=(" + words +
                                          "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _tenure; "
                                          "printf '%s\\n' \"${COMPREPLY[@]}\"",
                                      Program("tenure")});
  EXPECT_EQ(finished.errors, "");
  std::vector<std::string> offered;
  std::istringstream lines(finished.output);
  for (std::string line; std::getline(lines, line);) offered.push_back(line);
  return offered;
}

TEST(CompletionTest, EachShellKnowsEachCommandAndOptionOfTheHelp) {
  const std::string help = Tenure({"--help"});
  const auto commands = InHelp(help, "^  ([a-z][a-z-]*)  ");
  ASSERT_THAT(commands, Contains("end-session"));
  auto flags = InHelp(help, "^  (?:-h,)?(--[a-z-]+)");
  for (const auto& command : commands) {
    flags.merge(InHelp(Tenure({command, "--help"}), "^  (?:-h,)?(--[a-z-]+)"));
  }
  ASSERT_THAT(flags, Contains("--supersede"));

  for (const std::string shell : {"bash", "zsh", "fish"}) {
    const std::string script = Tenure({"completion", shell});
    const auto has = [&](const std::string& text) { return script.find(text) != script.npos; };
    for (const auto& command : commands) EXPECT_TRUE(has(command)) << shell << " " << command;
    for (const auto& flag : flags) {
      EXPECT_TRUE(has(shell == "fish" ? "-l " + flag.substr(2) : flag)) << shell << " " << flag;
    }
  }
}

TEST(CompletionTest, BashCompletesCommands) {
  EXPECT_THAT(BashCompletes("tenure camp"), ElementsAre("campaign"));
}

TEST(CompletionTest, BashCompletesTheOptionsOfTheCommandAndThoseOfAllCommands) {
  EXPECT_THAT(BashCompletes("tenure --json campaign orders --su"), ElementsAre("--supersede"));
  EXPECT_THAT(BashCompletes("tenure campaign --endp"), ElementsAre("--endpoint"));
  EXPECT_THAT(BashCompletes("tenure leader --su"), ElementsAre(""));
}

TEST(CompletionTest, BashOffersFilesWhereAFileIsWanted) {
  EXPECT_THAT(BashCompletes("tenure --token-file /etc/pass"), Contains("/etc/passwd"));
  EXPECT_THAT(BashCompletes("tenure campaign --value /etc/pass"), ElementsAre(""));
}

TEST(CompletionTest, BashCompletesTheCommandToRun) {
  EXPECT_THAT(BashCompletes("tenure run orders -- printen"), Contains("printenv"));
}

TEST(CompletionTest, AnUnknownShellIsRefused) {
  const Finished finished = RunToEnd({Program("tenure"), "completion", "tcsh"});

  EXPECT_EQ(finished.exit_code, 2);
  EXPECT_THAT(finished.errors, HasSubstr("SHELL: 'tcsh' is not one of bash|zsh|fish"));
}

}  // namespace
}  // namespace tenure::testing
