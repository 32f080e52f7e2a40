#include "server/calls/selection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tenure::calls {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Key;

Selector Of(const std::string& election, std::optional<Revision> from = {}) {
  return {ElectionName{election}, from};
}
Selector Prefix(const std::string& prefix, std::optional<Revision> from = {}) {
  return {prefix, from};
}

TEST(SelectionTest, RepeatedSelectorsCountOnce) {
  const Selection selection({Prefix("a"), Of("b"), Prefix("a"), Of("b")});

  EXPECT_THAT(selection.names(), ElementsAre(Key(ElectionName{"b"})));
  EXPECT_EQ(selection.prefixes(), 1u);
  EXPECT_THAT(selection.widest(), ElementsAre("a"));
}

TEST(SelectionTest, TheFirstOfEqualSelectorsCounts) {
  const Selection selection({Prefix("a", {{3}}), Prefix("a"), Of("b"), Of("b", {{7}})});

  EXPECT_EQ(selection.StartOf({"ab"}), Revision{3});
  EXPECT_EQ(selection.StartOf({"b"}), std::nullopt);
}

TEST(SelectionTest, OnlyTheWidestPrefixesAreListed) {
  EXPECT_THAT(Selection({Prefix("job/a"), Prefix("b"), Prefix("job"), Prefix("job!")}).widest(),
              ElementsAre("b", "job"));
  EXPECT_THAT(Selection({Prefix("job"), Prefix("")}).widest(), ElementsAre(""));
  EXPECT_THAT(Selection({Of("job")}).widest(), IsEmpty());
}

TEST(SelectionTest, ASelectorOfTheNameSaysWhereAnElectionStarts) {
  const Selection selection({Prefix("job", {{1}}), Of("job/a", {{9}}), Of("job/b")});

  EXPECT_EQ(selection.StartOf({"job/a"}), Revision{9});
  EXPECT_EQ(selection.StartOf({"job/b"}), std::nullopt);
  EXPECT_EQ(selection.StartOf({"job/c"}), Revision{1});
}

TEST(SelectionTest, TheLongestPrefixSaysWhereAnElectionStarts) {
  const Selection selection({Prefix("", {{1}}), Prefix("job/a", {{3}}), Prefix("job")});

  EXPECT_EQ(selection.StartOf({"job/a/1"}), Revision{3});
  EXPECT_EQ(selection.StartOf({"job/b"}), std::nullopt);
  EXPECT_EQ(selection.StartOf({"other"}), Revision{1});
}

TEST(SelectionTest, APrefixCoversNames) {
  const Selection selection({Prefix("job"), Of("job"), Of("other")});

  EXPECT_TRUE(selection.Covers({"job"}));
  EXPECT_FALSE(selection.Covers({"other"}));
}

}  // namespace
}  // namespace tenure::calls
