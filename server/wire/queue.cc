#include "server/wire/queue.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <vector>

namespace tenure::wire {
namespace {

// Maximum number of jobs to run before the thread polls the connections again.
constexpr size_t kJobsAtOnceMax = 128;

thread_local const Queue* current = nullptr;

}  // namespace

Queue::~Queue() {
  queue_->Shutdown();
  if (thread_.joinable()) {
    thread_.join();
  } else {
    Poll();
  }
}

void Queue::Start() {
  thread_ = std::thread([this] { Poll(); });
}

bool Queue::IsCurrent() const { return current == this; }

void Queue::Post(Job& job) {
  {
    const MutexLock lock(mutex_);
    jobs_.push_back(&job);
    if (std::exchange(woken_, true)) return;
  }
  Wake();
}

void Queue::Wake() {
  alarm_.Set(queue_.get(), std::chrono::system_clock::time_point(), wake_.get());
}

void Queue::Poll() {
  current = this;
  void* tag = nullptr;
  bool ok = false;
  while (queue_->Next(&tag, &ok)) static_cast<Tag*>(tag)->Completed(ok);
  current = nullptr;
}

void Queue::Woken(bool /*ok*/) {
  std::vector<Job*> jobs;
  {
    const MutexLock lock(mutex_);
    const auto end =
        jobs_.begin() + static_cast<std::ptrdiff_t>(std::min(jobs_.size(), kJobsAtOnceMax));
    jobs.assign(jobs_.begin(), end);
    jobs_.erase(jobs_.begin(), end);
    woken_ = !jobs_.empty();
    if (woken_) Wake();
  }
  for (Job* job : jobs) job->Run();
}

}  // namespace tenure::wire
