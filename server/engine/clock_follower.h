// Keeps leases where they are when the database's clock is set.
#pragma once

#include <vector>

#include "core/error.h"
#include "core/types.h"
#include "metrics/metrics.h"
#include "server/engine/database_clock.h"
#include "server/engine/scheduler.h"
#include "server/engine/transactions.h"
#include "storage/law_store.h"

namespace tenure::engine {

// For one thread. The constructor's arguments must outlive it.
class ClockFollower {
 public:
  ClockFollower(LawStore& store, Metrics& metrics, DatabaseClock& clock,
                Transactions& transactions);

  // The database said `now` between `asked` and `answered`. If its clock has jumped, all leases
  // start again. False if they could not be moved: then ask the database again.
  [[nodiscard]] bool Follow(DbTime now, SteadyTime asked, SteadyTime answered);
  // Whether a lease that seems to be over is over.
  [[nodiscard]] bool MayJudge(SteadyTime now) const { return clock_.IsFamiliar(now); }

 private:
  [[nodiscard]] Result<void> MoveLeases();
  // Adds those that another transaction has locked to `busy`.
  [[nodiscard]] Result<void> MoveLeases(const std::vector<SessionId>& sessions,
                                        std::vector<SessionId>& busy);

  LawStore& store_;
  Metrics& metrics_;
  DatabaseClock& clock_;
  Transactions& transactions_;
};

}  // namespace tenure::engine
