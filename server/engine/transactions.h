// One transaction of the law, with what this replica knows besides: the state that it saw last, the
// epoch it may write in, a clock that has jumped, the database's last outage.
#pragma once

#include <atomic>
#include <functional>
#include <optional>

#include "core/error.h"
#include "core/transaction_state.h"
#include "core/types.h"
#include "metrics/metrics.h"
#include "server/engine/database_clock.h"
#include "server/engine/home_state.h"
#include "server/engine/lineage.h"
#include "server/engine/outages.h"
#include "server/engine/scheduler.h"
#include "server/engine/state_cache.h"
#include "storage/law_store.h"

namespace tenure::engine {

// Thread-safe. The constructor's arguments must outlive it.
class Transactions {
 public:
  using Decide = LawStore::Decide;

  // The seats that an outage has cost are kept for their holders for `incumbent_wait`. Null: this
  // replica is not the home of sessions.
  // `when_one_fails` must not block.
  Transactions(LawStore& store, const Scheduler& scheduler, Metrics& metrics,
               const DatabaseClock& clock, Lineage& lineage, Outages& outages, StateCache& cache,
               HomeState* home, Duration incumbent_wait, std::function<void()> when_one_fails);

  // Runs one, from what is remembered if that is enough, and counts it. Nothing is decided by a
  // clock that has jumped, until leases have followed it. Until the clock is familiar, a command
  // that needs a session that looks over counts as busy, and as put off. Errors:
  // kStoreUnavailable.
  [[nodiscard]] Result<Committed> Run(const LockSet& locks, const Decide& decide);
  // Run, for what may be done twice without harm: see CommitRules.
  [[nodiscard]] Result<Committed> RunRepeatable(const LockSet& locks, const Decide& decide);
  // Run, whatever the clock shows.
  [[nodiscard]] Result<Committed> RunByAnyClock(const LockSet& locks, const Decide& decide);

  // Run, from what is locked only: for what depends on where a session is kept. `write`: this
  // replica's next write of its own row is a part of it.
  [[nodiscard]] Result<Committed> RunForHome(const LockSet& locks,
                                             const std::optional<OwnRow::Write>& write,
                                             const Decide& decide);

  // Why there is no room for more work: the database does not answer, or there is too much of it.
  [[nodiscard]] Error WhyFull() const;

  // Leases have moved: what is remembered about them is out of date.
  void ForgetAll() { cache_.ForgetAll(); }

 private:
  [[nodiscard]] Result<Committed> Commit(const LockSet& locks, const CommitRules& rules,
                                         const Decide& decide);
  void Failed(const Error& error);
  // Passes on what was committed about the sessions that are kept here.
  void Keep(const TransactionState& committed, const HomeState::Moment& begun);
  // Nothing if not all that is needed is known.
  [[nodiscard]] std::optional<TransactionState> Remembered(const LockSet& locks) const;
  // Decides by what this replica knows of the clock and of outages.
  [[nodiscard]] Decide Informed(const Decide& decide) const;

  LawStore& store_;
  const Scheduler& scheduler_;
  Metrics& metrics_;
  const DatabaseClock& clock_;
  Lineage& lineage_;
  Outages& outages_;
  StateCache& cache_;
  HomeState* const home_;
  const Duration incumbent_wait_;
  const std::function<void()> when_one_fails_;
  std::atomic<SteadyTime> next_complaint_at_ = SteadyTime();
};

}  // namespace tenure::engine
