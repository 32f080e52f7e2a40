// One transaction of the law, with what this replica knows besides: the epoch it may write in, a
// clock that has jumped, the database's last outage.
#pragma once

#include <functional>

#include "core/docket.h"
#include "core/error.h"
#include "core/types.h"
#include "metrics/metrics.h"
#include "server/engine/database_clock.h"
#include "server/engine/lineage.h"
#include "server/engine/outages.h"
#include "server/engine/scheduler.h"
#include "storage/store.h"

namespace tenure {

// Thread-safe. What it is made of must outlive it.
class Transactions {
 public:
  using Decide = std::function<void(Docket&)>;

  // The seats that an outage has cost are kept for their holders for `incumbent_wait`.
  Transactions(Store& store, const Scheduler& scheduler, Metrics& metrics,
               const DatabaseClock& clock, Lineage& lineage, const Outages& outages,
               Duration incumbent_wait);

  // Runs one, and counts it. Nothing is decided by a clock that has jumped ahead: until leases have
  // followed it, everything counts as busy. Errors: kStoreUnavailable.
  [[nodiscard]] Result<Committed> Run(Agenda& agenda, const Decide& decide);
  // The same, whatever the clock shows.
  [[nodiscard]] Result<Committed> RunByAnyClock(Agenda& agenda, const Decide& decide);

 private:
  Store& store_;
  const Scheduler& scheduler_;
  Metrics& metrics_;
  const DatabaseClock& clock_;
  Lineage& lineage_;
  const Outages& outages_;
  const Duration incumbent_wait_;
};

}  // namespace tenure
