#include "metrics/metrics.h"

#include <prometheus/text_serializer.h>

#include <utility>

#include "metrics/process_metrics.h"

namespace tenure {

Metrics::Metrics(const MetricsOptions& options)
    : election_series(
          NewGauges("tenure_election_term", "Latest term of an election."),
          NewGauges("tenure_election_has_leader", "1 if an election has a leader, otherwise 0."),
          NewGauges("tenure_election_leader_info",
                    "1, with the candidate name of an election's leader. No series: no leader."),
          NewCounters("tenure_election_changes_total", "Revision of an election."),
          options.elections_max, options.election_prefixes) {
  NewGauges("tenure_build_info", "Version of this program, and the kind of its store.")
      .Add({{"version", options.version}, {"store", options.store}})
      .Set(1);
}

std::string Metrics::Expose() const {
  auto families = registry_.Collect();
  for (auto& family : CollectProcessMetrics()) families.push_back(std::move(family));
  return prometheus::TextSerializer().Serialize(families);
}

Metrics::Buckets Metrics::CallSeconds() {
  return {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10};
}

Metrics::Family<Metrics::Counter>& Metrics::NewCounters(const char* name, const char* help) {
  return prometheus::BuildCounter().Name(name).Help(help).Register(registry_);
}

Metrics::Family<Metrics::Gauge>& Metrics::NewGauges(const char* name, const char* help) {
  return prometheus::BuildGauge().Name(name).Help(help).Register(registry_);
}

Metrics::Family<Metrics::Histogram>& Metrics::NewHistograms(const char* name, const char* help) {
  return prometheus::BuildHistogram().Name(name).Help(help).Register(registry_);
}

Children<Metrics::Counter, Cause> Metrics::OfEachCause(Family<Counter>& family, const char* none) {
  std::vector<Counter*> children = {none ? &family.Add({{"cause", none}}) : nullptr};
  for (Cause cause = Cause::kResigned; cause <= Cause::kDeleted;
       cause = static_cast<Cause>(static_cast<int>(cause) + 1)) {
    children.push_back(&family.Add({{"cause", std::string(CauseName(cause))}}));
  }
  return Children<Counter, Cause>(std::move(children));
}

Children<Metrics::Histogram, Operation> Metrics::OfEachOperation(Family<Histogram>& family) {
  std::vector<Histogram*> children;
  for (const char* operation : {"transaction", "read", "poll", "search", "beat"}) {
    children.push_back(&family.Add({{"operation", operation}}, CallSeconds()));
  }
  return Children<Histogram, Operation>(std::move(children));
}

}  // namespace tenure
