// The metrics as they are scraped: counters that are kept all along, and values that are read from
// the parts of the engine at that moment.
#pragma once

#include <prometheus/gauge.h>

#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "metrics/metrics.h"
#include "server/engine/home/home_state.h"
#include "server/engine/replica_state.h"
#include "server/engine/work/answers.h"
#include "server/engine/work/database_clock.h"
#include "server/engine/work/scheduler.h"
#include "storage/store.h"

namespace tenure::engine {

// Thread-safe. The constructor's arguments must outlive it.
class Exposition {
 public:
  Exposition(ReplicaState& replica, std::vector<QueueView> queues);

  // In Prometheus' text format.
  [[nodiscard]] std::string Expose(size_t watchers, bool store_answers, bool ready);

 private:
  const Store& store_;
  const Scheduler& scheduler_;
  Metrics& metrics_;
  const DatabaseClock& clock_;
  const HomeState& home_;
  std::vector<std::pair<prometheus::Gauge*, QueueView>> queues_;
  std::vector<prometheus::Counter*> retries_;  // by RetryReason
  Mutex mutex_;                                // one exposition at a time
};

}  // namespace tenure::engine
