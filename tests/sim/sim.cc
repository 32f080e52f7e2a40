// The simulation, by hand: many seeds, or one with all that happens.
#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdlib>
#include <iostream>

#include "tests/sim/simulation.h"

namespace {

using tenure::sim::Mutation;
using tenure::sim::Outcome;

const Mutation* FindMutation(const std::string& name) {
  for (const Mutation& mutation : tenure::sim::Mutations()) {
    if (mutation.name == name) return &mutation;
  }
  return name.empty() ? &tenure::sim::NoMutation() : nullptr;
}

int RunOne(uint64_t seed, const Mutation& mutation, bool trace) {
  const auto plan = tenure::sim::PlanFor(seed, mutation);
  std::cout << tenure::sim::Describe(plan) << "\n";
  const Outcome outcome = tenure::sim::Simulate(plan, mutation, trace ? &std::cout : nullptr);
  if (outcome.violation) {
    if (!trace) std::cout << tenure::sim::Report(outcome);
    std::cout << "seed " << seed << ": " << *outcome.violation << "\n";
    return EXIT_FAILURE;
  }
  std::cout << "seed " << seed << ": " << outcome.steps << " steps, " << outcome.transactions
            << " transactions, " << outcome.terms << " terms, " << outcome.orders << " orders, "
            << outcome.writes << " writes, " << outcome.kills << " kills in "
            << outcome.simulated_seconds << " simulated seconds; all invariants held\n";
  return EXIT_SUCCESS;
}

int RunMany(uint64_t from, uint64_t seeds, const Mutation& mutation) {
  const auto begin = std::chrono::steady_clock::now();
  uint64_t failed = 0;
  Outcome all;
  for (uint64_t seed = from; seed < from + seeds; ++seed) {
    const auto plan = tenure::sim::PlanFor(seed, mutation);
    const Outcome outcome = tenure::sim::Simulate(plan, mutation);
    all.steps += outcome.steps;
    all.transactions += outcome.transactions;
    all.terms += outcome.terms;
    all.undecided += outcome.undecided;
    all.from_memory += outcome.from_memory;
    all.refused += outcome.refused;
    all.orders += outcome.orders;
    all.kills += outcome.kills;
    all.simulated_seconds += outcome.simulated_seconds;
    if (!outcome.violation) continue;
    ++failed;
    std::cout << tenure::sim::Report(outcome) << std::flush;
    if (&mutation != &tenure::sim::NoMutation()) break;
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  std::cout << "seeds " << from << " to " << from + seeds - 1 << ": " << failed << " failed; "
            << all.steps << " steps, " << all.transactions << " transactions (" << all.from_memory
            << " from memory, " << all.refused << " refused), " << all.terms << " terms, "
            << all.orders << " orders, " << all.undecided << " undecided, " << all.kills
            << " kills in " << all.simulated_seconds << " simulated seconds, took " << took.count()
            << " s\n";
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Simulate Tenure's engines in a world of faults. The same seed gives the same run.");
  uint64_t seeds = 200;
  uint64_t from = 1;
  uint64_t seed = 0;
  bool trace = false;
  std::string mutation_name;
  app.add_option("--seeds", seeds, "Number of seeds to run")->capture_default_str();
  app.add_option("--from", from, "First seed")->capture_default_str();
  const auto* one = app.add_option("--seed", seed, "Run only this seed");
  app.add_flag("--trace", trace, "With --seed: print one line per event");
  app.add_option("--mutation", mutation_name, "Plant this bug: see tests/sim/mutation.cc");
  CLI11_PARSE(app, argc, argv);
  const Mutation* mutation = FindMutation(mutation_name);
  if (mutation == nullptr) {
    std::cerr << "sim: unknown mutation '" << mutation_name << "'; see tests/sim/mutation.cc\n";
    return EXIT_FAILURE;
  }
  return one->count() > 0 ? RunOne(seed, *mutation, trace) : RunMany(from, seeds, *mutation);
}
