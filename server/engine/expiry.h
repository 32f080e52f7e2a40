// What time does: searches for leases that are over, for ended sessions that still hold something,
// and for elections that are ready for a grant, and starts what they need.
#pragma once

#include <random>
#include <vector>

#include "core/error.h"
#include "core/types.h"
#include "metrics/metrics.h"
#include "server/engine/change_feed.h"
#include "server/engine/clock_follower.h"
#include "server/engine/commands.h"
#include "server/engine/publisher.h"
#include "server/engine/scheduler.h"
#include "server/engine/session_endings.h"
#include "server/engine/transactions.h"
#include "storage/law_store.h"

namespace tenure::engine {

// Everything must outlive the scheduler's last task.
class Expiry {
 public:
  // Sessions that other replicas open are found in time if their leases are no shorter than
  // `lease_ttl_min`. Replicas with other `seed`s search a little apart from each other.
  Expiry(LawStore& store, Scheduler& scheduler, Metrics& metrics, DatabaseClock& clock,
         ChangeFeed& feed, Duration lease_ttl_min, uint64_t seed, Commands& commands,
         Transactions& transactions, Publisher& publisher, SessionEndings& endings);

  // Once.
  void Start();

 private:
  void Search();
  // When to search again.
  SteadyTime FindAndDoDueWork();
  [[nodiscard]] Result<void> MarkExpired(const std::vector<SessionId>& sessions);

  LawStore& store_;
  Scheduler& scheduler_;
  Metrics& metrics_;
  ChangeFeed& feed_;
  const SteadyTime::duration pause_max_;
  Commands& commands_;
  Transactions& transactions_;
  Publisher& publisher_;
  SessionEndings& endings_;
  ClockFollower clock_;
  std::minstd_rand random_;
  std::uniform_int_distribution<int64_t> jitter_{0, 20};  // milliseconds
};

}  // namespace tenure::engine
