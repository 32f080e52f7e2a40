// One transaction of the law, with what this replica knows besides: the state that it saw last, the
// epoch it may write in, and what it has to prove about its own row.
#pragma once

#include <atomic>
#include <chrono>
#include <optional>
#include <set>

#include "base/mutex.h"
#include "core/error.h"
#include "core/law/transaction_state.h"
#include "core/types.h"
#include "metrics/metrics.h"
#include "server/engine/feed/state_cache.h"
#include "server/engine/history/lineage.h"
#include "server/engine/home/home_state.h"
#include "server/engine/replica_state.h"
#include "server/engine/work/database_clock.h"
#include "server/engine/work/scheduler.h"
#include "storage/law_store.h"

namespace tenure::engine {

// Thread-safe. The constructor's arguments must outlive it.
class Transactions {
 public:
  using Decide = LawStore::Decide;

  Transactions(ReplicaState& replica);

  // Runs one, from what is remembered if that is enough, and counts it. Errors: kStoreUnavailable.
  [[nodiscard]] Result<Committed> Run(const LockSet& locks, const Decide& decide);

  // Like Run, but from locked rows only: for decisions that depend on where a session is kept.
  // `write`, if set, is this replica's next write of its own row, as a part of the transaction.
  [[nodiscard]] Result<Committed> RunForHome(const LockSet& locks,
                                             const std::optional<OwnRow::Write>& write,
                                             const Decide& decide);

  // Why there is no room for more work: the database does not answer, or there is too much of it.
  // It does not answer if this replica cannot beat, or a transaction takes longer than this.
  static constexpr auto kTransactionMax = std::chrono::seconds(1);
  [[nodiscard]] Error WhyFull() const;

 private:
  [[nodiscard]] Result<Committed> Commit(const LockSet& locks, const CommitRules& rules,
                                         const Decide& decide);
  [[nodiscard]] Result<Committed> Send(const LockSet& locks, const CommitRules& rules,
                                       const Decide& decide);
  void Failed(const Error& error);
  // Passes on what was committed about the sessions that are kept here.
  void Keep(const TransactionState& committed, const HomeState::Moment& begun);
  // Nothing unless everything needed is known.
  [[nodiscard]] std::optional<TransactionState> Remembered(const LockSet& locks) const;

  LawStore& store_;
  const Scheduler& scheduler_;
  Metrics& metrics_;
  const DatabaseClock& clock_;
  Lineage& lineage_;
  StateCache& cache_;
  HomeState& home_;
  std::atomic<SteadyTime> next_complaint_at_ = SteadyTime();
  mutable Mutex mutex_;
  // When each transaction began, except those that wait for locks.
  std::multiset<SteadyTime> under_way_ TENURE_GUARDED_BY(mutex_);
};

}  // namespace tenure::engine
