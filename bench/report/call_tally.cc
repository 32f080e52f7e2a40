#include "bench/report/call_tally.h"

#include <algorithm>
#include <ranges>

#include "bench/report/statistics.h"

namespace tenure::bench {
namespace {

constexpr double kP99 = 0.99;

Latencies LatenciesOf(const std::vector<double>& times) {
  if (times.empty()) return {};
  return {times.size(), Median(times), Percentile(times, kP99)};
}

nlohmann::json ToJson(const Latencies& latencies) {
  return {
      {"count", latencies.count}, {"median_ms", latencies.median_ms}, {"p99_ms", latencies.p99_ms}};
}

Latencies LatenciesFromJson(const nlohmann::json& json) {
  return {json.at("count"), json.at("median_ms"), json.at("p99_ms")};
}

}  // namespace

void CallTally::Add(const CallTally& more) {
  answered_ms.insert(answered_ms.end(), more.answered_ms.begin(), more.answered_ms.end());
  refused_ms.insert(refused_ms.end(), more.refused_ms.begin(), more.refused_ms.end());
  refused_without_retry_info += more.refused_without_retry_info;
  for (const auto& [reason, count] : more.failed) failed[reason] += count;
}

size_t TallySummary::FailedInAll() const {
  size_t all = 0;
  for (const size_t count : failed | std::views::values) all += count;
  return all;
}

TallySummary Summarize(const CallTally& tally) {
  return {LatenciesOf(tally.answered_ms), LatenciesOf(tally.refused_ms),
          tally.refused_without_retry_info, tally.failed};
}

nlohmann::json ToJson(const TallySummary& summary) {
  return {{"answered", ToJson(summary.answered)},
          {"refused", ToJson(summary.refused)},
          {"refused_without_retry_info", summary.refused_without_retry_info},
          {"failed", summary.failed}};
}

TallySummary TallySummaryFromJson(const nlohmann::json& json) {
  return {LatenciesFromJson(json.at("answered")), LatenciesFromJson(json.at("refused")),
          json.at("refused_without_retry_info"), json.at("failed")};
}

size_t SaturatingInFlight(const std::map<size_t, double>& per_second, double share) {
  const double best = std::ranges::max(per_second | std::views::values);
  return std::ranges::find_if(per_second,
                              [&](const auto& measured) { return measured.second >= share * best; })
      ->first;
}

}  // namespace tenure::bench
