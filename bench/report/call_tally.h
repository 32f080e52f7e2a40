// The outcomes of very many calls.
#pragma once

#include <cstddef>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace tenure::bench {

struct CallTally {
  std::vector<double> answered_ms;
  std::vector<double> refused_ms;  // RESOURCE_EXHAUSTED
  size_t refused_without_retry_info = 0;
  std::map<std::string, size_t> failed;  // any other error, by its reason

  void Add(const CallTally& more);
};

struct Latencies {
  size_t count = 0;
  double median_ms = 0;  // zero if there were no such calls
  double p99_ms = 0;
};

struct TallySummary {
  Latencies answered;
  Latencies refused;
  size_t refused_without_retry_info = 0;
  std::map<std::string, size_t> failed;

  [[nodiscard]] size_t FailedInAll() const;
};

[[nodiscard]] TallySummary Summarize(const CallTally& tally);

// For passing a summary to another process.
[[nodiscard]] nlohmann::json ToJson(const TallySummary& summary);
[[nodiscard]] TallySummary TallySummaryFromJson(const nlohmann::json& json);

// The smallest number in flight whose throughput is within `share` of the best. REQUIRES: at least
// one throughput.
[[nodiscard]] size_t SaturatingInFlight(const std::map<size_t, double>& per_second, double share);

}  // namespace tenure::bench
