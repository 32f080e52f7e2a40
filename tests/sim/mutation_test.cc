// The simulation is worth something if it notices errors: each of the planted ones, soon.
#include "tests/sim/mutation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tests/sim/simulation.h"

namespace tenure::sim {
namespace {

using ::testing::HasSubstr;

constexpr uint64_t kSeedsMax = 1'000;

class MutationTest : public ::testing::TestWithParam<Mutation> {};

TEST_P(MutationTest, IsCaught) {
  const Mutation& mutation = GetParam();

  for (uint64_t seed = 1; seed <= kSeedsMax; ++seed) {
    const Outcome outcome = Simulate(PlanFor(seed), mutation);
    if (!outcome.violation) continue;
    EXPECT_THAT(*outcome.violation, HasSubstr(mutation.shows_as)) << Report(outcome);
    RecordProperty("seeds", std::to_string(seed));
    return;
  }
  FAIL() << mutation.what << ": not caught by " << kSeedsMax << " seeds";
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
