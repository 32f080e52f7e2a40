#include "tests/chaos/vitals.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

namespace tenure::testing {
namespace {

using ::testing::DoubleEq;
using ::testing::SizeIs;

// Noted from 0 to 100, of which the first and the last 20 count.
std::vector<Vitals::Change> ChangesOf(const Vitals& vitals) { return vitals.Changes(0, 100, 20); }

TEST(VitalsTest, TheMediansOfTheFirstAndOfTheLastPartAreCompared) {
  Vitals vitals;
  for (const Nanoseconds at : {0, 10, 19}) vitals.Note("rows", at, static_cast<double>(at));
  vitals.Note("rows", 20, 1000);
  vitals.Note("rows", 79, 1000);
  for (const Nanoseconds at : {80, 90, 99}) vitals.Note("rows", at, static_cast<double>(at));

  const auto changes = ChangesOf(vitals);
  ASSERT_THAT(changes, SizeIs(1));
  EXPECT_EQ(changes[0].what, "rows");
  EXPECT_THAT(changes[0].before, DoubleEq(10));
  EXPECT_THAT(changes[0].after, DoubleEq(90));
}

TEST(VitalsTest, ATwentiethMoreHasNotGrown) {
  EXPECT_FALSE((Vitals::Change{"rows", 100, 105}.grew()));
  EXPECT_TRUE((Vitals::Change{"rows", 100, 106}.grew()));
  EXPECT_FALSE((Vitals::Change{"rows", 100, 50}.grew()));
  EXPECT_TRUE((Vitals::Change{"rows", 0, 1}.grew()));
}

TEST(VitalsTest, WhatIsNotKnownHasNotStayedTheSame) {
  Vitals vitals;
  vitals.Note("rows", 10, 1);
  EXPECT_THROW((void)ChangesOf(vitals), std::runtime_error);
}

}  // namespace
}  // namespace tenure::testing
