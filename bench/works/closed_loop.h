// The load generator: a fixed number of operations is under way, and each starts again as soon as
// it has ended.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <latch>
#include <memory>
#include <vector>

#include "bench/systems/system.h"

namespace tenure::bench {

struct Window {
  std::chrono::milliseconds warm_up;  // not counted
  std::chrono::milliseconds measured;
  // Called when the measured time begins, and when it ends; operations continue meanwhile.
  std::function<void()> at_edge = [] {};
};

struct Throughput {
  double per_second;
  double median_ms;
  double p99_ms;
};

using Operation = std::function<void(Done)>;

// Operations that are repeated until they are stopped. For one thread.
class ClosedLoop {
 public:
  // Begins them. Operations that begin and end between these times are measured.
  ClosedLoop(std::vector<Operation> operations, Clock::time_point from, Clock::time_point until);
  ~ClosedLoop();  // stops them
  ClosedLoop(const ClosedLoop&) = delete;
  ClosedLoop& operator=(const ClosedLoop&) = delete;

  // Begins no more operations, and returns when all have ended. The durations of the measured ones,
  // in ms. Throws std::runtime_error if any operation failed.
  std::vector<double> Stop();

 private:
  class Loop;

  const std::vector<Operation> operations_;
  std::atomic<bool> stopping_ = false;
  std::latch ended_;  // counts loops
  std::vector<std::unique_ptr<Loop>> loops_;
};

// Operations that begin and end within the window count. Returns when all have ended. Throws
// std::runtime_error if one failed, or none was completed.
[[nodiscard]] Throughput RunClosedLoop(std::vector<Operation> operations, const Window& window);

}  // namespace tenure::bench
