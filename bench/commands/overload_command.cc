#include "bench/commands/overload_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <map>
#include <stdexcept>

#include "bench/systems/servers.h"
#include "bench/works/healthy_leaders.h"
#include "bench/works/storm.h"

namespace tenure::bench {
namespace {

using testing::Eventually;
using namespace std::chrono_literals;

constexpr double kKilobyte = 1024;
constexpr double kMegabyte = 1024 * kKilobyte;
constexpr double kCallKilobytesMax = 64;
constexpr size_t kProbed[] = {16, 64, 256, 1024};
constexpr double kAsGoodAsTheBest = 0.95;
constexpr size_t kTimes = 10;
constexpr size_t kLeaders = 50;
constexpr auto kLease = 5s;
constexpr auto kLeadersOutlast = 10s;  // longer than the storm, its last calls, and its start
constexpr auto kPatience = 60s;
constexpr double kRefusalMsMax = 1000;

// Runs the process of the healthy leaders.
class Leaders {
 public:
  Leaders(const std::string& endpoint, std::chrono::seconds duration)
      : duration_(duration),
        process_({testing::Program("tenure-bench"), "healthy", "--endpoint", endpoint, "--count",
                  std::to_string(kLeaders), "--lease-seconds",
                  std::to_string(std::chrono::seconds(kLease).count()), "--seconds",
                  std::to_string(duration.count())}) {
    (void)Eventually([&] { return !process_.Lines().empty() || !process_.Running(); }, kPatience);
    if (!process_.Running()) throw std::runtime_error("the leaders failed: " + process_.Errors());
  }

  HealthyOutcome Outcome() {
    const bool ended = Eventually([&] { return !process_.Running(); }, duration_ + kPatience);
    const auto lines = process_.Lines();
    if (!ended || lines.size() < 2) {
      throw std::runtime_error("the leaders failed: " + process_.Errors());
    }
    return HealthyOutcomeFromJson(lines.back());
  }

 private:
  const std::chrono::seconds duration_;
  testing::Process process_;
};

class Overload {
 public:
  explicit Overload(const OverloadPlan& plan)
      : plan_(plan), server_(database_, database_.FreshDatabase("overload")) {}

  Figures ToItsEnd() {
    const size_t in_flight = plan_.in_flight ? *plan_.in_flight : kTimes * Saturate();
    Note("calls in flight", "", static_cast<double>(in_flight));
    const double before = server_.ResidentBytes();
    double most = before;
    Leaders leaders(server_.endpoint(), plan_.storm + kLeadersOutlast);
    const StormOutcome calls = RunStormElsewhere({server_.endpoint(), in_flight, plan_.storm}, [&] {
      most = std::max(most, server_.ResidentBytes());
    });
    Judge(leaders.Outcome());
    Judge("campaigns", calls.campaigns);
    Judge("Leader reads", calls.reads);
    if (calls.campaigns.refused.count + calls.reads.refused.count == 0) {
      figures_.remarks.push_back("Nothing was refused: no queue of tenured was full.");
    }
    const double bound =
        before / kMegabyte + static_cast<double>(in_flight) * kCallKilobytesMax / kKilobyte;
    Note("memory of tenured at the start", "MB", before / kMegabyte);
    Note("memory of tenured, most", "MB", most / kMegabyte, bound);
    Note("memory of tenured at the end", "MB", server_.ResidentBytes() / kMegabyte, bound);
    Note("transactions failed", "", server_.Metric("tenure_transactions_total{outcome=\"failed\"}"),
         0);
    return figures_;
  }

 private:
  void Note(std::string what, std::string unit, double value,
            std::optional<double> at_most = std::nullopt) {
    std::cerr << fmt::format("tenure-bench: {}: {} {}", what, value, unit) << std::endl;
    figures_.list.push_back({std::move(what), std::move(unit), value, at_most});
  }

  // Finds the maximum throughput of the machine, and how many calls in flight it takes.
  size_t Saturate() {
    std::map<size_t, double> per_second;
    for (const size_t in_flight : kProbed) {
      const auto calls = RunStormElsewhere({server_.endpoint(), in_flight, plan_.probe}, [] {});
      const size_t answered = calls.campaigns.answered.count + calls.reads.answered.count;
      per_second[in_flight] =
          static_cast<double>(answered) / std::chrono::duration<double>(plan_.probe).count();
      Note(fmt::format("answered with {} in flight", in_flight), "per s", per_second[in_flight]);
    }
    return SaturatingInFlight(per_second, kAsGoodAsTheBest);
  }

  void Judge(const HealthyOutcome& leaders) {
    Note("healthy leaders: terms lost", "", static_cast<double>(leaders.terms_lost), 0);
    Note("healthy leaders: leases that were over when renewed", "",
         static_cast<double>(leaders.leases_missed), 0);
    Note("healthy leaders: streams opened again", "", static_cast<double>(leaders.streams_lost));
    Note("healthy leaders: renewals", "", static_cast<double>(leaders.renewals));
    Note("healthy leaders: worst round trip", "ms", leaders.worst_trip_ms);
    Note("healthy leaders: least that was left of a lease of 5 s", "ms", leaders.least_margin_ms);
  }

  void Judge(const std::string& what, const TallySummary& calls) {
    const double seconds = std::chrono::duration<double>(plan_.storm).count();
    Note(what + " answered", "", static_cast<double>(calls.answered.count));
    Note(what + " answered, about", "per s", static_cast<double>(calls.answered.count) / seconds);
    Note(what + ": answers, median", "ms", calls.answered.median_ms);
    Note(what + ": answers, p99", "ms", calls.answered.p99_ms);
    Note(what + " refused with RESOURCE_EXHAUSTED", "", static_cast<double>(calls.refused.count));
    Note(what + ": refusals without RetryInfo", "",
         static_cast<double>(calls.refused_without_retry_info), 0);
    if (calls.refused.count > 0) {
      Note(what + ": refusals, median", "ms", calls.refused.median_ms);
      Note(what + ": refusals, p99", "ms", calls.refused.p99_ms, kRefusalMsMax);
    }
    Note(what + " failed otherwise", "", static_cast<double>(calls.FailedInAll()));
    for (const auto& [reason, count] : calls.failed) {
      figures_.remarks.push_back(fmt::format("{} failed {} times: {}", what, count, reason));
    }
  }

  const OverloadPlan plan_;
  testing::DatabaseServer database_;
  TenureServer server_;
  Figures figures_;
};

}  // namespace

OverloadPlan FullOverloadPlan() { return {.probe = 5s, .storm = 60s, .in_flight = {}}; }

OverloadPlan QuickOverloadPlan() { return {.probe = 2s, .storm = 10s, .in_flight = {}}; }

Figures MeasureOverload(const OverloadPlan& plan) { return Overload(plan).ToItsEnd(); }

}  // namespace tenure::bench
