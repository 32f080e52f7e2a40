#include "server/engine/work/batcher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "server/engine/work/manual_scheduler.h"

namespace tenure::engine {
namespace {

using ::tenure::testing::ManualScheduler;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class BatcherTest : public ::testing::Test {
 protected:
  using Batch = std::vector<std::string>;

  Batcher<std::string> Make(size_t batch_max, size_t queue_max) {
    return {scheduler_, Work::kCommands, batch_max, queue_max, [this](Batch batch) {
              batches_.push_back(std::move(batch));
              if (on_run_) on_run_();
              return after_;
            }};
  }
  static bool Add(Batcher<std::string>& batcher, std::string item) { return batcher.Add(item); }

  ManualScheduler scheduler_;
  std::vector<Batch> batches_;
  std::function<void()> on_run_;
  std::function<void()> after_;
};

TEST_F(BatcherTest, ASingleItemRunsAtOnce) {
  auto batcher = Make(10, 10);

  EXPECT_TRUE(Add(batcher, "a"));
  scheduler_.RunReady();

  EXPECT_THAT(batches_, ElementsAre(ElementsAre("a")));
  EXPECT_EQ(batcher.Waiting(), 0u);
}

TEST_F(BatcherTest, WaitingItemsRunTogetherInTheOrderOfArrival) {
  auto batcher = Make(10, 10);

  for (const char* item : {"a", "b", "c"}) EXPECT_TRUE(Add(batcher, item));
  EXPECT_EQ(batcher.Waiting(), 3u);
  scheduler_.RunReady();

  EXPECT_THAT(batches_, ElementsAre(ElementsAre("a", "b", "c")));
}

TEST_F(BatcherTest, ItemsThatArriveDuringABatchGoIntoTheNext) {
  auto batcher = Make(10, 10);
  on_run_ = [&] {
    if (batches_.size() > 1) return;
    EXPECT_TRUE(Add(batcher, "b"));
    EXPECT_TRUE(Add(batcher, "c"));
  };

  EXPECT_TRUE(Add(batcher, "a"));
  scheduler_.RunReady();

  EXPECT_THAT(batches_, ElementsAre(ElementsAre("a"), ElementsAre("b", "c")));
}

TEST_F(BatcherTest, OneBatchRunsAtATime) {
  auto batcher = Make(1, 10);
  on_run_ = [&] { EXPECT_EQ(scheduler_.Waiting(), 0u); };

  for (const char* item : {"a", "b"}) EXPECT_TRUE(Add(batcher, item));
  EXPECT_EQ(scheduler_.Waiting(), 1u);
  scheduler_.RunReady();

  EXPECT_THAT(batches_, ElementsAre(ElementsAre("a"), ElementsAre("b")));
}

TEST_F(BatcherTest, TheNextBatchRunsWhileOneIsAnswered) {
  auto batcher = Make(1, 10);
  std::vector<size_t> posted;
  after_ = [&] { posted.push_back(scheduler_.Waiting()); };

  for (const char* item : {"a", "b"}) EXPECT_TRUE(Add(batcher, item));
  scheduler_.RunReady();

  EXPECT_THAT(posted, ElementsAre(1u, 0u));
}

TEST_F(BatcherTest, TheSizeOfABatchIsBounded) {
  auto batcher = Make(2, 10);

  for (const char* item : {"a", "b", "c", "d", "e"}) EXPECT_TRUE(Add(batcher, item));
  scheduler_.RunReady();

  EXPECT_THAT(batches_,
              ElementsAre(ElementsAre("a", "b"), ElementsAre("c", "d"), ElementsAre("e")));
}

TEST_F(BatcherTest, AFullQueueLeavesTheItemToItsCaller) {
  auto batcher = Make(10, 2);
  ASSERT_TRUE(Add(batcher, "a"));
  ASSERT_TRUE(Add(batcher, "b"));

  std::string item = "c";
  EXPECT_FALSE(batcher.Add(item));

  EXPECT_EQ(item, "c");
  scheduler_.RunReady();
  EXPECT_THAT(batches_, ElementsAre(ElementsAre("a", "b")));
}

TEST_F(BatcherTest, ItemsAreAcceptedAgainAfterAFullQueueHasRun) {
  auto batcher = Make(10, 1);
  ASSERT_TRUE(Add(batcher, "a"));
  ASSERT_FALSE(Add(batcher, "b"));
  scheduler_.RunReady();

  EXPECT_TRUE(Add(batcher, "c"));
  scheduler_.RunReady();

  EXPECT_THAT(batches_, ElementsAre(ElementsAre("a"), ElementsAre("c")));
}

TEST_F(BatcherTest, ABatchRunsOnTheThreadsForItsKindOfWork) {
  auto batcher = Make(10, 10);
  scheduler_.Hold(Work::kCommands);

  ASSERT_TRUE(Add(batcher, "a"));
  scheduler_.RunReady();
  EXPECT_THAT(batches_, IsEmpty());

  scheduler_.Release(Work::kCommands);
  scheduler_.RunReady();
  EXPECT_THAT(batches_, ElementsAre(ElementsAre("a")));
}

}  // namespace
}  // namespace tenure::engine
