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

// Thread-safe. Labelled by the elections that the client stands in, so there are as many series as
// there were ever elections.
class ClientMetrics {
 public:
  // Null: counts for nobody, and keeps no series for each election.
  explicit ClientMetrics(std::shared_ptr<prometheus::Registry> registry);

  void Count(const ClientSession::Renewal& renewal);
  void CountReplicaChange() { replica_changes_.Increment(); }

  // Of one election; each resolved once.
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
  const bool asked_for_;  // by a registry of the application's
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
