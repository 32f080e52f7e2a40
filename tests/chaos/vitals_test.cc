#include "tests/chaos/vitals.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

namespace tenure::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

// Noted from 0 to 105, in parts of 20: the first 5 are left out.
std::vector<Vitals::Course> CoursesOf(const Vitals& vitals) { return vitals.Courses(0, 105, 20); }

TEST(VitalsTest, ACourseIsTheMediansOfParts) {
  Vitals vitals;
  for (const Nanoseconds at : {0, 4, 105}) vitals.Note("rows", at, 1000);
  for (const Nanoseconds at : {5, 10, 24, 25, 50, 70, 85, 90, 104})
    vitals.Note("rows", at, static_cast<double>(at));

  const auto courses = CoursesOf(vitals);
  ASSERT_THAT(courses, SizeIs(1));
  EXPECT_EQ(courses[0].what, "rows");
  EXPECT_THAT(courses[0].medians, ElementsAre(10, 25, 50, 70, 90));
}

TEST(VitalsTest, ATwentiethMoreThanAtFirstHasNotGrown) {
  EXPECT_FALSE((Vitals::Course{"rows", {100, 200, 105}}.grew()));
  EXPECT_TRUE((Vitals::Course{"rows", {100, 90, 106}}.grew()));
  EXPECT_FALSE((Vitals::Course{"rows", {100, 50}}.grew()));
  EXPECT_TRUE((Vitals::Course{"rows", {0, 1}}.grew()));
}

TEST(VitalsTest, AMissingValueIsAnError) {
  Vitals vitals;
  for (const Nanoseconds at : {5, 25, 45, 85}) vitals.Note("rows", at, 1);
  EXPECT_THROW((void)CoursesOf(vitals), std::runtime_error);
}

}  // namespace
}  // namespace tenure::testing
