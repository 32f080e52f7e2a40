// One run: every work on every system, interleaved, in several rounds.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>

#include "bench/report/results.h"
#include "bench/works/closed_loop.h"

namespace tenure::bench {

// A run does all or some of these. A row that was not measured has not met its goals.
enum class Part { kThroughputs, kHandOvers, kOpenLoop, kCrashes, kTenureOnly };
inline const std::map<std::string, Part> kParts = {{"throughputs", Part::kThroughputs},
                                                   {"hand-overs", Part::kHandOvers},
                                                   {"open-loop", Part::kOpenLoop},
                                                   {"crashes", Part::kCrashes},
                                                   {"tenure-only", Part::kTenureOnly}};

struct RunPlan {
  std::string etcd;   // path of the program
  std::string mysql;  // the root directory of MySQL; empty: no MySQL
  std::set<Part> parts;
  std::set<Column> systems;
  size_t rounds;
  Window window;  // of each throughput
  Window open_loop;
  // Cycles per second of the open loop (default: half of etcd's rate with 32 in flight).
  std::optional<double> open_loop_rate;
  size_t hand_overs;  // in each round
  // Works that take long to prepare are only done in the first rounds.
  size_t long_rounds;
  size_t crashes;  // in each of those rounds
  std::chrono::milliseconds idle;
};

// For figures that are published.
[[nodiscard]] RunPlan FullPlan();
// Finishes within three minutes.
[[nodiscard]] RunPlan QuickPlan();

struct RunOutcome {
  Results results;
  nlohmann::ordered_json systems;  // how each was configured
};

// Reports progress on standard error. Throws std::runtime_error if it cannot be completed.
[[nodiscard]] RunOutcome RunAll(const RunPlan& plan);

}  // namespace tenure::bench
