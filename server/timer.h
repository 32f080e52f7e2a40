// One thing that is planned for later.
#pragma once

#include <optional>
#include <utility>

#include "server/scheduler.h"

namespace tenure {

// Holds one plan at a time, and forgets it when it is set anew or destroyed. So that a plan costs
// nothing when the call that made it is over. The plan may already have begun then: a task that is
// to do nothing after its owner's end holds a weak pointer to it. Not thread-safe by itself: its
// owner sets it under its own lock, or before anybody else can.
class Timer {
 public:
  Timer(Scheduler& scheduler, Work work) : scheduler_(scheduler), work_(work) {}
  ~Timer() { Forget(); }
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  // What is planned is not begun any more, unless it has begun.
  void Forget() {
    if (plan_) scheduler_.Cancel(*std::exchange(plan_, std::nullopt));
  }

  void Set(SteadyTime when, Scheduler::Task task) {
    Forget();
    plan_ = scheduler_.PostAt(work_, when, std::move(task));
  }

 private:
  Scheduler& scheduler_;
  const Work work_;
  std::optional<Scheduler::Plan> plan_;
};

}  // namespace tenure
