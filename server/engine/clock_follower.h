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

// Of one thread. What it is made of must outlive it.
class ClockFollower {
 public:
  ClockFollower(LawStore& store, Metrics& metrics, DatabaseClock& clock,
                Transactions& transactions);

  // The database said `now` between `asked` and `answered`. If its clock has jumped, all leases
  // begin anew. False if they could not be: then it is to be asked again.
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
