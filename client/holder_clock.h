// The clock by which a holder counts its lease.
#pragma once

#include <time.h>

#include <algorithm>
#include <chrono>

#include "core/lease.h"

namespace tenure {

// Rises always, and also while the machine sleeps: a laptop that was closed for an hour does not
// believe that its lease has only begun. Not to be compared with std::chrono::steady_clock.
[[nodiscard]] inline Lease::Time HolderNow() noexcept {
  timespec time{};
  clock_gettime(CLOCK_BOOTTIME, &time);
  return Lease::Time(std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec));
}

// Until when a thread may wait, by the threads' clock, if it has to act at `wake`. At most a second
// from now: that clock stands still while the machine sleeps, and the holder's runs on.
[[nodiscard]] inline std::chrono::steady_clock::time_point WaitUntil(Lease::Time wake) {
  constexpr Lease::Time::duration kWaitMax = std::chrono::seconds(1);
  return std::chrono::steady_clock::now() + std::min(wake - HolderNow(), kWaitMax);
}

}  // namespace tenure
