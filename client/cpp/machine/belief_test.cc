#include "client/cpp/machine/belief.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/cpp/machine/client_testing.h"

namespace tenure {
namespace {

using namespace std::chrono_literals;

TEST(BeliefTest, ABeliefLastsUntilItsDeadline) {
  Belief belief;
  EXPECT_FALSE(belief.HoldsAt(kStart));

  belief.Begin(7, kStart + 9s);

  EXPECT_TRUE(belief.HoldsAt(kStart + 9s - 1ns));
  EXPECT_EQ(belief.TermAt(kStart), 7);
  EXPECT_EQ(belief.Remaining(kStart + 2s), 7s);
  EXPECT_FALSE(belief.HoldsAt(kStart + 9s));
  EXPECT_LE(belief.Remaining(kStart + 2s), 0s);
}

TEST(BeliefTest, ABeliefCanBeExtended) {
  Belief belief;
  belief.Begin(7, kStart + 9s);

  EXPECT_TRUE(belief.Extend(kStart + 12s));

  EXPECT_TRUE(belief.HoldsAt(kStart + 11s));
}

TEST(BeliefTest, ABeliefSeenToHaveEndedIsNotExtended) {
  Belief belief;
  belief.Begin(7, kStart + 9s);
  EXPECT_FALSE(belief.HoldsAt(kStart + 9s));

  EXPECT_FALSE(belief.Extend(kStart + 12s));

  EXPECT_FALSE(belief.HoldsAt(kStart + 1s));
  EXPECT_EQ(belief.TermAt(kStart + 1s), 0);
}

TEST(BeliefTest, AnEndedBeliefCanStartAgainInALaterTerm) {
  Belief belief;
  belief.Begin(7, kStart + 9s);
  belief.End();
  EXPECT_EQ(belief.TermAt(kStart), 0);

  belief.Begin(9, kStart + 19s);

  EXPECT_EQ(belief.TermAt(kStart), 9);
}

}  // namespace
}  // namespace tenure
