// One thing that is planned for later.
#pragma once

#include <optional>
#include <utility>

#include "server/engine/work/scheduler.h"

namespace tenure::engine {

// Holds one plan at a time, and cancels it when it is set again or destroyed, so that a plan costs
// nothing once the call that made it has ended. By then the plan may already be running: a task
// that must do nothing after the end of its owner holds a weak pointer to it. Not thread-safe by
// itself: the owner sets it under its own lock, or before other threads can.
class Timer {
 public:
  Timer(Scheduler& scheduler, Work work) : scheduler_(scheduler), work_(work) {}
  ~Timer() { Forget(); }
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  // Cancels the plan, unless it has already begun.
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

}  // namespace tenure::engine
