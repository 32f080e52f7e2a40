// Every metric of a client, in one place, with Kubernetes' names where it has one.
#pragma once

#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

#include <memory>
#include <string>

#include "client/cpp/machine/client_session.h"
#include "client/cpp/machine/seat.h"

namespace tenure {

// Thread-safe. Labelled by election, so there are as many series as elections that the client has
// ever stood in.
class ClientMetrics {
 public:
  // Null: the metrics are not exposed, and no series is kept per election.
  explicit ClientMetrics(std::shared_ptr<prometheus::Registry> registry);

  void Count(const ClientSession::Renewal& renewal);
  void CountReplicaChange() { replica_changes_.Increment(); }

  // The series of one election, each resolved once.
  class Election {
   public:
    Election(ClientMetrics& metrics, const std::string& election);
    void Count(const SeatEvent& event);

   private:
    const std::string election_;
    prometheus::Gauge& master_status_;
    prometheus::Counter& slow_path_;
    prometheus::Counter& elected_;
    prometheus::Counter& overruns_;
    prometheus::Family<prometheus::Counter>& lost_;
  };

 private:
  const bool asked_for_;  // the application has passed a registry
  const std::shared_ptr<prometheus::Registry> registry_;
  prometheus::Family<prometheus::Gauge>& master_status_;
  prometheus::Family<prometheus::Counter>& slow_path_;
  prometheus::Family<prometheus::Counter>& elected_;
  prometheus::Family<prometheus::Counter>& overruns_;
  prometheus::Family<prometheus::Counter>& lost_;
  prometheus::Histogram& renewal_seconds_;
  prometheus::Histogram& renewal_margin_seconds_;
  prometheus::Counter& replica_changes_;
};

}  // namespace tenure
