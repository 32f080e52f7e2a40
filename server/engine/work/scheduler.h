// Time and threads, as the engine sees them. The engine starts no thread and reads no clock of its
// own: the implementation of this interface decides when and where its work runs.
//
// `ThreadScheduler` is the one that serves. A simulation can drive the same engine with a scheduler
// of its own.
#pragma once

#include <array>
#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "server/engine/work/steady_time.h"

namespace tenure::engine {

// What a task is for. Each kind has threads of its own, so that no kind can hold up another:
// whatever the load, a renewal starts at once.
enum class Work { kCommands, kRenewals, kReads, kFeed, kBackground };
inline constexpr int kWorkKinds = 5;

class Scheduler {
 public:
  using Task = std::function<void()>;
  using Plan = std::pair<SteadyTime, uint64_t>;  // when, and the order among those at one time

  virtual ~Scheduler() = default;

  [[nodiscard]] virtual SteadyTime Now() const = 0;
  // A clock that also counts while the machine sleeps: a replica measures by it how long it may
  // answer for sessions. Not to be compared with Now.
  [[nodiscard]] virtual SteadyTime HomeNow() const { return Now(); }
  // Runs the task soon. Thread-safe.
  virtual void Post(Work work, Task task) = 0;
  // Runs the task at `when` or soon after. Thread-safe.
  virtual Plan PostAt(Work work, SteadyTime when, Task task) = 0;
  // Forgets a task that has not been taken to run; otherwise does nothing. Thread-safe.
  virtual void Cancel(const Plan& plan) = 0;
};

// Fixed threads for each kind of work, and one for time. Tasks may block.
class ThreadScheduler final : public Scheduler {
 public:
  ThreadScheduler();
  ~ThreadScheduler() override;  // Stop()

  [[nodiscard]] SteadyTime Now() const override;
  [[nodiscard]] SteadyTime HomeNow() const override;
  void Post(Work work, Task task) override;
  Plan PostAt(Work work, SteadyTime when, Task task) override;
  void Cancel(const Plan& plan) override;

  // How long it has made no progress: how long the oldest running task has run, or the first
  // planned one has been overdue. The store bounds its tries, so minutes are a hang. Thread-safe.
  [[nodiscard]] std::chrono::nanoseconds Stalled() const;

  // Runs what was posted, drops what was only planned, and ends the threads. Tasks posted later are
  // dropped.
  void Stop();

  // How many tasks may block on the store at once.
  static constexpr int kThreads[kWorkKinds] = {2, 2, 2, 1, 2};
  static constexpr int kThreadsTotal = 9;

 private:
  struct Planned {
    Work work;
    Task task;
  };

  void RunQueue(size_t work, size_t thread);
  void RunPlan();

  mutable Mutex mutex_;
  bool stopping_ TENURE_GUARDED_BY(mutex_) = false;
  std::array<std::deque<Task>, kWorkKinds> queues_ TENURE_GUARDED_BY(mutex_);
  std::array<ConditionVariable, kWorkKinds> ready_;  // something is in the queue
  ConditionVariable plan_changed_;
  std::map<Plan, Planned> plan_ TENURE_GUARDED_BY(mutex_);
  uint64_t planned_ TENURE_GUARDED_BY(mutex_) = 0;
  // When the task that each thread runs began; SteadyTime::max() for none.
  std::array<SteadyTime, kThreadsTotal> began_ TENURE_GUARDED_BY(mutex_);
  std::vector<std::thread> threads_;
};

}  // namespace tenure::engine
