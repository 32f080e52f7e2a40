// Campaigns that arrive at a fixed rate, whether or not earlier ones are done.
#pragma once

#include <string>
#include <vector>

#include "bench/systems/system.h"
#include "bench/works/closed_loop.h"

namespace tenure::bench {

struct OpenLoopPlan {
  double per_second;
  size_t candidates;  // the maximum number under way at once
  Window window;
};

// For campaigns due within the window, in ms.
struct OpenLoopTimes {
  std::vector<double> campaigns;  // from when the campaign was due to its answer
  std::vector<double> resigns;    // from when it was due to the answer of the resignation
  std::vector<double> lags;       // from when it was due to its start
  size_t delayed = 0;             // campaigns due while all candidates were busy
};

// Candidates, each with its own session, connection and election, are elected and resign at once.
// Uses elections named after `label`, and leaves nobody standing. Returns when all have ended;
// throws std::runtime_error if one failed.
[[nodiscard]] OpenLoopTimes MeasureOpenLoop(System& system, const std::string& label,
                                            const OpenLoopPlan& plan);

}  // namespace tenure::bench
