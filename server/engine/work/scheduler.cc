#include "server/engine/work/scheduler.h"

#include <time.h>

#include <algorithm>
#include <utility>

namespace tenure::engine {

ThreadScheduler::ThreadScheduler() {
  began_.fill(SteadyTime::max());
  size_t thread = 0;
  for (size_t kind = 0; kind < kWorkKinds; ++kind) {
    for (int i = 0; i < kThreads[kind]; ++i) {
      threads_.emplace_back([this, kind, number = thread++] { RunQueue(kind, number); });
    }
  }
  threads_.emplace_back([this] { RunPlan(); });
}

ThreadScheduler::~ThreadScheduler() { Stop(); }

SteadyTime ThreadScheduler::Now() const { return std::chrono::steady_clock::now(); }

SteadyTime ThreadScheduler::HomeNow() const {
  timespec time{};
  clock_gettime(CLOCK_BOOTTIME, &time);
  return SteadyTime(std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec));
}

void ThreadScheduler::Post(Work work, Task task) {
  const auto kind = static_cast<size_t>(work);
  {
    const MutexLock lock(mutex_);
    if (stopping_) return;
    queues_[kind].push_back(std::move(task));
  }
  ready_[kind].NotifyOne();
}

Scheduler::Plan ThreadScheduler::PostAt(Work work, SteadyTime when, Task task) {
  bool earliest = false;
  Plan plan{when, 0};
  {
    const MutexLock lock(mutex_);
    plan.second = planned_++;
    if (stopping_) return plan;
    earliest = plan_.empty() || plan < plan_.begin()->first;
    plan_.emplace(plan, Planned{work, std::move(task)});
  }
  if (earliest) plan_changed_.NotifyOne();
  return plan;
}

void ThreadScheduler::Cancel(const Plan& plan) {
  decltype(plan_)::node_type cancelled;  // what it holds is released without the lock
  const MutexLock lock(mutex_);
  cancelled = plan_.extract(plan);
}

std::chrono::nanoseconds ThreadScheduler::Stalled() const {
  const MutexLock lock(mutex_);
  const SteadyTime now = Now();
  SteadyTime since = std::min(now, *std::min_element(began_.begin(), began_.end()));
  if (!plan_.empty()) since = std::min(since, plan_.begin()->first.first);
  return now - since;
}

void ThreadScheduler::Stop() {
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
  }
  for (ConditionVariable& ready : ready_) ready.NotifyAll();
  plan_changed_.NotifyAll();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
  decltype(plan_) dropped;  // released without the lock: what it holds may cancel others
  const MutexLock lock(mutex_);
  dropped.swap(plan_);
}

void ThreadScheduler::RunQueue(size_t work, size_t thread) {
  MutexLock lock(mutex_);
  std::deque<Task>& queue = queues_[work];
  while (true) {
    while (!stopping_ && queue.empty()) ready_[work].Wait(lock);
    if (queue.empty()) return;
    Task task = std::move(queue.front());
    queue.pop_front();
    began_[thread] = Now();
    lock.Unlock();
    task();
    task = nullptr;  // what it holds is released without the lock
    lock.Lock();
    began_[thread] = SteadyTime::max();
  }
}

void ThreadScheduler::RunPlan() {
  MutexLock lock(mutex_);
  while (!stopping_) {
    if (plan_.empty()) {
      plan_changed_.Wait(lock);
      continue;
    }
    const SteadyTime when = plan_.begin()->first.first;
    if (Now() < when) {
      plan_changed_.WaitUntil(lock, when);
      continue;
    }
    auto due = plan_.extract(plan_.begin());
    const auto kind = static_cast<size_t>(due.mapped().work);
    queues_[kind].push_back(std::move(due.mapped().task));
    ready_[kind].NotifyOne();
  }
}

}  // namespace tenure::engine
