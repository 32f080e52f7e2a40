// The simulation is worth something if it notices errors: each of the planted ones, soon.
#include "tests/sim/mutation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "tests/sim/simulation.h"

namespace tenure::sim {
namespace {

constexpr uint64_t kSeedsMax = 1'000;

class MutationTest : public ::testing::TestWithParam<Mutation> {};

TEST_P(MutationTest, EveryMutationIsCaught) {
  const Mutation& mutation = GetParam();

  std::set<std::string> others;
  for (uint64_t seed = 1; seed <= kSeedsMax; ++seed) {
    const Outcome outcome = Simulate(PlanFor(seed, mutation), mutation);
    if (!outcome.violation) continue;
    if (outcome.violation->find(mutation.shows_as) == std::string::npos) {
      others.insert(*outcome.violation);  // an error may have more than one consequence
      continue;
    }
    RecordProperty("seeds", std::to_string(seed));
    return;
  }
  FAIL() << mutation.what << ": not caught by " << kSeedsMax << " seeds as '" << mutation.shows_as
         << "'; they found " << ::testing::PrintToString(others);
}

std::string NameOfTest(const ::testing::TestParamInfo<Mutation>& info) {
  std::string name = info.param.name;
  std::ranges::replace(name, '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Planted, MutationTest, ::testing::ValuesIn(Mutations()), NameOfTest);

}  // namespace

void PrintTo(const Mutation& mutation, std::ostream* out) { *out << mutation.what; }

}  // namespace tenure::sim
