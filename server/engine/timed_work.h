// Work that time makes due: ended sessions that still hold seats or places are settled, and
// elections that are ready for a grant are decided. Each beat shows such work; in between, this
// searches for it when some is known to become due.
#pragma once

#include <optional>
#include <random>

#include "base/mutex.h"
#include "core/types.h"
#include "metrics/metrics.h"
#include "server/engine/commands.h"
#include "server/engine/feed/change_feed.h"
#include "server/engine/replica_state.h"
#include "server/engine/session_endings.h"
#include "server/engine/work/database_clock.h"
#include "server/engine/work/scheduler.h"
#include "storage/law_store.h"

namespace tenure::engine {

// Thread-safe. Everything must outlive the scheduler's last task.
class TimedWork {
 public:
  // Maximum of each kind of work in one search.
  static constexpr size_t kDueMax = 500;

  // Replicas with different `seed`s search a little apart from each other.
  TimedWork(ReplicaState& replica, ChangeFeed& feed, uint64_t seed, Commands& commands,
            SessionEndings& endings);

  // Starts the work that a beat has shown, which was sent and answered at these times. REQUIRES:
  // `due` belongs to the published history (ChangeFeed::Confirm).
  void Begin(const DueWork& due, SteadyTime asked, SteadyTime answered);
  // A transaction of this replica has left an election that will be ready then.
  void Plan(SteadyTime when);

 private:
  void Search();

  LawStore& store_;
  Scheduler& scheduler_;
  Metrics& metrics_;
  DatabaseClock& clock_;
  ChangeFeed& feed_;
  Commands& commands_;
  SessionEndings& endings_;

  Mutex mutex_;
  std::optional<Scheduler::Plan> planned_ TENURE_GUARDED_BY(mutex_);
  std::minstd_rand random_ TENURE_GUARDED_BY(mutex_);
};

}  // namespace tenure::engine
