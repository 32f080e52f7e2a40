// Keeps a callback from being called after its owner is gone.
#pragma once

#include <functional>
#include <mutex>

namespace tenure {

// Lets calls through until it is closed. Close waits for a call that is under way,
// unless that call closes it. Thread-safe.
class Gate {
 public:
  // False if the gate is closed.
  bool Pass(const std::function<void()>& call) {
    const std::lock_guard lock(mutex_);
    if (closed_) return false;
    call();
    return true;
  }
  void Close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }

 private:
  std::recursive_mutex mutex_;
  bool closed_ = false;  // guarded by mutex_
};

}  // namespace tenure
