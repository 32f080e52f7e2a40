// A process that overloads a replica of Tenure: a fixed number of calls is under way, and each is
// repeated as soon as it has ended, in whatever way.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "bench/report/call_tally.h"

namespace tenure::bench {

struct StormOptions {
  std::string endpoint;
  size_t in_flight;  // half of them campaigns, half Leader reads
  std::chrono::seconds duration;
};

// Runs in this process. Prints its outcome as a line of JSON.
void RunStorm(const StormOptions& options);

// The outcomes of the calls, by kind.
struct StormOutcome {
  TallySummary campaigns;
  TallySummary reads;
};

// Runs in another process. Calls `meanwhile` repeatedly until it has ended. Throws if it fails.
[[nodiscard]] StormOutcome RunStormElsewhere(const StormOptions& options,
                                             const std::function<void()>& meanwhile);

}  // namespace tenure::bench
