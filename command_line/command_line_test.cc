#include "command_line/command_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace tenure {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

enum class Colour { kRed, kGreen };

// A program with one option of each kind.
class CommandLineTest : public ::testing::Test {
 protected:
  CommandLineTest() {
    unsetenv("PROGRAM_SIZE");
    unsetenv("PROGRAM_QUIET");
    app_.fallthrough();
    app_.require_subcommand(0, 1);
    app_.add_option("--name", name_);
    app_.add_option("--note", note_);
    app_.add_option("--tag", tags_)
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    app_.add_option("--size", size_)->check(WholeNumber(1, 10))->envname("PROGRAM_SIZE");
    app_.add_option_function<std::string>(
        "--wait", [this](const std::string& text) { wait_ = ReadDuration("--wait", text, 1s); });
    AddChoice<Colour>(app_, "--colour", colour_, {{"red", Colour::kRed}, {"green", Colour::kGreen}},
                      "A colour");
    app_.add_flag("--quiet", quiet_)->envname("PROGRAM_QUIET");
    auto* greet = app_.add_subcommand("greet");
    greet->add_option("WHOM", whom_)->required();
    greet->add_option("MORE", more_);
    greet->add_flag("--loud", loud_);
  }
  ~CommandLineTest() override {
    unsetenv("PROGRAM_SIZE");
    unsetenv("PROGRAM_QUIET");
  }

  std::optional<int> Parse(std::vector<const char*> arguments) {
    arguments.insert(arguments.begin(), "program");
    ::testing::internal::CaptureStdout();
    ::testing::internal::CaptureStderr();
    const auto exit_code =
        ParseCommandLine(app_, static_cast<int>(arguments.size()), arguments.data(), {"--note"});
    output_ = ::testing::internal::GetCapturedStdout();
    errors_ = ::testing::internal::GetCapturedStderr();
    return exit_code;
  }
  // The output for a mistake.
  std::string Mistake(const std::vector<const char*>& arguments) {
    EXPECT_EQ(Parse(arguments), kExitUsage);
    EXPECT_EQ(output_, "");
    return errors_;
  }

  CLI::App app_{"A program", "program"};
  std::string name_ = "nobody";
  std::string note_ = "none";
  std::vector<std::string> tags_;
  int size_ = 5;
  Duration wait_{0};
  Colour colour_ = Colour::kRed;
  bool quiet_ = false;
  std::string whom_;
  std::vector<std::string> more_;
  bool loud_ = false;
  std::string output_;
  std::string errors_;
};

TEST_F(CommandLineTest, ValuesFollowAnEqualsSignOrABlank) {
  EXPECT_EQ(Parse({"--name=a=b", "--size", "7", "--wait=2s", "--colour", "green", "--quiet"}),
            std::nullopt);

  EXPECT_EQ(name_, "a=b");
  EXPECT_EQ(size_, 7);
  EXPECT_EQ(wait_, 2s);
  EXPECT_EQ(colour_, Colour::kGreen);
  EXPECT_TRUE(quiet_);
}

TEST_F(CommandLineTest, FlagsMayComeBeforeAndAfterTheCommand) {
  EXPECT_EQ(Parse({"--size", "7", "greet", "--loud", "you", "--name", "a"}), std::nullopt);

  EXPECT_EQ(size_, 7);
  EXPECT_TRUE(loud_);
  EXPECT_EQ(whom_, "you");
  EXPECT_EQ(name_, "a");
}

TEST_F(CommandLineTest, NothingAfterTwoDashesIsAFlag) {
  EXPECT_EQ(Parse({"greet", "you", "--", "--name", "--unknown=", "--name"}), std::nullopt);

  EXPECT_THAT(more_, ElementsAre("--name", "--unknown=", "--name"));
}

TEST_F(CommandLineTest, HelpIsASuccess) {
  EXPECT_EQ(Parse({"--help"}), EXIT_SUCCESS);
  EXPECT_THAT(output_, StartsWith("A program\n"));
  EXPECT_EQ(Parse({"greet", "--help"}), EXIT_SUCCESS);
  EXPECT_THAT(output_, HasSubstr("--loud"));
}

// --- Mistakes ---

TEST_F(CommandLineTest, AnUnknownFlagIsNamed) {
  EXPECT_EQ(Mistake({"--foo"}), "program: unknown flag '--foo'; see program --help\n");
  EXPECT_EQ(Mistake({"--foo=1", "--name", "a"}),
            "program: unknown flag '--foo'; see program --help\n");
  EXPECT_EQ(Mistake({"-f"}), "program: unknown flag '-f'; see program --help\n");
  EXPECT_EQ(Mistake({"--loud"}), "program: unknown flag '--loud'; see program --help\n");
}

TEST_F(CommandLineTest, AnUnknownFlagOfACommandIsNamedWithTheCommand) {
  EXPECT_EQ(Mistake({"greet", "you", "--foo"}),
            "program: unknown flag '--foo'; see program greet --help\n");
  EXPECT_EQ(Mistake({"greet", "--foo"}),
            "program: unknown flag '--foo'; see program greet --help\n");
}

TEST_F(CommandLineTest, AFlagGivenTwiceIsNamed) {
  EXPECT_EQ(Mistake({"--name", "a", "--name=b"}), "program: --name is given twice\n");
  EXPECT_EQ(Mistake({"--quiet", "--quiet"}), "program: --quiet is given twice\n");
  EXPECT_EQ(Mistake({"greet", "you", "--loud", "--loud"}), "program: --loud is given twice\n");
}

TEST_F(CommandLineTest, AFlagThatTakesManyValuesMayBeGivenTwice) {
  EXPECT_EQ(Parse({"--tag", "a", "--tag=b"}), std::nullopt);

  EXPECT_THAT(tags_, ElementsAre("a", "b"));
}

