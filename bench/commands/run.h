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

// A run does all of these, or some. Rows that are not measured have not met their goals.
enum class Part { kThroughputs, kHandOvers, kOpenLoop, kCrashes, kTenureOnly };
inline const std::map<std::string, Part> kParts = {{"throughputs", Part::kThroughputs},
                                                   {"hand-overs", Part::kHandOvers},
                                                   {"open-loop", Part::kOpenLoop},
                                                   {"crashes", Part::kCrashes},
                                                   {"tenure-only", Part::kTenureOnly}};

struct RunPlan {
  std::string etcd;   // its program
  std::string mysql;  // the root directory of MySQL; empty: nothing is measured on it
  std::set<Part> parts;
  std::set<Column> systems;
  size_t rounds;
  Window window;  // of each throughput
  Window open_loop;
  // Cycles per second of the open loop, in place of half of what etcd does with 32 in flight.
  std::optional<double> open_loop_rate;
  size_t hand_overs;  // in each round
  // The works that take long to prepare are done in the first rounds only.
  size_t long_rounds;
  size_t crashes;  // in each of those rounds
  std::chrono::milliseconds idle;
};

// For figures that are published.
[[nodiscard]] RunPlan FullPlan();
// Within three minutes.
[[nodiscard]] RunPlan QuickPlan();

struct RunOutcome {
  Results results;
  nlohmann::ordered_json systems;  // how each was configured
};

// Tells its progress on standard error. Throws std::runtime_error if it cannot be run to its end.
[[nodiscard]] RunOutcome RunAll(const RunPlan& plan);

}  // namespace tenure::bench
