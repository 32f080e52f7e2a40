// The script, played by casts of several languages at the same time, round after round.
#pragma once

#include <cstdint>
#include <map>
#include <ostream>
#include <string>
#include <vector>

#include "tests/polyglot/bad_days/days.h"
#include "tests/polyglot/bad_days/language.h"

namespace tenure::testing {

struct Plan {
  std::vector<Language> languages;
  std::vector<Day> days;
  int rounds = 1;  // of each language
  int casts = 1;   // of each language, which share the rounds
  uint64_t seed = 1;
};

// The results of one day, in one language.
struct Tally {
  int times = 0;
  int seats_kept = 0;
  std::vector<std::string> repeated = {};  // for each time, what was missed
  std::vector<std::string> violations = {};
};
// By the language's and the day's name.
using Outcome = std::map<std::string, std::map<std::string, Tally>>;

// Reports progress on `out`.
[[nodiscard]] Outcome Play(const Plan& plan, std::ostream& out);
[[nodiscard]] size_t CountViolations(const Outcome& outcome);
[[nodiscard]] std::string Describe(const Outcome& outcome, const Plan& plan);

}  // namespace tenure::testing
