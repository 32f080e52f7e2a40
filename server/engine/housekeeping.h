// Work that nobody waits for: forgets sessions that ended long ago, trims history, and collects
// statistics. Each repeats, on threads for background work.
#pragma once

#include "core/types.h"
#include "metrics/metrics.h"
#include "server/engine/statistics_collector.h"
#include "server/engine/work/scheduler.h"
#include "storage/store.h"

namespace tenure::engine {

// Everything must outlive the scheduler's last task.
class Housekeeping {
 public:
  Housekeeping(Store& store, Scheduler& scheduler, Metrics& metrics, const Retention& retention)
      : store_(store),
        scheduler_(scheduler),
        metrics_(metrics),
        retention_(retention),
        statistics_(store, metrics) {}

  // Call once.
  void Start();

  // The latest counts. Thread-safe.
  [[nodiscard]] std::optional<Statistics> statistics() const { return statistics_.latest(); }

 private:
  void ForgetSessions();
  // Trims the history of elections after `after`.
  void TrimHistory(const ElectionName& after);
  void ReadStatistics();
  void PostIn(SteadyTime::duration pause, Scheduler::Task task);

  Store& store_;
  Scheduler& scheduler_;
  Metrics& metrics_;
  const Retention retention_;
  StatisticsCollector statistics_;  // used by one task only
};

}  // namespace tenure::engine
