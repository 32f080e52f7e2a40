// A scheduler that does nothing by itself, for tests and simulation: time moves, and tasks run,
// only when the driver says so, on the driver's thread, in an order that is the same in every run.
//
// One scheduler is one process. Several of them can share one time: see `AdvanceTogether`. Posting
// is thread-safe; driving is for one thread.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "server/engine/work/scheduler.h"

namespace tenure::testing {

class ManualScheduler final : public engine::Scheduler {
 public:
  // Chooses which of the ready tasks runs next. Real threads take them in any order; a simulation
  // can choose by its seed.
  using Choose = std::function<size_t(size_t ready)>;

  // Not the epoch, so that nothing looks as if it had just happened.
  static constexpr engine::SteadyTime kStart{std::chrono::hours(1)};
  // More tasks than this at one moment are a loop without end.
  static constexpr size_t kTasksAtOnceMax = 100'000;

  // By default, the task that was due first, and of those the one that was posted first.
  explicit ManualScheduler(
      Choose choose = [](size_t) { return size_t{0}; }, engine::SteadyTime start = kStart)
      : choose_(std::move(choose)), now_(start) {}

  [[nodiscard]] engine::SteadyTime Now() const override {
    const MutexLock lock(mutex_);
    return now_;
  }
  void Post(engine::Work work, Task task) override {
    PostAt(work, engine::SteadyTime::min(), std::move(task));
  }
  Plan PostAt(engine::Work work, engine::SteadyTime when, Task task) override {
    const MutexLock lock(mutex_);
    const Plan plan{std::max(when, now_), posted_++};
    if (!dead_) tasks_.emplace(plan, Planned{work, std::move(task)});
    return plan;
  }
  void Cancel(const Plan& plan) override {
    decltype(tasks_)::node_type cancelled;  // released without the lock
    const MutexLock lock(mutex_);
    cancelled = tasks_.extract(plan);
  }

  // Runs one task whose time has come. False if there is none.
  bool RunOne() {
    Task task = TakeReady();
    if (!task) return false;
    task();
    return true;
  }
  // Runs all tasks whose time has come, and those that they post. Returns how many.
  size_t RunReady() {
    size_t count = 0;
    while (RunOne()) {
      if (++count > kTasksAtOnceMax) throw std::logic_error("tasks without end");
    }
    return count;
  }
  // Moves time; each task runs at its own moment.
  void Advance(engine::SteadyTime::duration duration);

  // Tasks of a kind that is held are kept until it is released: its threads are all busy.
  void Hold(engine::Work work) { SetHeld(work, true); }
  void Release(engine::Work work) { SetHeld(work, false); }

  // The process is killed: no task runs any more, and none is taken.
  void Die() {
    std::map<Plan, Planned> dropped;  // released without the lock
    const MutexLock lock(mutex_);
    dead_ = true;
    dropped.swap(tasks_);
  }

  // When the next task that is not held is due; it may be now.
  [[nodiscard]] std::optional<engine::SteadyTime> NextDue() const {
    const MutexLock lock(mutex_);
    for (const auto& [key, planned] : tasks_) {
      if (!IsHeld(planned.work)) return key.first;
    }
    return std::nullopt;
  }
  // Tasks that wait, due or not, held or not.
  [[nodiscard]] size_t Waiting() const {
    const MutexLock lock(mutex_);
    return tasks_.size();
  }

  // Moves time without running anything: the process was paused. Never backwards.
  void SetNow(engine::SteadyTime now) {
    const MutexLock lock(mutex_);
    now_ = std::max(now_, now);
  }

 private:
  struct Planned {
    engine::Work work;
    Task task;
  };

  Task TakeReady() {
    const MutexLock lock(mutex_);
    std::vector<std::map<Plan, Planned>::iterator> ready;
    for (auto it = tasks_.begin(); it != tasks_.end() && it->first.first <= now_; ++it) {
      if (!IsHeld(it->second.work)) ready.push_back(it);
    }
    if (ready.empty()) return nullptr;
    return std::move(tasks_.extract(ready.at(choose_(ready.size()))).mapped().task);
  }

  [[nodiscard]] bool IsHeld(engine::Work work) const { return held_[static_cast<size_t>(work)]; }
  void SetHeld(engine::Work work, bool held) {
    const MutexLock lock(mutex_);
    held_[static_cast<size_t>(work)] = held;
  }

  const Choose choose_;
  mutable Mutex mutex_;
  engine::SteadyTime now_ TENURE_GUARDED_BY(mutex_) = kStart;
  uint64_t posted_ TENURE_GUARDED_BY(mutex_) = 0;
  bool dead_ TENURE_GUARDED_BY(mutex_) = false;
  std::array<bool, engine::kWorkKinds> held_ TENURE_GUARDED_BY(mutex_){};
  std::map<Plan, Planned> tasks_ TENURE_GUARDED_BY(mutex_);
};

// Moves the time of several processes as one: the task that is due first, in any of them, runs
// first. REQUIRES: they all stand at the same time.
inline void AdvanceTogether(std::span<ManualScheduler* const> schedulers,
                            engine::SteadyTime::duration duration) {
  if (schedulers.empty()) return;
  const engine::SteadyTime end = schedulers.front()->Now() + duration;
  const auto set_now = [&](engine::SteadyTime now) {
    for (ManualScheduler* scheduler : schedulers) scheduler->SetNow(now);
  };
  const auto run_ready = [&] {
    size_t count = 0;
    for (ManualScheduler* scheduler : schedulers) count += scheduler->RunReady();
    return count;
  };
  while (true) {
    while (run_ready() > 0) continue;  // one may have posted to another
    std::optional<engine::SteadyTime> next;
    for (const ManualScheduler* scheduler : schedulers) {
      const auto due = scheduler->NextDue();
      if (due && (!next || *due < *next)) next = due;
    }
    if (!next || *next > end) break;
    set_now(*next);
  }
  set_now(end);
}

inline void ManualScheduler::Advance(engine::SteadyTime::duration duration) {
  ManualScheduler* const self = this;
  AdvanceTogether({&self, 1}, duration);
}

}  // namespace tenure::testing
