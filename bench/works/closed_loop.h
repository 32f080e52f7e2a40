// The generator of load: a fixed number of operations is under way, and each starts again as soon
// as it has ended.
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
  // Called when the measured time begins, and when it ends: operations go on meanwhile.
  std::function<void()> at_edge = [] {};
};

struct Throughput {
  double per_second;
  double median_ms;
  double p99_ms;
};

using Operation = std::function<void(Done)>;

// Operations that are under way until they are stopped. Used by one thread.
class ClosedLoop {
 public:
  // Begins them. What begins and ends between these times is measured.
  ClosedLoop(std::vector<Operation> operations, Clock::time_point from, Clock::time_point until);
  ~ClosedLoop();  // stops them
  ClosedLoop(const ClosedLoop&) = delete;
  ClosedLoop& operator=(const ClosedLoop&) = delete;

  // Begins no more, and returns when all have ended. How long those took that are measured, in ms.
  // Throws std::runtime_error if one failed, of all.
  std::vector<double> Stop();

 private:
  class Loop;

  const std::vector<Operation> operations_;
  std::atomic<bool> stopping_ = false;
  std::latch ended_;  // counts the loops
  std::vector<std::unique_ptr<Loop>> loops_;
};

// What began and ended within the window counts. Returns when all have ended. Throws
// std::runtime_error if one failed, or none was done.
[[nodiscard]] Throughput RunClosedLoop(std::vector<Operation> operations, const Window& window);

}  // namespace tenure::bench
