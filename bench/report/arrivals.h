// An open loop: work arrives at fixed times, whether or not earlier work is done. Its duration
// counts from when it is due, so a server that stalls is charged for everything that it delays.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <optional>

namespace tenure::bench {

// When work is due: evenly spaced, without drift. Pure.
class Schedule {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  // REQUIRES: per_second > 0.
  Schedule(TimePoint start, double per_second) : start_(start), per_second_(per_second) {}

  [[nodiscard]] TimePoint Due(size_t arrival) const;

 private:
  TimePoint start_;
  double per_second_;
};

// Assigns arrivals to this number of workers. An arrival that finds all workers busy is delayed: it
// starts as soon as a worker is free, in the order of arrival. Pure.
class Arrivals {
 public:
  explicit Arrivals(size_t workers);

  // The worker that starts this arrival now, the one that has been free for longest; nothing if the
  // arrival is delayed.
  std::optional<size_t> Arrive(size_t arrival);
  // This worker is done. Returns the delayed arrival that it starts now; nothing if there is none.
  std::optional<size_t> Done(size_t worker);
  // Whether all arrivals are done.
  [[nodiscard]] bool Idle() const { return free_.size() == workers_; }

 private:
  const size_t workers_;
  std::deque<size_t> free_;
  std::deque<size_t> delayed_;
};

}  // namespace tenure::bench
