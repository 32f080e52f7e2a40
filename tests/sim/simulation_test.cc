// The simulation of many seeds, and what it promises of itself. A failure prints its seed, the end
// of its trace, and the command that shows it again.
#include "tests/sim/simulation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>

namespace tenure::sim {
namespace {

using namespace std::chrono_literals;

constexpr uint64_t kSeeds = 400;
// The number of parts, so that they can run at the same time.
constexpr uint64_t kParts = 4;

std::string TraceOf(uint64_t seed) {
  std::ostringstream trace;
  (void)Simulate(PlanFor(seed), NoMutation(), &trace);
  return trace.str();
}

void ExpectNoViolation(const Plan& plan) {
  const Outcome outcome = Simulate(plan);
  EXPECT_FALSE(outcome.violation) << Report(outcome);
}

class SimulationTest : public ::testing::TestWithParam<uint64_t> {};

TEST_P(SimulationTest, TheInvariantsHold) {
  for (uint64_t seed = GetParam(); seed <= kSeeds; seed += kParts) {
    ExpectNoViolation(PlanFor(seed));
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, SimulationTest, ::testing::Range<uint64_t>(1, kParts + 1));

TEST(SimulationOfOneSeedTest, ASeedHasTheSameTraceEachTime) {
  for (const uint64_t seed : {1, 2, 3, 4, 5}) EXPECT_EQ(TraceOf(seed), TraceOf(seed));
}

TEST(SimulationOfOneSeedTest, TwoSeedsHaveDifferentTraces) { EXPECT_NE(TraceOf(1), TraceOf(2)); }

// What the seeds do all in all: a simulation in which nothing happens finds nothing.
TEST(SimulationOfManySeedsTest, ManySeedsCoverALot) {
  Outcome all;
  bool beyond_bounds = false;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const Outcome outcome = Simulate(PlanFor(seed));
    all.terms += outcome.terms;
    all.writes += outcome.writes;
    all.kills += outcome.kills;
    all.undecided += outcome.undecided;
    all.orders += outcome.orders;
    all.overtaken += outcome.overtaken;
    beyond_bounds |= !outcome.plan.LeasesHold();
  }

  EXPECT_GT(all.terms, 100u);
  EXPECT_GT(all.writes, 100u);
  EXPECT_GT(all.kills, 10u);
  EXPECT_GT(all.undecided, 0u);
  EXPECT_GT(all.orders, 100u);
  EXPECT_GT(all.overtaken, 0u);
  EXPECT_TRUE(beyond_bounds);
}

// No new candidates come, a seat often cannot be filled at once, and what should fill it often
// fails.
TEST(SimulationOfPatienceTest, EverySeatIsFilledByAWaitingCandidate) {
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    Plan plan = PlanFor(seed);
    plan.patient = true;
    plan.rounds = 4;
    plan.trouble = 3s;
    plan.elections = 1;
    plan.holders = 6;
    plan.pollers = 0;
    plan.stale_heads = true;
    plan.store_failures = 200'000;
    ExpectNoViolation(plan);
  }
}

// Orders come as fast as clients can follow them, and answers to them are lost.
TEST(SimulationOfOperatorsTest, TheInvariantsHoldDespiteOperators) {
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    Plan plan = PlanFor(seed);
    plan.operators = 2;
    plan.orders_every = 100ms;
    plan.elections = 2;
    plan.set_takers = 1;
    plan.lost_messages = 50'000;
    plan.store_lost_replies = 50'000;
    plan.reluctant = true;
    plan.twins = true;
    plan.steps_by_hours = false;  // delays would last for hours, too
    ExpectNoViolation(plan);
  }
}

// Calls that their clients have given up long ago arrive, and are taken back, late.
TEST(SimulationOfLateCallsTest, LateCallsAreHarmless) {
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    Plan plan = PlanFor(seed);
    plan.patient = false;
    plan.elections = 1;
    plan.holders = 6;
    plan.pollers = 0;
    plan.slow_messages = 200'000;
    plan.busy_at_most = 200ms;
    plan.steps_every = 0s;
    plan.steps_forward = false;
    plan.drift_max = 0;
    ExpectNoViolation(plan);
  }
}

}  // namespace
}  // namespace tenure::sim
