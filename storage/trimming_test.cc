#include "storage/trimming.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "core/law/law_testing.h"
#include "core/limits.h"

namespace tenure::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr Retention kRetention{100s, 10, 5s};

bool Trims(const Retention& retention, Revision latest, Revision history_from, Revision oldest,
           Duration age) {
  return HistoryTrimmer(retention, kNow)
      .CutOf(latest, history_from, oldest, kNow + -age)
      .has_value();
}

TEST(HistoryTrimmerTest, OnlyOldExcessOrHiddenEventsAreTrimmed) {
  EXPECT_FALSE(Trims(kRetention, {10}, {}, {1}, 100s)) << "neither too old nor too many";
  EXPECT_TRUE(Trims(kRetention, {10}, {}, {1}, 100s + kInstant)) << "too old";
  EXPECT_TRUE(Trims(kRetention, {11}, {}, {1}, 50s)) << "too many";
  EXPECT_FALSE(Trims(kRetention, {11}, {}, {2}, 50s)) << "as many as may be";
  EXPECT_TRUE(Trims(kRetention, {5}, {3}, {2}, 50s)) << "hidden";
  EXPECT_FALSE(Trims(kRetention, {5}, {3}, {3}, 50s)) << "the first that is visible";
}

TEST(HistoryTrimmerTest, EventsHiddenWhenTermsWereRaisedAreKeptAsLongAsOthers) {
  const Revision raised{3 * kBumpMin};
  const Revision from = raised.Next();
  EXPECT_FALSE(Trims(kRetention, raised, from, {7}, 100s)) << "nothing has happened since";
  EXPECT_FALSE(Trims(kRetention, {from.value + 9}, from, {7}, 100s)) << "few have come since";
  EXPECT_TRUE(Trims(kRetention, {from.value + 10}, from, {7}, 6s)) << "too many have come since";
  EXPECT_TRUE(Trims(kRetention, raised, from, {7}, 100s + kInstant)) << "too old";
}

TEST(HistoryTrimmerTest, YoungEventsAndTheLatestOneStay) {
  EXPECT_FALSE(Trims(kRetention, {50}, {}, {1}, 5s));
  EXPECT_TRUE(Trims(kRetention, {50}, {}, {1}, 5s + kInstant));
  EXPECT_FALSE(Trims(kRetention, {7}, {8}, {7}, 1000s));
}

TEST(HistoryTrimmerTest, AnEventFromTheFutureIsTrimmedUnlessItIsTheLatest) {
  EXPECT_TRUE(Trims(kRetention, {5}, {}, {1}, -1h));
  EXPECT_FALSE(Trims(kRetention, {5}, {}, {5}, -1h)) << "it is the latest";
}

TEST(HistoryTrimmerTest, TheCutIsPlacedAsTheTableSays) {
  const auto cut = HistoryTrimmer(kRetention, kNow).CutOf({50}, {45}, {1}, {});

  ASSERT_TRUE(cut);
  EXPECT_EQ(cut->below, Revision{45});
  EXPECT_EQ(cut->before, kNow + -100s);
  EXPECT_EQ(cut->protected_from, kNow + -5s);
  EXPECT_EQ(HistoryTrimmer(kRetention, kNow).CutOf({50}, {}, {1}, {})->below, Revision{41});
}

TEST(HistoryTrimmerTest, AStepReadsABoundedPartAndNeverTheLatestEvent) {
  EXPECT_EQ(HistoryTrimmer::EndOfStep({50}, {20}, 10), Revision{30});
  EXPECT_EQ(HistoryTrimmer::EndOfStep({50}, {45}, 10), Revision{50});
}

// --- Trim ---

using std::chrono::steady_clock;
constexpr auto kNever = steady_clock::time_point::max();

// An election with events from revision 1 on.
ElectionHistory HistoryOf(const std::string& name, Revision latest) {
  return {{name}, latest, {}, {{Revision{1}, kNow + -1000s}}};
}

struct Step {
  std::vector<std::string> removed_from;
  Trimmed trimmed;
};

// One step, in which each election has `removable` events to delete.
Step TrimOnce(const std::vector<ElectionHistory>& next, size_t removable, size_t limit,
              steady_clock::time_point deadline = kNever) {
  Step step;
  step.trimmed = HistoryTrimmer(kRetention, kNow)
                     .Trim(next, {"a"}, limit, deadline,
                           [&](const ElectionName& name, Revision, const HistoryTrimmer::Cut&) {
                             step.removed_from.push_back(name.bytes);
                             return std::min(removable, limit);
                           });
  return step;
}

TEST(TrimTest, AStepStartsOverAfterTheLastElection) {
  const ElectionHistory empty{{"c"}, {}, {}, {}};

  const auto [removed_from, trimmed] = TrimOnce({HistoryOf("b", {9}), empty}, 3, 10);

  EXPECT_THAT(removed_from, ElementsAre("b"));
  EXPECT_EQ(trimmed.deleted, 3u);
  EXPECT_EQ(trimmed.last, ElectionName{});
}

TEST(TrimTest, AFullStepContinuesAfterTheLastFinishedElection) {
  const auto unfinished = TrimOnce({HistoryOf("b", {99}), HistoryOf("c", {99})}, 10, 10).trimmed;
  EXPECT_EQ(unfinished.deleted, 10u);
  EXPECT_EQ(unfinished.last, ElectionName{"a"});

  const std::vector<ElectionHistory> page(kElectionsPerTrim, HistoryOf("z", {1}));
  EXPECT_EQ(TrimOnce(page, 0, 10).trimmed.last, ElectionName{"z"}) << "there may be more";
}

TEST(TrimTest, AStepEndsAtItsDeadline) {
  const auto [removed_from, trimmed] =
      TrimOnce({HistoryOf("b", {99})}, 1, 10, steady_clock::time_point::min());

  EXPECT_THAT(removed_from, IsEmpty());
  EXPECT_EQ(trimmed.last, ElectionName{"a"});
}

}  // namespace
}  // namespace tenure::testing
