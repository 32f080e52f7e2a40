// Checks every second that this process serves its own port.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

#include "base/mutex.h"

namespace tenure::network {

class SelfCheck {
 public:
  // `ask` may block for some seconds, and is called on a thread of its own.
  explicit SelfCheck(std::function<bool()> ask);
  ~SelfCheck() { Stop(); }
  // Stops asking; healthy from then on.
  void Stop();

  // Whether a check has succeeded within the last ten seconds, or they are the first ten.
  // Thread-safe.
  [[nodiscard]] bool Healthy() const;

 private:
  using Clock = std::chrono::steady_clock;

  void Run();

  const std::function<bool()> ask_;
  std::atomic<Clock::time_point> healthy_at_;
  Mutex mutex_;
  ConditionVariable changed_;
  bool stopping_ TENURE_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace tenure::network
