#include "command_line/command_line.h"

#include <algorithm>
#include <charconv>
#include <iostream>
#include <limits>

#include "base/duration_text.h"

namespace tenure {
namespace {

constexpr auto kBooleans = {"true", "false", "yes", "no", "on", "off", "1", "0"};

std::string Quoted(std::string_view text) { return "'" + std::string(text) + "'"; }

CLI::Validator Boolean() {
  return CLI::Validator(
      [](const std::string& text) {
        const std::string lower = CLI::detail::to_lower(text);
        for (const char* word : kBooleans) {
          if (lower == word) return std::string();
        }
        return Quoted(text) + " is neither true nor false";
      },
      "");
}

// One command line, prepared for CLI11.
class CommandLine {
 public:
  CommandLine(CLI::App& app, const std::set<std::string>& may_be_empty)
      : app_(app), may_be_empty_(may_be_empty) {}

  // The arguments in the form that CLI11 reads without surprises: reversed, and with the value of
  // each flag as a separate argument. (CLI11 reads `--a= --b` as flag a with the value "--b", and
  // silently prefers the last of two equal switches.)
  std::vector<std::string> Prepare(const std::vector<std::string>& arguments) {
    std::vector<std::string> prepared;
    for (auto next = arguments.begin(); next != arguments.end(); ++next) {
      if (*next == "--") {  // the rest is passed through
        prepared.insert(prepared.end(), next, arguments.end());
        break;
      }
      if (!LooksLikeAFlag(*next)) {
        EnterCommand(*next);
        prepared.push_back(*next);
        continue;
      }
      const size_t equals = next->find('=');
      const std::string flag = next->substr(0, equals);
      const CLI::Option* option = Find(flag);
      if (option == nullptr) Fail("unknown flag " + Quoted(flag) + SeeHelp());
      if (!given_.insert(option).second && !MayBeRepeated(*option)) Fail(flag + " is given twice");
      if (option->get_items_expected_max() == 0) {
        prepared.push_back(*next);
        continue;
      }
      std::string value;
      if (equals != std::string::npos) {
        value = next->substr(equals + 1);
      } else if (next + 1 != arguments.end() && !IsFlag(*(next + 1))) {
        value = *++next;
      } else {
        Fail(flag + " needs a value" + SeeHelp());
      }
      if (value.empty() && !may_be_empty_.contains(flag)) {
        Fail(flag + " needs a value that is not empty" + SeeHelp());
      }
      prepared.insert(prepared.end(), {flag, value});
    }
    std::reverse(prepared.begin(), prepared.end());
    return prepared;
  }

  // The message for an error.
  [[nodiscard]] std::string Sentence(const CLI::ParseError& error) const {
    const auto extra = app_.remaining(true);
    if (!extra.empty()) return "unexpected argument " + Quoted(extra.front()) + SeeHelp();
    if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) {
      const bool no_command = command_ == nullptr;
      return (no_command ? "a command is required" : error.what()) + SeeHelp();
    }
    // CLI11 reports a wrong value as "NAME: MESSAGE".
    const std::string text = error.what();
    const size_t colon = text.find(':');
    const CLI::Option* option = Find(text.substr(0, colon));
    if (option == nullptr || given_.contains(option) || option->get_envname().empty()) return text;
    return option->get_envname() + text.substr(colon);
  }

 private:
  [[noreturn]] static void Fail(const std::string& what) { throw CLI::ArgumentMismatch(what); }

  static bool LooksLikeAFlag(const std::string& argument) {
    return argument.size() > 1 && argument.front() == '-';
  }

  [[nodiscard]] bool IsFlag(const std::string& argument) const {
    return LooksLikeAFlag(argument) && Find(argument) != nullptr;
  }

  static bool MayBeRepeated(const CLI::Option& option) {
    return option.get_multi_option_policy() == CLI::MultiOptionPolicy::TakeAll;
  }

  void EnterCommand(const std::string& name) {
    if (command_ != nullptr) return;
    const auto commands =
        app_.get_subcommands([&](const CLI::App* command) { return command->get_name() == name; });
    if (commands.empty()) Fail("unknown command " + Quoted(name) + SeeHelp());
    command_ = commands.front();
  }

  // The option of the command, or of all commands; null if there is none with this name.
  [[nodiscard]] const CLI::Option* Find(const std::string& flag) const {
    const CLI::Option* option = command_ == nullptr ? nullptr : command_->get_option_no_throw(flag);
    return option != nullptr ? option : app_.get_option_no_throw(flag);
  }

  [[nodiscard]] std::string SeeHelp() const {
    return "; see " + app_.get_name() + (command_ == nullptr ? "" : " " + command_->get_name()) +
           " --help";
  }

  CLI::App& app_;
  const std::set<std::string>& may_be_empty_;
  CLI::App* command_ = nullptr;
  std::set<const CLI::Option*> given_;
};

void CheckSwitches(CLI::App& app) {
  for (CLI::Option* option : app.get_options()) {
    if (option->get_items_expected_max() == 0) option->check(Boolean());
  }
  for (CLI::App* command : app.get_subcommands({})) CheckSwitches(*command);
}

}  // namespace

std::optional<int> ParseCommandLine(CLI::App& app, int argc, const char* const* argv,
                                    const std::set<std::string>& may_be_empty) {
  CheckSwitches(app);
  CommandLine line(app, may_be_empty);
  try {
    app.parse(line.Prepare({argv + 1, argv + argc}));
    return std::nullopt;
  } catch (const CLI::Success& success) {
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    std::cerr << app.get_name() << ": " << line.Sentence(error) << std::endl;
    return kExitUsage;
  }
}

Duration ReadDuration(const std::string& flag, const std::string& text, Duration min) {
  const auto duration = ParseDuration(text);
  if (!duration) {
    throw CLI::ValidationError(flag,
                               Quoted(text) + " is not a duration; write it like 500ms, 10s or 2m");
  }
  if (*duration < min) {
    throw CLI::ValidationError(flag,
                               Quoted(text) + " is too short; the minimum is " + DurationText(min));
  }
  return *duration;
}

CLI::Validator WholeNumber(int64_t min, int64_t max) {
  std::string range = "of at least " + std::to_string(min);
  if (max < std::numeric_limits<int64_t>::max()) {
    range = "from " + std::to_string(min) + " to " + std::to_string(max);
  }
  return CLI::Validator(
      [=](const std::string& text) {
        int64_t number = 0;
        const char* end = text.data() + text.size();
        const auto [rest, error] = std::from_chars(text.data(), end, number);
        const bool allowed = error == std::errc() && rest == end && number >= min && number <= max;
        return allowed ? "" : Quoted(text) + " is not a whole number " + range;
      },
      "");
}

}  // namespace tenure
