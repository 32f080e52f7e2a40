// Chaos by hand: one run. Also the program of the candidates' processes.
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <map>

#include "tests/chaos/candidates.h"
#include "tests/chaos/run.h"

using tenure::testing::CandidatesOptions;
using tenure::testing::ChaosPlan;
using tenure::testing::DatabaseKind;
using tenure::testing::RunCandidates;
using tenure::testing::RunChaos;

namespace {

constexpr int kSoakCandidates = 100;
constexpr int kSoakElections = 10;

// Keeps events for only part of the first minutes, and never kills a replica, so that nothing grows
// merely because the run is young. The machine must not be at its limit, or all times would vary.
void MakeSoak(ChaosPlan& plan) {
  plan.compared_after = std::min<std::chrono::seconds>(std::chrono::minutes(5), plan.duration / 4);
  const std::string age = std::to_string(plan.compared_after->count() / 3) + "s";
  plan.world.flags = {"--history-max-age", age, "--history-min-age", age};
  plan.world.candidates = kSoakCandidates;
  plan.world.elections = kSoakElections;
  plan.except = {"replica killed"};
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Break everything around candidates that contend, and check what they saw");
  ChaosPlan plan;
  int64_t seconds = 60;
  app.add_option("--seconds", seconds, "How long")->capture_default_str();
  app.add_option("--seed", plan.world.seed, "Seed of the faults, not of their effects")
      ->capture_default_str();
  app.add_option("--candidates", plan.world.candidates)->capture_default_str();
  app.add_option("--elections", plan.world.elections)->capture_default_str();
  app.add_option("--only", plan.only, "Faults of this name only; may be repeated");
  app.add_option("--small-disk", plan.world.small_disk,
                 "A folder on a disk of its own, for the database; the disk gets filled up");
  const std::map<std::string, DatabaseKind> kinds = {{"mariadb", DatabaseKind::kMariaDb},
                                                     {"galera", DatabaseKind::kGalera},
                                                     {"group", DatabaseKind::kGroupReplication}};
  app.add_option("--databases", plan.world.databases,
                 "mariadb, galera or group (Group Replication)")
      ->transform(CLI::CheckedTransformer(kinds));
  app.add_option("--tenured", plan.world.tenured,
                 "Program to run in place of this build's tenured");
  bool soak = false;
  app.add_flag("--soak", soak,
               "One fault a minute only; the resources needed for the same work must not grow");
  CandidatesOptions options;
  CLI::App* candidates = app.add_subcommand("candidates", "One of the processes")->group("");
  candidates->add_option("--endpoints", options.endpoints)->required();
  candidates->add_option("--database", options.databases)->required();
  candidates->add_option("--name", options.name)->required();
  candidates->add_option("--election", options.elections)->required();
  candidates->add_option("--seed", options.seed)->required();
  CLI11_PARSE(app, argc, argv);
  if (candidates->parsed()) return RunCandidates(options);

  ::testing::InitGoogleTest();  // a failed expectation in tests/support ends the run
  GTEST_FLAG_SET(throw_on_failure, true);
  plan.duration = std::chrono::seconds(seconds);
  if (soak) MakeSoak(plan);
  try {
    const auto outcome = RunChaos(plan, std::cout);
    std::cout << '\n' << Describe(outcome) << std::flush;
    return outcome.good() ? EXIT_SUCCESS : EXIT_FAILURE;
  } catch (const std::exception& error) {
    std::cerr << "chaos: " << error.what() << std::endl;
    return EXIT_FAILURE;
  }
}