TEST_F(CommandLineTest, AFlagWithoutAValueIsNamed) {
  const std::string mistake = "program: --name needs a value; see program --help\n";

  EXPECT_EQ(Mistake({"--name"}), mistake);
  EXPECT_EQ(Mistake({"--name", "--size", "7"}), mistake);
  EXPECT_EQ(Mistake({"--name", "--quiet"}), mistake);
}

TEST_F(CommandLineTest, AFlagWithAnEmptyValueIsNamed) {
  const std::string mistake =
      "program: --name needs a value that is not empty; see program --help\n";

  EXPECT_EQ(Mistake({"--name="}), mistake);
  EXPECT_EQ(Mistake({"--name", ""}), mistake);
  EXPECT_EQ(Mistake({"--name=", "--size", "7"}), mistake);
  EXPECT_EQ(Mistake({"--tag", ""}),
            "program: --tag needs a value that is not empty; see program --help\n");
}

TEST_F(CommandLineTest, SomeFlagsMayBeEmpty) {
  EXPECT_EQ(Parse({"--note=", "--size", "7"}), std::nullopt);

  EXPECT_EQ(note_, "");
  EXPECT_EQ(size_, 7);
}

TEST_F(CommandLineTest, AValueMayLookLikeAFlagThatIsUnknown) {
  EXPECT_EQ(Parse({"--name", "-1", "--note=--quiet"}), std::nullopt);

  EXPECT_EQ(name_, "-1");
  EXPECT_EQ(note_, "--quiet");
}

TEST_F(CommandLineTest, AMisspeltCommandIsNamed) {
  EXPECT_EQ(Mistake({"--size", "7", "great", "you"}),
            "program: unknown command 'great'; see program --help\n");
}

TEST_F(CommandLineTest, AMissingArgumentIsNamed) {
  EXPECT_EQ(Mistake({"greet"}), "program: WHOM is required; see program greet --help\n");
}

TEST_F(CommandLineTest, AMissingCommandIsReported) {
  app_.require_subcommand(1);

  EXPECT_EQ(Mistake({"--quiet"}), "program: a command is required; see program --help\n");
}

TEST_F(CommandLineTest, AnArgumentTooManyIsNamed) {
  app_.add_subcommand("leave")->add_option("WHERE", name_);

  EXPECT_EQ(Mistake({"leave", "a", "b", "c"}),
            "program: unexpected argument 'b'; see program leave --help\n");
}

TEST_F(CommandLineTest, AWrongDurationIsShownWithWhatIsAllowed) {
  EXPECT_EQ(Mistake({"--wait", "soon"}),
            "program: --wait: 'soon' is not a duration; write it like 500ms, 10s or 2m\n");
  EXPECT_EQ(Mistake({"--wait", "10"}),
            "program: --wait: '10' is not a duration; write it like 500ms, 10s or 2m\n");
  EXPECT_EQ(Mistake({"--wait", "999ms"}),
            "program: --wait: '999ms' is too short; the minimum is 1s\n");
}

TEST_F(CommandLineTest, AWrongNumberIsShownWithWhatIsAllowed) {
  for (const std::string text : {"11", "0", "-5", "many", "1.5", "99999999999999999999999", " 1"}) {
    EXPECT_EQ(Mistake({"--size", text.c_str()}),
              "program: --size: '" + text + "' is not a whole number from 1 to 10\n");
  }
}

TEST_F(CommandLineTest, AWrongNumberWithoutAMaximumIsShownWithItsMinimum) {
  app_.add_option("--count", size_)->check(WholeNumber(1, std::numeric_limits<int64_t>::max()));

  EXPECT_EQ(Mistake({"--count", "0"}),
            "program: --count: '0' is not a whole number of at least 1\n");
}

TEST_F(CommandLineTest, AWrongChoiceIsShownWithWhatIsAllowed) {
  EXPECT_EQ(Mistake({"--colour", "blue"}), "program: --colour: 'blue' is not one of red|green\n");
}

TEST_F(CommandLineTest, AWrongSwitchIsShown) {
  EXPECT_EQ(Mistake({"--quiet=maybe"}), "program: --quiet: 'maybe' is neither true nor false\n");
  EXPECT_EQ(Parse({"--quiet=false"}), std::nullopt);
  EXPECT_FALSE(quiet_);
}

// --- Environment variables ---

TEST_F(CommandLineTest, AnEmptyVariableCountsAsNotSet) {
  setenv("PROGRAM_SIZE", "", 1);
  setenv("PROGRAM_QUIET", "", 1);

  EXPECT_EQ(Parse({}), std::nullopt);

  EXPECT_EQ(size_, 5);
  EXPECT_FALSE(quiet_);
}

TEST_F(CommandLineTest, AMistakeInAVariableNamesTheVariable) {
  setenv("PROGRAM_SIZE", "11", 1);

  EXPECT_EQ(Mistake({}), "program: PROGRAM_SIZE: '11' is not a whole number from 1 to 10\n");
  EXPECT_EQ(Mistake({"--size", "12"}),
            "program: --size: '12' is not a whole number from 1 to 10\n");
}

TEST_F(CommandLineTest, AMistakeInTheVariableOfASwitchNamesTheVariable) {
  setenv("PROGRAM_QUIET", "maybe", 1);

  EXPECT_EQ(Mistake({}), "program: PROGRAM_QUIET: 'maybe' is neither true nor false\n");
}

TEST_F(CommandLineTest, AFlagBeatsItsVariable) {
  setenv("PROGRAM_SIZE", "3", 1);

  EXPECT_EQ(Parse({"--size", "4"}), std::nullopt);

  EXPECT_EQ(size_, 4);
}

}  // namespace
}  // namespace tenure
