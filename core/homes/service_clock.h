// The two clocks of a replica that is the home of sessions.
#pragma once

#include <chrono>
#include <compare>

#include "core/types.h"

namespace tenure {

// A moment on the machine's clock, which also counts while the machine sleeps (CLOCK_BOOTTIME).
using HomeTime = std::chrono::steady_clock::time_point;

// A moment on a replica's service clock: how long this incarnation's beat has been good so far.
// Silence, death and orphanhood are measured by it, so an outage of the database ages nobody.
// `OwnRow` keeps the clock, and each incarnation has its own: their times must not be mixed.
struct ServiceTime {
  Duration served{0};

  auto operator<=>(const ServiceTime&) const = default;
  friend ServiceTime operator+(ServiceTime time, Duration duration) {
    return {time.served + duration};
  }
  friend Duration operator-(ServiceTime a, ServiceTime b) { return a.served - b.served; }
};

}  // namespace tenure
