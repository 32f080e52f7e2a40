// HomeKeeper's work for sessions that have fallen silent, and with other homes.
#include <algorithm>
#include <chrono>
#include <utility>

#include "core/law/law.h"
#include "server/engine/home/home_keeper.h"
#include "server/log/log.h"

namespace tenure::engine {
namespace {

using namespace std::chrono_literals;

constexpr SteadyTime::duration kPauseAfterFailure = 250ms;
constexpr size_t kEndedAtOnceMax = 500;
constexpr size_t kSweptAtOnceMax = 1'000;

}  // namespace

// --- Other homes ---

void HomeKeeper::Watch() {
  for (const HomeRow& row : state_.Overdue()) {
    const auto dead = store_.DeclareDead(row.id, row.beat);
    if (!dead || !*dead) continue;
    LogInfo("a replica has stopped", {{"home", row.id.value}});
    state_.Died(row.id);
  }
  const auto orphaned = state_.Orphans();
  if (orphaned.empty()) return;
  {
    const MutexLock lock(mutex_);
    if (std::exchange(ending_orphans_, true)) return;
  }
  scheduler_.Post(Work::kBackground, [this, orphaned] {
    for (const HomeWatch::Orphaned& it : orphaned) EndOrphans(it);
    const MutexLock lock(mutex_);
    ending_orphans_ = false;
  });
}

void HomeKeeper::EndOrphans(const HomeWatch::Orphaned& orphaned) {
  size_t ended = 0;
  do {
    const auto ids = store_.ListOrphans(orphaned.home, orphaned.lease_max, kEndedAtOnceMax);
    if (!ids || ids->empty()) return;
    const auto committed =
        transactions_.RunForHome({{}, *ids}, std::nullopt, [&](TransactionState& transaction) {
          for (const SessionId& id : *ids) EndOrphan(transaction, id, orphaned.home);
        });
    if (!committed) return;
    publisher_.Publish(*committed);
    ended = committed->transaction.ended.size();
  } while (ended == kEndedAtOnceMax);
}

void HomeKeeper::Sweep(const SessionId& after) {
  const HomeState::Moment begun = state_.Now();
  const auto page = store_.ListKept(begun.incarnation, after, kSweptAtOnceMax);
  if (!page) return;
  state_.Found(*page, begun);
  if (page->size() == kSweptAtOnceMax) {
    scheduler_.Post(Work::kBackground, [this, last = page->back().id] { Sweep(last); });
  }
}

// --- Ends ---

void HomeKeeper::PlanEnds(SteadyTime earliest) {
  const auto due = state_.NextSilence();
  if (!due) return;  // the next beat plans them
  const SteadyTime when = std::max(*due, earliest);
  const MutexLock lock(mutex_);
  if (ending_ || (planned_ends_ && planned_ends_->first <= when)) return;
  if (planned_ends_) scheduler_.Cancel(*planned_ends_);
  planned_ends_ = scheduler_.PostAt(Work::kBackground, when, [this] { EndSilentSessions(); });
}

void HomeKeeper::EndSilentSessions() {
  {
    const MutexLock lock(mutex_);
    planned_ends_.reset();
    if (std::exchange(ending_, true)) return;
  }
  const bool done = EndOneBatch();
  {
    const MutexLock lock(mutex_);
    ending_ = false;
  }
  PlanEnds(done ? SteadyTime() : scheduler_.Now() + kPauseAfterFailure);
}

bool HomeKeeper::EndOneBatch() {
  const HomeState::Moment begun = state_.Now();
  const auto silent = state_.TakeSilent(kEndedAtOnceMax);
  if (silent.empty()) return true;
  LockSet locks;
  for (const KeptSessions::Silent& it : silent) locks.sessions.push_back(it.id);
  const auto committed =
      transactions_.RunForHome(locks, std::nullopt, [&](TransactionState& transaction) {
        for (const KeptSessions::Silent& it : silent) EndSilent(transaction, it.id, it.moves);
      });
  bool all = committed.has_value();
  for (const KeptSessions::Silent& it : silent) {
    if (committed && !committed->transaction.busy_sessions.contains(it.id)) {
      state_.Ended(it, begun);
    } else {
      state_.NotEnded(it, begun);
      all = false;
    }
  }
  if (committed) publisher_.Publish(*committed);
  return all;
}

}  // namespace tenure::engine
