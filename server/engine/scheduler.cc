#include "server/engine/scheduler.h"

#include <algorithm>
#include <utility>

namespace tenure {

ThreadScheduler::ThreadScheduler() {
  began_.fill(SteadyTime::max());
  auto* began = began_.data();
  for (int kind = 0; kind < kWorkKinds; ++kind) {
    for (int i = 0; i < kThreads[kind]; ++i) {
      threads_.emplace_back([this, kind, began] { RunQueue(queues_[kind], *began); });
      ++began;
    }
  }
  threads_.emplace_back([this] { RunPlan(); });
}

ThreadScheduler::~ThreadScheduler() { Stop(); }

SteadyTime ThreadScheduler::Now() const { return std::chrono::steady_clock::now(); }

void ThreadScheduler::Post(Work work, Task task) {
  Queue& queue = queues_[static_cast<int>(work)];
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return;
    queue.tasks.push_back(std::move(task));
  }
  queue.ready.notify_one();
}

Scheduler::Plan ThreadScheduler::PostAt(Work work, SteadyTime when, Task task) {
  bool earliest = false;
  Plan plan{when, 0};
  {
    const std::lock_guard lock(mutex_);
    plan.second = planned_++;
    if (stopping_) return plan;
    earliest = plan_.empty() || plan < plan_.begin()->first;
    plan_.emplace(plan, Planned{work, std::move(task)});
  }
  if (earliest) plan_changed_.notify_one();
  return plan;
}

void ThreadScheduler::Cancel(const Plan& plan) {
  decltype(plan_)::node_type cancelled;  // what it holds is released without the lock
  const std::lock_guard lock(mutex_);
  cancelled = plan_.extract(plan);
}

std::chrono::nanoseconds ThreadScheduler::Stalled() const {
  const std::lock_guard lock(mutex_);
  const SteadyTime now = Now();
  SteadyTime since = std::min(now, *std::min_element(began_.begin(), began_.end()));
  if (!plan_.empty()) since = std::min(since, plan_.begin()->first.first);
  return now - since;
}

void ThreadScheduler::Stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  for (Queue& queue : queues_) queue.ready.notify_all();
  plan_changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
  decltype(plan_) dropped;  // released without the lock: what it holds may cancel others
  const std::lock_guard lock(mutex_);
  dropped.swap(plan_);
}

void ThreadScheduler::RunQueue(Queue& queue, SteadyTime& began) {
  std::unique_lock lock(mutex_);
  while (true) {
    queue.ready.wait(lock, [&] { return stopping_ || !queue.tasks.empty(); });
    if (queue.tasks.empty()) return;
    Task task = std::move(queue.tasks.front());
    queue.tasks.pop_front();
    began = Now();
    lock.unlock();
    task();
    task = nullptr;  // what it holds is released without the lock
    lock.lock();
    began = SteadyTime::max();
  }
}

void ThreadScheduler::RunPlan() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    if (plan_.empty()) {
      plan_changed_.wait(lock);
      continue;
    }
    const SteadyTime when = plan_.begin()->first.first;
    if (Now() < when) {
      plan_changed_.wait_until(lock, when);
      continue;
    }
    auto due = plan_.extract(plan_.begin());
    Queue& queue = queues_[static_cast<int>(due.mapped().work)];
    queue.tasks.push_back(std::move(due.mapped().task));
    queue.ready.notify_one();
  }
}

}  // namespace tenure
