#include "metrics/metrics.h"

#include <prometheus/text_serializer.h>

namespace tenure {
namespace {

prometheus::Counter& Counter(prometheus::Registry& registry, const char* name, const char* help) {
  return prometheus::BuildCounter().Name(name).Help(help).Register(registry).Add({});
}

prometheus::Gauge& Gauge(prometheus::Registry& registry, const char* name, const char* help) {
  return prometheus::BuildGauge().Name(name).Help(help).Register(registry).Add({});
}

prometheus::Histogram& Sizes(prometheus::Registry& registry, const char* name, const char* help) {
  return prometheus::BuildHistogram().Name(name).Help(help).Register(registry).Add(
      {}, prometheus::Histogram::BucketBoundaries{1, 2, 4, 8, 16, 32, 64, 128, 256});
}

}  // namespace

Metrics::Metrics()
    : terms_granted(Counter(registry_, "tenure_terms_granted_total",
                            "Terms that transactions of this replica granted.")),
      sessions_ended(Counter(registry_, "tenure_sessions_ended_total",
                             "Sessions that transactions of this replica ended, by any cause.")),
      premature_expirations(
          Counter(registry_, "tenure_premature_expirations_total",
                  "Sessions that expired although their process was alive and came back.")),
      renewals(Counter(registry_, "tenure_renewals_total", "Sessions that were renewed.")),
      transactions(
          Counter(registry_, "tenure_transactions_total", "Transactions that were committed.")),
      transactions_failed(Counter(registry_, "tenure_transactions_failed_total",
                                  "Transactions that were given up: the store was away.")),
      batch_commands(
          Sizes(registry_, "tenure_batch_commands", "Commands that one transaction carried.")),
      commands_busy(
          Counter(registry_, "tenure_commands_busy_total",
                  "Times that a command was put off: its election was locked elsewhere.")),
      refused_overloaded(Counter(registry_, "tenure_refused_overloaded_total",
                                 "Requests that were refused: a queue was full.")),
      feed_polls(Counter(registry_, "tenure_feed_polls_total",
                         "Times that the store was asked for changes of other replicas.")),
      feed_events(Counter(registry_, "tenure_feed_events_total",
                          "Changes that were read from the store, because other replicas made them "
                          "or one before them.")),
      admin_changes(Counter(registry_, "tenure_admin_changes_total",
                            "Changes by operators that this replica committed.")),
      events_trimmed(Counter(registry_, "tenure_events_trimmed_total",
                             "Events that were deleted because history may not grow further.")),
      watchers(Gauge(registry_, "tenure_watchers",
                     "Open calls that wait for changes: campaigns, observers, keepalive streams.")),
      store_up(Gauge(registry_, "tenure_store_up", "Whether the store answered lately.")) {
  auto& ended = prometheus::BuildCounter()
                    .Name("tenure_terms_ended_total")
                    .Help("Terms that transactions of this replica ended, by cause.")
                    .Register(registry_);
  for (size_t i = 1; i < terms_ended_.size(); ++i) {
    terms_ended_[i] = &ended.Add({{"cause", std::string(CauseName(static_cast<Cause>(i)))}});
  }
}

std::string Metrics::Expose() const {
  return prometheus::TextSerializer().Serialize(registry_.Collect());
}

}  // namespace tenure
