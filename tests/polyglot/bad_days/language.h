// The libraries that live through bad days.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace tenure::testing {

struct Language {
  std::string name;
  // Runs the program that speaks README.md's protocol, on the library. For `tenure run`: `tenure`,
  // and the command that it runs.
  std::vector<std::string> command;
  bool is_tenure_run = false;
  // It has no clock that runs while the machine sleeps, and takes a time of day that is set ahead
  // for such a sleep: that costs the seat.
  bool watches_time_of_day = false;
  // Its gRPC waits until a time of day. When the clock is set back, it may wait for as long as that
  // was: it keeps a connection that works, but does not replace one that breaks.
  bool waits_for_time_of_day = false;
};

// `root` is where the folder client/ is, and `programs` where those of C++ are.
[[nodiscard]] std::vector<Language> AllLanguages(const std::filesystem::path& root,
                                                 const std::filesystem::path& programs);

}  // namespace tenure::testing
