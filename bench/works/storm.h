// A process that asks a replica of Tenure for more than it can do: a fixed number of calls is under
// way, and each that has ended, in whatever way, is made again at once.
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

// In this process. Prints its outcome as a line of JSON.
void RunStorm(const StormOptions& options);

// What became of the calls, by what they ask for.
struct StormOutcome {
  TallySummary campaigns;
  TallySummary reads;
};

// In another process. Calls `meanwhile` again and again until it has ended. Throws if it fails.
[[nodiscard]] StormOutcome RunStormElsewhere(const StormOptions& options,
                                             const std::function<void()>& meanwhile);

}  // namespace tenure::bench
