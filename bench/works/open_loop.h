// Campaigns that arrive at a fixed rate, as they do where nobody waits for others to be done.
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

// Of what was due within the window, in ms.
struct OpenLoopTimes {
  std::vector<double> campaigns;  // from when a campaign was due until it was answered
  std::vector<double> resigns;    // from then until the resignation was answered
  std::vector<double> lags;       // from when a campaign was due until it was begun
  size_t delayed = 0;             // campaigns that were due when all candidates were busy
};

// Candidates, each with a session, a connection and an election of its own, are elected and resign
// at once. Uses elections named after `label`, and leaves nobody standing. Returns when all have
// ended; throws std::runtime_error if one failed.
[[nodiscard]] OpenLoopTimes MeasureOpenLoop(System& system, const std::string& label,
                                            const OpenLoopPlan& plan);

}  // namespace tenure::bench
