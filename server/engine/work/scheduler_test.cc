// The scheduler that serves: real threads, so every test waits for what must happen, and for
// nothing else.
#include "server/engine/work/scheduler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <latch>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace tenure::engine {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Calls a function when the last copy of it is gone.
std::shared_ptr<void> WhenReleased(std::function<void()> call) {
  return {nullptr, [call = std::move(call)](void*) { call(); }};
}

TEST(ThreadSchedulerTest, TasksOfEveryKindRun) {
  ThreadScheduler scheduler;
  std::latch done(kWorkKinds);

  for (const Work work :
       {Work::kCommands, Work::kRenewals, Work::kReads, Work::kFeed, Work::kBackground}) {
    scheduler.Post(work, [&] { done.count_down(); });
  }

  done.wait();
}

TEST(ThreadSchedulerTest, RenewalsRunWhileAllThreadsForCommandsAreBlocked) {
  ThreadScheduler scheduler;
  constexpr int kThreads = ThreadScheduler::kThreads[static_cast<int>(Work::kCommands)];
  std::latch all_blocked(kThreads);
  std::latch release(1);
  for (int i = 0; i < kThreads; ++i) {
    scheduler.Post(Work::kCommands, [&] {
      all_blocked.count_down();
      release.wait();
    });
  }
  all_blocked.wait();

  std::promise<void> renewed;
  scheduler.Post(Work::kRenewals, [&] { renewed.set_value(); });

  renewed.get_future().wait();
  release.count_down();
}

TEST(ThreadSchedulerTest, TasksPostedByOneThreadRunInOrder) {
  ThreadScheduler scheduler;
  std::vector<int> order;

  for (int i = 0; i < 5; ++i) scheduler.Post(Work::kFeed, [&order, i] { order.push_back(i); });
  scheduler.Stop();

  EXPECT_THAT(order, ElementsAre(0, 1, 2, 3, 4));
}

TEST(ThreadSchedulerTest, PlannedTasksRunInOrderAndNeverTooEarly) {
  ThreadScheduler scheduler;
  const SteadyTime start = scheduler.Now();
  std::vector<std::string> order;
  std::atomic<bool> too_early = false;
  std::promise<void> last;
  const auto plan = [&](std::string name, SteadyTime when) {
    scheduler.PostAt(Work::kFeed, when, [&, name, when] {
      if (scheduler.Now() < when) too_early = true;
      order.push_back(name);
      if (order.size() == 4) last.set_value();
    });
  };

  plan("third", start + 20ms);
  plan("fourth", start + 20ms);
  plan("first", start);
  plan("second", start + 10ms);

  last.get_future().wait();
  EXPECT_THAT(order, ElementsAre("first", "second", "third", "fourth"));
  EXPECT_FALSE(too_early);
}

TEST(ThreadSchedulerTest, ATaskPlannedBeforeAllOthersDoesNotWaitForThem) {
  ThreadScheduler scheduler;
  const auto run_soon = [&] {
    std::promise<void> ran;
    scheduler.PostAt(Work::kReads, scheduler.Now(), [&] { ran.set_value(); });
    return ran.get_future().wait_for(1min) == std::future_status::ready;
  };
  scheduler.PostAt(Work::kReads, scheduler.Now() + 1h, [] {});

  // When the first one runs, the scheduler waits for the plan of the next hour.
  EXPECT_TRUE(run_soon() && run_soon());
}

TEST(ThreadSchedulerTest, StopRunsPostedTasksAndDropsPlannedOnes) {
  ThreadScheduler scheduler;
  std::vector<std::string> ran;
  scheduler.PostAt(Work::kFeed, scheduler.Now() + 1h, [&] { ran.push_back("planned"); });
  scheduler.Post(Work::kFeed, [&] { ran.push_back("posted"); });

  scheduler.Stop();

  EXPECT_THAT(ran, ElementsAre("posted"));
}

TEST(ThreadSchedulerTest, StopReleasesTheResourcesOfPlannedTasks) {
  ThreadScheduler scheduler;
  bool released = false;
  scheduler.PostAt(Work::kReads, scheduler.Now() + 1h,
                   [kept = WhenReleased([&] { released = true; })] {});

  scheduler.Stop();

  EXPECT_TRUE(released);
}

TEST(ThreadSchedulerTest, ACancelledPlanIsForgottenAndReleasesItsResources) {
  ThreadScheduler scheduler;
  std::promise<void> later;
  std::vector<std::string> ran;
  bool released = false;
  const SteadyTime soon = scheduler.Now() + 200ms;
  const auto plan = scheduler.PostAt(
      Work::kReads, soon,
      [&, kept = WhenReleased([&] { released = true; })] { ran.push_back("cancelled"); });
  scheduler.PostAt(Work::kReads, soon, [&] { later.set_value(); });

  scheduler.Cancel(plan);

  EXPECT_TRUE(released);
  later.get_future().wait();
  EXPECT_THAT(ran, IsEmpty());
  scheduler.Cancel(plan);  // again: no effect
}

TEST(ThreadSchedulerTest, TasksDroppedAtTheStopMayCancelOtherPlans) {
  ThreadScheduler scheduler;
  const auto other = scheduler.PostAt(Work::kReads, scheduler.Now() + 2h, [] {});
  scheduler.PostAt(Work::kReads, scheduler.Now() + 1h,
                   [kept = WhenReleased([&] { scheduler.Cancel(other); })] {});

  scheduler.Stop();
}

TEST(ThreadSchedulerTest, TasksPostedAfterTheStopAreDropped) {
  ThreadScheduler scheduler;
  std::vector<std::string> ran;

  scheduler.Stop();
  scheduler.Post(Work::kReads, [&] { ran.push_back("posted"); });
  scheduler.PostAt(Work::kReads, scheduler.Now(), [&] { ran.push_back("planned"); });
  scheduler.Stop();

  EXPECT_THAT(ran, IsEmpty());
}

TEST(ThreadSchedulerTest, TheSchedulerIsStalledAsLongAsItsOldestTaskRuns) {
  ThreadScheduler scheduler;
  std::promise<SteadyTime> began;
  std::latch release(1);
  scheduler.Post(Work::kRenewals, [&] {
    began.set_value(scheduler.Now());
    release.wait();
  });
  const SteadyTime since = began.get_future().get();
  std::promise<void> other;
  scheduler.Post(Work::kReads, [&] { other.set_value(); });
  other.get_future().wait();

  const auto at_least = scheduler.Now() - since;
  EXPECT_GE(scheduler.Stalled(), at_least);
  release.count_down();
}

TEST(ThreadSchedulerTest, AnIdleSchedulerIsNotStalled) {
  ThreadScheduler scheduler;
  scheduler.PostAt(Work::kReads, scheduler.Now() + 1h, [] {});
  std::latch done(1);
  scheduler.Post(Work::kReads, [&] { done.count_down(); });
  done.wait();

  while (scheduler.Stalled() > 0ns) std::this_thread::yield();
}

TEST(ThreadSchedulerTest, ATaskMayPostFromADestructor) {
  ThreadScheduler scheduler;
  std::promise<void> posted;

  scheduler.Post(
      Work::kReads,
      [kept = WhenReleased([&] { scheduler.Post(Work::kReads, [&] { posted.set_value(); }); })] {});

  posted.get_future().wait();
}

}  // namespace
}  // namespace tenure::engine
