#include "server/engine/work/timer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "server/engine/work/manual_scheduler.h"

namespace tenure::engine {
namespace {

using namespace std::chrono_literals;
using ::tenure::testing::ManualScheduler;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class TimerTest : public ::testing::Test {
 protected:
  Scheduler::Task Note(std::string what) {
    return [this, what] { ran_.push_back(what); };
  }

  ManualScheduler scheduler_;
  std::vector<std::string> ran_;
};

TEST_F(TimerTest, TheLastSettingOfATimerCounts) {
  Timer timer(scheduler_, Work::kReads);

  timer.Set(scheduler_.Now() + 1s, Note("first"));
  timer.Set(scheduler_.Now() + 2s, Note("second"));
  scheduler_.Advance(3s);

  EXPECT_THAT(ran_, ElementsAre("second"));
}

TEST_F(TimerTest, ATimerCanBeSetByItsOwnTask) {
  Timer timer(scheduler_, Work::kReads);

  timer.Set(scheduler_.Now() + 1s, [&] { timer.Set(scheduler_.Now() + 1s, Note("again")); });
  scheduler_.Advance(3s);

  EXPECT_THAT(ran_, ElementsAre("again"));
}

TEST_F(TimerTest, ADestroyedTimerLeavesNothingPlanned) {
  {
    Timer timer(scheduler_, Work::kReads);
    timer.Set(scheduler_.Now() + 1s, Note("late"));
  }

  EXPECT_EQ(scheduler_.Waiting(), 0u);
  scheduler_.Advance(2s);
  EXPECT_THAT(ran_, IsEmpty());
}

}  // namespace
}  // namespace tenure::engine
