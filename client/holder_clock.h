// The clock by which a holder counts its lease.
#pragma once

#include <time.h>

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

}  // namespace tenure
