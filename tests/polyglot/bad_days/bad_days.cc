// Bad days by hand: see README.md.
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <iostream>

#include "tests/polyglot/bad_days/run.h"

namespace {

using tenure::testing::AllDays;
using tenure::testing::AllLanguages;

// The items with these names; all if none is given. Throws CLI::ValidationError.
template <typename Named>
std::vector<Named> Chosen(const std::vector<Named>& all, const std::vector<std::string>& names) {
  if (names.empty()) return all;
  std::vector<Named> chosen;
  for (const std::string& name : names) {
    const auto found = std::ranges::find(all, name, &Named::name);
    if (found == all.end()) throw CLI::ValidationError("there is no \"" + name + "\"");
    chosen.push_back(*found);
  }
  return chosen;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Candidates of all languages live through bad days, and are watched");
  tenure::testing::Plan plan;
  std::vector<std::string> languages;
  std::vector<std::string> days;
  std::string root = TENURE_SOURCE_DIR;
  std::string programs = TENURE_TEST_PROGRAMS;
  app.add_option("--rounds", plan.rounds,
                 "Number of times that each language lives through all days")
      ->capture_default_str();
  app.add_option("--casts", plan.casts,
                 "Pairs of candidates of each language, which share the rounds")
      ->capture_default_str();
  app.add_option("--seed", plan.seed, "Seed for the moments at which days begin")
      ->capture_default_str();
  app.add_option("--language", languages, "Only this one; may be repeated");
  app.add_option("--day", days, "Only this one; may be repeated");
  app.add_option("--root", root, "Where client/ is, with what was built in it");
  app.add_option("--programs", programs, "Where `tenure` and the C++ library's candidate are");
  try {
    app.parse(argc, argv);
    plan.languages = Chosen(AllLanguages(root, programs), languages);
    plan.days = Chosen(AllDays(), days);
  } catch (const CLI::ParseError& error) {
    return app.exit(error);
  }

  ::testing::InitGoogleTest();  // a failed expectation in tests/support ends the run
  GTEST_FLAG_SET(throw_on_failure, true);
  signal(SIGPIPE, SIG_IGN);  // a candidate that gets a command may have ended
  try {
    const auto outcome = Play(plan, std::cout);
    std::cout << '\n' << Describe(outcome, plan) << std::flush;
    return CountViolations(outcome) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
  } catch (const std::exception& error) {
    std::cerr << "bad_days: " << error.what() << std::endl;
    return EXIT_FAILURE;
  }
}
