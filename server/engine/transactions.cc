#include "server/engine/transactions.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "server/engine/answers.h"
#include "server/log/log.h"

namespace tenure::engine {
namespace {

using namespace std::chrono_literals;

// Minimum pause between two log lines about transactions that failed.
constexpr SteadyTime::duration kComplaintPause = 10s;

// Nothing in this transaction is decided now.
void PutOff(TransactionState& transaction) {
  transaction.put_off = true;
  for (const auto& [name, state] : transaction.elections) transaction.busy.insert(name);
  for (const auto& [id, session] : transaction.sessions) transaction.busy_sessions.insert(id);
  transaction.elections.clear();
  transaction.sessions.clear();
}

// Nothing is decided now that depends on a lease being over. Renewals do not depend on each other.
void PutOffWhatLooksOver(TransactionState& transaction) {
  const size_t before = transaction.busy_sessions.size();
  for (const auto& [id, session] : transaction.sessions) {
    const bool looks_over = session.ended == Cause::kNone && !session.AliveAt(transaction.now);
    if (looks_over) transaction.busy_sessions.insert(id);
  }
  if (transaction.busy_sessions.size() == before) return;
  transaction.put_off = true;
  if (!transaction.elections.empty()) return PutOff(transaction);
  std::erase_if(transaction.sessions,
                [&](const auto& it) { return transaction.busy_sessions.contains(it.first); });
}

void CountMemory(Metrics& metrics, Committed::Memory memory) {
  switch (memory) {
    case Committed::Memory::kUnused: return;
    case Committed::Memory::kHeld: return metrics.transactions_from_memory.Increment();
    case Committed::Memory::kRefused: return metrics.transactions_refused.Increment();
  }
}

}  // namespace

Transactions::Transactions(LawStore& store, const Scheduler& scheduler, Metrics& metrics,
                           const DatabaseClock& clock, Lineage& lineage, Outages& outages,
                           StateCache& cache, HomeState* home, Duration incumbent_wait,
                           std::function<void()> when_one_fails)
    : store_(store),
      scheduler_(scheduler),
      metrics_(metrics),
      clock_(clock),
      lineage_(lineage),
      outages_(outages),
      cache_(cache),
      home_(home),
      incumbent_wait_(incumbent_wait),
      when_one_fails_(std::move(when_one_fails)) {}

Result<Committed> Transactions::Run(const LockSet& locks, const Decide& decide) {
  const auto remembered = Remembered(locks);
  return Commit(locks, {.remembered = remembered ? &*remembered : nullptr}, Informed(decide));
}

Result<Committed> Transactions::RunRepeatable(const LockSet& locks, const Decide& decide) {
  const auto remembered = Remembered(locks);
  return Commit(locks, {.repeatable = true, .remembered = remembered ? &*remembered : nullptr},
                Informed(decide));
}

Result<Committed> Transactions::RunByAnyClock(const LockSet& locks, const Decide& decide) {
  return Commit(locks, {}, decide);
}

Result<Committed> Transactions::RunForHome(const LockSet& locks,
                                           const std::optional<OwnRow::Write>& write,
                                           const Decide& decide) {
  CommitRules rules;
  if (write) rules.witness = HomeWitness{write->home, write->acknowledged, write->number};
  return Commit(locks, rules, decide);
}

Error Transactions::WhyFull() const {
  if (!outages_.Hangs(scheduler_.Now())) return Overloaded();
  return DatabaseHangs(lineage_.server().value_or(ServerIdentity()).address);
}

Transactions::Decide Transactions::Informed(const Decide& decide) const {
  return [this, &decide, asked = scheduler_.Now()](TransactionState& transaction) {
    const SteadyTime now = scheduler_.Now();
    if (clock_.HasJumped(transaction.now, asked, now)) PutOff(transaction);
    // As of before the rows were locked: until then others could move their leases.
    if (!clock_.IsFamiliar(asked)) PutOffWhatLooksOver(transaction);
    if (const auto outage = outages_.LastUntil(now)) {
      const auto at = [&](SteadyTime when) {
        return transaction.now + -std::chrono::duration_cast<Duration>(now - when);
      };
      transaction.outage = Outage{.began = at(outage->began),
                                  .last_began = at(outage->last_began),
                                  .ended = at(outage->ended),
                                  .incumbent_wait = incumbent_wait_};
    }
    decide(transaction);
  };
}

std::optional<TransactionState> Transactions::Remembered(const LockSet& locks) const {
  // No earlier than the clock is: a lease that begins now is no shorter than its holder believes.
  const auto now = clock_.LatestAt(scheduler_.Now());
  return now ? cache_.Find(locks, *now) : std::nullopt;
}

void Transactions::Failed(const Error& error) {
  const SteadyTime now = scheduler_.Now();
  SteadyTime due = next_complaint_at_;
  if (now >= due && next_complaint_at_.compare_exchange_strong(due, now + kComplaintPause)) {
    LogWarning("a transaction failed", {{"error", error.message}});
  }
  when_one_fails_();
}

void Transactions::Keep(const TransactionState& committed, const HomeState::Moment& begun) {
  for (const SessionId& id : committed.opened) home_->Opened(committed.sessions.at(id), begun);
  for (const SessionId& id : committed.ended) {
    home_->Ended({id, committed.sessions.at(id).moves}, begun);
  }
}

Result<Committed> Transactions::Commit(const LockSet& locks, const CommitRules& rules,
                                       const Decide& decide) {
  const std::optional<HistoryPoint> point = lineage_.point();
  if (!point) {
    return Fail(Reason::kStoreUnavailable, "the database lost commits, and is being repaired");
  }
  CommitRules at_point = rules;
  at_point.point = point;
  if (home_ != nullptr && !at_point.witness) {
    at_point.witness = home_->witness();
    if (!at_point.witness) {
      return Fail(Reason::kStoreUnavailable, "this replica joins the service again");
    }
  }
  const HomeState::Moment moment = home_ != nullptr ? home_->Now() : HomeState::Moment();
  // In the last try.
  std::vector<SessionId> ended;
  bool opened = false;
  const Decide informed = [&](TransactionState& transaction) {
    if (at_point.witness) transaction.home = at_point.witness->home;
    decide(transaction);
    ended = transaction.ended;
    opened = !transaction.opened.empty();
  };
  const StateCache::Moment before = cache_.Now();
  const SteadyTime begun = scheduler_.Now();
  std::optional<Outages::UnderWay> under_way;
  if (!locks.patient) under_way.emplace(outages_, begun);
  auto committed = store_.Transact(locks, at_point, informed);
  under_way.reset();
  ObserveSeconds(metrics_.database_seconds[Operation::kTransaction], scheduler_.Now() - begun);
  (committed ? metrics_.transactions : metrics_.transactions_failed).Increment();
  if (!committed) {
    // It may have been committed all the same.
    if (home_ != nullptr) std::ranges::for_each(ended, [&](const auto& id) { home_->Forget(id); });
    if (home_ != nullptr && opened) home_->Doubt();
    Failed(committed.error());
    return committed;
  }
  if (home_ != nullptr) Keep(committed->transaction, moment);
  CountMemory(metrics_, committed->memory);
  // One that changes nothing needs no room.
  if (!committed->offsets.empty()) outages_.Committed();
  lineage_.Saw(committed->offsets, point->epoch);
  if (committed->memory == Committed::Memory::kRefused) cache_.Forget(locks);
  cache_.Remember(*committed, before);
  return committed;
}

}  // namespace tenure::engine
