#include "tests/polyglot/bad_days/language.h"

namespace tenure::testing {

// A library is added here: see README.md.
std::vector<Language> AllLanguages(const std::filesystem::path& root,
                                   const std::filesystem::path& programs) {
  const auto client = root / "client";
  return {
      {.name = "cpp", .command = {programs / "bad_days_candidate"}, .waits_for_time_of_day = true},
      {.name = "go", .command = {client / "go/build/candidate"}},
      {.name = "java",
       .command = {"java", "@" + (client / "java/tenure-client/target/candidate.args").string()},
       .watches_time_of_day = true},
      {.name = "python",
       .command = {client / "python/build/venv/bin/python", client / "python/tests/candidate.py"}},
      {.name = "run",
       .command = {programs / "tenure", programs / "bad_days_command"},
       .is_tenure_run = true,
       .waits_for_time_of_day = true},
      {.name = "typescript",
       .command = {"node", client / "typescript/build/test/support/candidate.js"},
       .watches_time_of_day = true},
  };
}

}  // namespace tenure::testing
