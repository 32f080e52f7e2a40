// Whether this process may act as the leader right now. Many threads read it, in nanoseconds; one
// writes it. Pure: `now` is an argument.
//
// Once a reader has seen "no" in a term, no reader sees "yes" in that term again.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "core/lease.h"

namespace tenure {

class Belief {
 public:
  using Time = Lease::Time;

  // For the writer's thread.

  // REQUIRES: no belief stands, and `term` is higher than all before.
  void Begin(uint64_t term, Time until) noexcept {
    term_ = term;
    until_ = until.time_since_epoch().count();
  }
  // False, and nothing changes, if a reader has seen the belief end.
  [[nodiscard]] bool Extend(Time until) noexcept {
    int64_t before = until_;
    const int64_t after = until.time_since_epoch().count();
    return before != kNone && until_.compare_exchange_strong(before, after);
  }
  void End() noexcept { until_ = kNone; }

  // From any thread.

  [[nodiscard]] bool HoldsAt(Time now) const noexcept {
    int64_t until = until_;
    while (until != kNone) {
      if (now.time_since_epoch().count() < until) return true;
      if (until_.compare_exchange_weak(until, kNone)) return false;
    }
    return false;
  }
  // How long it still holds; not positive if it does not.
  [[nodiscard]] std::chrono::nanoseconds Remaining(Time now) const noexcept {
    return std::chrono::nanoseconds(until_) - now.time_since_epoch();
  }
  // The term in which this process may act; 0 if it may not.
  [[nodiscard]] uint64_t TermAt(Time now) const noexcept {
    while (true) {
      const uint64_t term = term_;
      if (!HoldsAt(now)) return 0;
      if (term == term_) return term;  // so the belief was this term's
    }
  }

 private:
  static constexpr int64_t kNone = 0;

  std::atomic<uint64_t> term_ = 0;
  mutable std::atomic<int64_t> until_ = kNone;  // in ticks of the holder's clock
};

}  // namespace tenure
