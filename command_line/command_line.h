// Parses the command lines of `tenured` and `tenure`. Any mistake gives one line on standard error:
// which flag is wrong, with its value, and what is allowed.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/types.h"

namespace tenure {

inline constexpr int kExitUsage = 2;  // the exit code after such a mistake

// Parses `argv`. No value: run the program. A value: exit with this code, because `--help` or
// `--version` was printed, or because of a mistake. Flags other than `may_be_empty` need a value
// that is not empty. Empty environment variables count as not set.
[[nodiscard]] std::optional<int> ParseCommandLine(CLI::App& app, int argc, const char* const* argv,
                                                  const std::set<std::string>& may_be_empty = {});

// Reads the value of a flag that takes a duration. Throws CLI::ValidationError unless `text` is a
// duration of at least `min`.
[[nodiscard]] Duration ReadDuration(const std::string& flag, const std::string& text, Duration min);

// For Option::check.
[[nodiscard]] CLI::Validator WholeNumber(int64_t min, int64_t max);

// Adds an option that takes one of a few words.
template <typename Value>
CLI::Option* AddChoice(CLI::App& app, const std::string& flag, Value& target,
                       const std::vector<std::pair<std::string, Value>>& choices,
                       const std::string& help) {
  std::string words;
  for (const auto& choice : choices) words += (words.empty() ? "" : "|") + choice.first;
  const auto read = [=, &target](const std::string& text) {
    for (const auto& [word, value] : choices) {
      if (text != word) continue;
      target = value;
      return;
    }
    throw CLI::ValidationError(flag, "'" + text + "' is not one of " + words);
  };
  return app.add_option_function<std::string>(flag, read, help)->type_name(words);
}

}  // namespace tenure
