// The short form of `make test-guarded-set`.
#include <gtest/gtest.h>

#include "tests/guarded_set/run.h"

namespace tenure::testing {
namespace {

TEST(GuardedSetTest, WithTheFenceNoAcknowledgedInsertIsLost) {
  const GuardedSetPlan plan{.inserts = 1'000};

  const GuardedSetOutcome outcome = RunGuardedSet(plan);

  SCOPED_TRACE(Describe(plan, outcome));
  EXPECT_EQ(outcome.lost, 0u);
  EXPECT_GE(outcome.acknowledged, plan.inserts);
  EXPECT_GT(outcome.pauses, 0u);
  EXPECT_GT(outcome.terms, 1u);
}

TEST(GuardedSetTest, AMissingAcknowledgedInsertCountsAsLost) {
  EXPECT_EQ(CountLost({}, ""), 0u);
  EXPECT_EQ(CountLost({1, 2, 33}, "33,2,1,"), 0u);
  EXPECT_EQ(CountLost({1, 2, 33}, "1,3,"), 2u);
  EXPECT_EQ(CountLost({1}, ""), 1u);
  EXPECT_EQ(CountLost({1}, "1,2,"), 0u);  // 2 was committed, but not acknowledged
}

}  // namespace
}  // namespace tenure::testing
