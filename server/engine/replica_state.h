// What the parts of an engine share: the database, the scheduler, the metrics, and what this
// replica knows. Each part is thread-safe.
#pragma once

#include "metrics/metrics.h"
#include "server/engine/feed/state_cache.h"
#include "server/engine/feed/watch_hub.h"
#include "server/engine/history/lineage.h"
#include "server/engine/home/home_state.h"
#include "server/engine/work/database_clock.h"
#include "server/engine/work/scheduler.h"
#include "storage/store.h"

namespace tenure::engine {

struct ReplicaState {
  Store& store;
  Scheduler& scheduler;
  Metrics& metrics;
  WatchHub hub;         // who watches what
  Lineage lineage;      // which history the database tells
  DatabaseClock clock;  // the database's time
  StateCache cache;     // elections and sessions, as they were seen last
  HomeState home;       // the sessions that this replica keeps
};

}  // namespace tenure::engine
