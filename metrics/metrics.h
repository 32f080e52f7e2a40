// Every metric of `tenured`, in one place, each resolved once.
//
// Thread-safe. Names carry their unit; nothing here is labelled by election, so the number of
// series is constant.
#pragma once

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

#include <array>
#include <string>

#include "core/types.h"

namespace tenure {

class Metrics {
 public:
  Metrics();

  // The exposition of all metrics in Prometheus' text format.
  [[nodiscard]] std::string Expose() const;

  prometheus::Counter& TermsEnded(Cause cause) { return *terms_ended_[static_cast<size_t>(cause)]; }

 private:
  prometheus::Registry registry_;
  std::array<prometheus::Counter*, 8> terms_ended_{};

 public:
  prometheus::Counter& terms_granted;
  prometheus::Counter& sessions_ended;
  prometheus::Counter& premature_expirations;
  prometheus::Counter& renewals;
  prometheus::Counter& transactions;
  prometheus::Counter& transactions_failed;
  prometheus::Histogram& batch_commands;
  prometheus::Counter& commands_busy;
  prometheus::Counter& refused_overloaded;
  prometheus::Counter& feed_polls;
  prometheus::Counter& feed_events;
  prometheus::Counter& admin_changes;
  prometheus::Counter& events_trimmed;
  prometheus::Gauge& watchers;
  prometheus::Gauge& store_up;
};

}  // namespace tenure
