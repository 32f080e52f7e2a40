// The generator of load: so many operations are under way, each of which is begun again as soon as
// it has ended.
#pragma once

#include <chrono>
#include <functional>
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

// What began and ended within the window counts. Returns when all have ended. Throws
// std::runtime_error if one failed, or none was done.
[[nodiscard]] Throughput RunClosedLoop(const std::vector<Operation>& operations,
                                       const Window& window);

}  // namespace tenure::bench
