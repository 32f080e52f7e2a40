// The clock by which a holder counts its lease.
#pragma once

#include <time.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

#include "client/cpp/io/test_clock.h"
#include "core/lease.h"

namespace tenure {

// Never stops, not even while the machine sleeps: a laptop that was closed for an hour must not
// believe that its lease has just begun. Not comparable with std::chrono::steady_clock.
[[nodiscard]] inline Lease::Time HolderNow() noexcept {
  timespec time{};
  clock_gettime(CLOCK_BOOTTIME, &time);
  return Lease::Time(std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec));
}

// HolderNow, or the clock of a test. Not thread-safe, except for Now while nobody calls RunFree.
class HolderClock {
 public:
  // Null: HolderNow.
  explicit HolderClock(std::shared_ptr<const TestClock> test) : test_(std::move(test)) {}

  [[nodiscard]] Lease::Time Now() const noexcept {
    return test_ == nullptr ? HolderNow() + ahead_ : test_->Now();
  }
  // How long a thread that must act at `wake` may wait, by the threads' clock. At most a second
  // from now, because that clock stops while the machine sleeps, and the holder's does not.
  [[nodiscard]] std::chrono::steady_clock::time_point WaitUntil(Lease::Time wake) const {
    constexpr Lease::Time::duration kWaitMax = std::chrono::seconds(1);
    if (test_ != nullptr) return std::chrono::steady_clock::time_point::max();
    return std::chrono::steady_clock::now() + std::min(wake - Now(), kWaitMax);
  }
  // Deadline for a call sent now. While a test's clock stands still, no call is late.
  [[nodiscard]] std::chrono::system_clock::time_point Deadline(Duration patience) const {
    if (test_ != nullptr) return std::chrono::system_clock::time_point::max();
    return std::chrono::system_clock::now() + patience;
  }
  [[nodiscard]] bool RunsFree() const { return test_ == nullptr; }
  // Continues in real time, if it was a test's clock.
  void RunFree() {
    if (test_ == nullptr) return;
    ahead_ = test_->Now() - HolderNow();
    test_.reset();
  }

 private:
  std::shared_ptr<const TestClock> test_;
  Lease::Time::duration ahead_{0};
};

}  // namespace tenure
