#include "server/engine/work/manual_scheduler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tenure::engine {
namespace {

using namespace tenure::testing;

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class ManualSchedulerTest : public ::testing::Test {
 protected:
  Scheduler::Task Note(std::string what) {
    return [this, what] { ran_.push_back(what); };
  }

  ManualScheduler scheduler_;
  std::vector<std::string> ran_;
};

TEST_F(ManualSchedulerTest, NothingRunsByItself) {
  scheduler_.Post(Work::kReads, Note("a"));

  EXPECT_THAT(ran_, IsEmpty());
  EXPECT_EQ(scheduler_.Waiting(), 1u);
}

TEST_F(ManualSchedulerTest, ReadyTasksRunInTheOrderOfPosting) {
  scheduler_.Post(Work::kReads, Note("a"));
  scheduler_.Post(Work::kCommands, [this] { scheduler_.Post(Work::kReads, Note("c")); });
  scheduler_.Post(Work::kReads, Note("b"));

  EXPECT_EQ(scheduler_.RunReady(), 4u);

  EXPECT_THAT(ran_, ElementsAre("a", "b", "c"));
}

TEST_F(ManualSchedulerTest, EachPlannedTaskRunsAtItsOwnMoment) {
  const SteadyTime start = scheduler_.Now();
  std::vector<SteadyTime::duration> moments;
  const auto note = [&] { moments.push_back(scheduler_.Now() - start); };
  scheduler_.PostAt(Work::kReads, start + 3s, note);
  scheduler_.PostAt(Work::kReads, start + 1s, [&] {
    note();
    scheduler_.PostAt(Work::kReads, scheduler_.Now() + 1s, note);
  });
  scheduler_.PostAt(Work::kReads, start + 5s, note);

  scheduler_.Advance(4s);

  EXPECT_THAT(moments, ElementsAre(1s, 2s, 3s));
  EXPECT_EQ(scheduler_.Now(), start + 4s);
}

TEST_F(ManualSchedulerTest, ACancelledPlanIsForgotten) {
  const auto plan = scheduler_.PostAt(Work::kReads, scheduler_.Now() + 1s, Note("cancelled"));
  scheduler_.PostAt(Work::kReads, scheduler_.Now() + 1s, Note("kept"));

  scheduler_.Cancel(plan);
  scheduler_.Advance(2s);

  EXPECT_THAT(ran_, ElementsAre("kept"));
}

TEST_F(ManualSchedulerTest, ATaskPlannedInThePastRunsNow) {
  scheduler_.PostAt(Work::kReads, SteadyTime(), Note("a"));

  scheduler_.RunReady();

  EXPECT_THAT(ran_, ElementsAre("a"));
}

TEST_F(ManualSchedulerTest, TasksOfAHeldKindAreKept) {
  scheduler_.Hold(Work::kCommands);
  scheduler_.Post(Work::kCommands, Note("command"));
  scheduler_.Post(Work::kReads, Note("read"));

  scheduler_.Advance(1s);
  EXPECT_THAT(ran_, ElementsAre("read"));
  EXPECT_EQ(scheduler_.NextDue(), std::nullopt);

  scheduler_.Release(Work::kCommands);
  scheduler_.RunReady();
  EXPECT_THAT(ran_, ElementsAre("read", "command"));
}

TEST_F(ManualSchedulerTest, EverythingIsForgottenWhenTheProcessDies) {
  scheduler_.Post(Work::kReads, Note("a"));

  scheduler_.Die();
  scheduler_.Post(Work::kReads, Note("b"));

  EXPECT_EQ(scheduler_.RunReady(), 0u);
  EXPECT_EQ(scheduler_.Waiting(), 0u);
}

TEST_F(ManualSchedulerTest, ASimulationCanChooseTheOrder) {
  ManualScheduler last_first([](size_t ready) { return ready - 1; });
  last_first.Post(Work::kReads, Note("a"));
  last_first.Post(Work::kReads, Note("b"));
  last_first.Post(Work::kReads, Note("c"));

  last_first.RunReady();

  EXPECT_THAT(ran_, ElementsAre("c", "b", "a"));
}

TEST_F(ManualSchedulerTest, SchedulersCanShareTheirTime) {
  ManualScheduler other;
  scheduler_.PostAt(Work::kReads, scheduler_.Now() + 2s, [&] {
    Note("second")();
    other.Post(Work::kReads, Note("third"));
  });
  other.PostAt(Work::kReads, other.Now() + 1s, Note("first"));
  other.PostAt(Work::kReads, other.Now() + 3s, Note("fourth"));
  ManualScheduler* const both[] = {&other, &scheduler_};

  AdvanceTogether(both, 10s);

  EXPECT_THAT(ran_, ElementsAre("first", "second", "third", "fourth"));
  EXPECT_EQ(scheduler_.Now(), other.Now());
}

TEST_F(ManualSchedulerTest, EndlessTasksAreNoticed) {
  std::function<void()> again = [&] { scheduler_.Post(Work::kReads, again); };
  again();

  EXPECT_THROW(scheduler_.RunReady(), std::logic_error);
}

}  // namespace
}  // namespace tenure::engine
