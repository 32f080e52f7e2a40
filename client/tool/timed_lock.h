// A lock that can be waited for a bounded time. Not std::timed_mutex: GCC's thread sanitizer does
// not see how that is locked.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace tenure {

// For std::unique_lock and std::condition_variable_any. Thread-safe.
class TimedLock {
 public:
  void lock() {
    std::unique_lock guard(mutex_);
    free_.wait(guard, [this] { return !held_; });
    held_ = true;
  }
  bool try_lock_for(std::chrono::milliseconds patience) {
    std::unique_lock guard(mutex_);
    if (!free_.wait_for(guard, patience, [this] { return !held_; })) return false;
    held_ = true;
    return true;
  }
  void unlock() {
    {
      const std::lock_guard guard(mutex_);
      held_ = false;
    }
    free_.notify_one();
  }

 private:
  std::mutex mutex_;
  std::condition_variable free_;
  bool held_ = false;
};

}  // namespace tenure
