// The guarded set by hand: one run, with the fence or without. Also the program of its workers.
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <iostream>

#include "tests/guarded_set/run.h"
#include "tests/guarded_set/worker.h"

using tenure::testing::Describe;
using tenure::testing::GuardedSetPlan;
using tenure::testing::RunGuardedSet;
using tenure::testing::RunWorker;
using tenure::testing::WorkerOptions;

int main(int argc, char** argv) {
  CLI::App app(
      "Let four processes insert into one set, and pause them past their leases: what is lost?");
  GuardedSetPlan plan;
  app.add_option("--inserts", plan.inserts, "Number of acknowledged inserts to reach")
      ->capture_default_str();
  app.add_flag("--fence,!--no-fence", plan.fenced, "Start each transaction with the fence");
  app.add_option("--seed", plan.seed, "Seed for the pauses and delays")->capture_default_str();
  WorkerOptions worker;
  CLI::App* work = app.add_subcommand("worker", "One of the processes")->group("");
  work->add_option("--endpoints", worker.endpoints)->required();
  work->add_option("--database", worker.database)->required();
  work->add_option("--number", worker.number)->required();
  work->add_option("--workers", worker.workers)->required();
  work->add_option("--seed", worker.seed)->required();
  work->add_flag("--fence,!--no-fence", worker.fenced);
  CLI11_PARSE(app, argc, argv);
  if (work->parsed()) return RunWorker(worker);

  ::testing::InitGoogleTest();  // a failed expectation in tests/support ends the run
  GTEST_FLAG_SET(throw_on_failure, true);
  try {
    const auto outcome = RunGuardedSet(plan);
    std::cout << Describe(plan, outcome) << std::endl;
    return plan.fenced && outcome.lost > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
  } catch (const std::exception& error) {
    std::cerr << "guarded_set: " << error.what() << std::endl;
    return EXIT_FAILURE;
  }
}
