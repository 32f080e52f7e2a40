#include "server/engine/transactions.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "server/engine/work/answers.h"
#include "server/log/log.h"

namespace tenure::engine {
namespace {

using namespace std::chrono_literals;

// Minimum pause between two log lines about transactions that failed.
constexpr SteadyTime::duration kComplaintPause = 10s;

void CountMemory(Metrics& metrics, Committed::Memory memory) {
  switch (memory) {
    case Committed::Memory::kUnused: return;
    case Committed::Memory::kHeld: return metrics.transactions_from_memory.Increment();
    case Committed::Memory::kRefused: return metrics.transactions_refused.Increment();
  }
}

}  // namespace

Transactions::Transactions(ReplicaState& replica)
    : store_(replica.store),
      scheduler_(replica.scheduler),
      metrics_(replica.metrics),
      clock_(replica.clock),
      lineage_(replica.lineage),
      cache_(replica.cache),
      home_(replica.home) {}

Result<Committed> Transactions::Run(const LockSet& locks, const Decide& decide) {
  const auto remembered = Remembered(locks);
  return Commit(locks, {.remembered = remembered ? &*remembered : nullptr}, decide);
}

Result<Committed> Transactions::RunForHome(const LockSet& locks,
                                           const std::optional<OwnRow::Write>& write,
                                           const Decide& decide) {
  CommitRules rules;
  if (write) rules.witness = HomeWitness{write->home, write->acknowledged, write->number};
  return Commit(locks, rules, decide);
}

Error Transactions::WhyFull() const {
  const MutexLock lock(mutex_);
  const bool hangs =
      !under_way_.empty() && scheduler_.Now() - *under_way_.begin() >= kTransactionMax;
  if (home_.Good() && !hangs) return Overloaded();
  return DatabaseHangs(lineage_.server().value_or(ServerIdentity()).address);
}

std::optional<TransactionState> Transactions::Remembered(const LockSet& locks) const {
  const auto now = clock_.At(scheduler_.Now());
  return now ? cache_.Find(locks, *now) : std::nullopt;
}

void Transactions::Failed(const Error& error) {
  const SteadyTime now = scheduler_.Now();
  SteadyTime due = next_complaint_at_;
  if (now >= due && next_complaint_at_.compare_exchange_strong(due, now + kComplaintPause)) {
    LogWarning("a transaction failed", {{"error", error.message}});
  }
}

void Transactions::Keep(const TransactionState& committed, const HomeState::Moment& begun) {
  for (const SessionId& id : committed.opened) home_.Opened(committed.sessions.at(id), begun);
  for (const SessionId& id : committed.ended) {
    home_.Ended({id, committed.sessions.at(id).moves}, begun);
  }
}

Result<Committed> Transactions::Send(const LockSet& locks, const CommitRules& rules,
                                     const Decide& decide) {
  const SteadyTime begun = scheduler_.Now();
  const auto under_way = [&]() -> std::optional<std::multiset<SteadyTime>::iterator> {
    if (locks.patient) return std::nullopt;
    const MutexLock lock(mutex_);
    return under_way_.insert(begun);
  }();
  auto committed = store_.Transact(locks, rules, decide);
  ObserveSeconds(metrics_.database_seconds[Operation::kTransaction], scheduler_.Now() - begun);
  if (!under_way) return committed;
  const MutexLock lock(mutex_);
  under_way_.erase(*under_way);
  return committed;
}

Result<Committed> Transactions::Commit(const LockSet& locks, const CommitRules& rules,
                                       const Decide& decide) {
  const std::optional<HistoryPoint> point = lineage_.point();
  if (!point) {
    return Fail(Reason::kStoreUnavailable, "the database lost commits, and is being repaired");
  }
  CommitRules at_point = rules;
  at_point.point = point;
  if (!at_point.witness) at_point.witness = home_.witness();
  if (!at_point.witness) {
    return Fail(Reason::kStoreUnavailable, "this replica joins the service again");
  }
  const HomeState::Moment moment = home_.Now();
  // As decided in the last try.
  std::vector<SessionId> ended;
  bool opened = false;
  const Decide informed = [&](TransactionState& transaction) {
    transaction.home = at_point.witness->home;
    decide(transaction);
    ended = transaction.ended;
    opened = !transaction.opened.empty();
  };
  const StateCache::Moment before = cache_.Now();
  auto committed = Send(locks, at_point, informed);
  (committed ? metrics_.transactions : metrics_.transactions_failed).Increment();
  if (!committed) {
    // It may have been committed all the same.
    for (const SessionId& id : ended) home_.Forget(id);
    if (opened) home_.Doubt();
    Failed(committed.error());
    return committed;
  }
  Keep(committed->transaction, moment);
  CountMemory(metrics_, committed->memory);
  lineage_.Saw(committed->offsets, point->epoch);
  if (committed->memory == Committed::Memory::kRefused) cache_.Forget(locks);
  cache_.Remember(*committed, before);
  return committed;
}

}  // namespace tenure::engine
