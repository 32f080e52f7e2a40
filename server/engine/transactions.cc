#include "server/engine/transactions.h"

namespace tenure::engine {
namespace {

// Nothing in this transaction is decided now.
void PutOff(TransactionState& transaction) {
  for (const auto& [name, state] : transaction.elections) transaction.busy.insert(name);
  for (const auto& [id, session] : transaction.sessions) transaction.busy_sessions.insert(id);
  transaction.elections.clear();
  transaction.sessions.clear();
}

}  // namespace

Transactions::Transactions(LawStore& store, const Scheduler& scheduler, Metrics& metrics,
                           const DatabaseClock& clock, Lineage& lineage, const Outages& outages,
                           Duration incumbent_wait)
    : store_(store),
      scheduler_(scheduler),
      metrics_(metrics),
      clock_(clock),
      lineage_(lineage),
      outages_(outages),
      incumbent_wait_(incumbent_wait) {}

Result<Committed> Transactions::Run(const LockSet& locks, const Decide& decide) {
  return Commit(locks, false, Informed(decide));
}

Result<Committed> Transactions::RunRepeatable(const LockSet& locks, const Decide& decide) {
  return Commit(locks, true, Informed(decide));
}

Result<Committed> Transactions::RunByAnyClock(const LockSet& locks, const Decide& decide) {
  return Commit(locks, false, decide);
}

Transactions::Decide Transactions::Informed(const Decide& decide) const {
  return [this, &decide](TransactionState& transaction) {
    const SteadyTime now = scheduler_.Now();
    if (clock_.IsAhead(transaction.now, now)) PutOff(transaction);
    if (const auto outage = outages_.LastUntil(now)) {
      const auto at = [&](SteadyTime when) {
        return transaction.now + -std::chrono::duration_cast<Duration>(now - when);
      };
      transaction.outage = Outage{at(outage->began), at(outage->ended), incumbent_wait_};
    }
    decide(transaction);
  };
}

Result<Committed> Transactions::Commit(const LockSet& locks, bool repeatable,
                                       const Decide& decide) {
  const std::optional<HistoryPoint> point = lineage_.point();
  if (!point) {
    return Fail(Reason::kStoreUnavailable, "the database lost commits, and is being repaired");
  }
  const SteadyTime begun = scheduler_.Now();
  auto committed = store_.Transact(locks, {repeatable, point}, decide);
  ObserveSeconds(metrics_.database_seconds[Operation::kTransaction], scheduler_.Now() - begun);
  (committed ? metrics_.transactions : metrics_.transactions_failed).Increment();
  if (committed) lineage_.Saw(committed->offsets, point->epoch);
  return committed;
}

}  // namespace tenure::engine
