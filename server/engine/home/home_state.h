// What this replica knows as the home of sessions: its own row, the sessions that it keeps, and
// what it has seen of other homes. core/homes/own_row.h, core/homes/kept_sessions.h and
// core/homes/home_watch.h decide; this guards them, and knows the time. `HomeKeeper` does what
// follows.
#pragma once

#include <atomic>
#include <cstddef>
#include <optional>
#include <variant>
#include <vector>

#include "base/mutex.h"
#include "core/error.h"
#include "core/homes/home_watch.h"
#include "core/homes/kept_sessions.h"
#include "core/homes/own_row.h"
#include "core/law/transaction_state.h"
#include "core/types.h"
#include "server/engine/work/scheduler.h"
#include "storage/home_store.h"

namespace tenure::engine {

// Thread-safe. Until the first incarnation begins, and between two, nothing is kept.
class HomeState {
 public:
  explicit HomeState(const Scheduler& scheduler) : scheduler_(scheduler) {}

  // --- Incarnations ---

  // `repairs` says which history the row is in (Lineage::repairs).
  void Begin(HomeId id, uint64_t repairs);
  // Forgets all sessions.
  void End();
  [[nodiscard]] bool begun() const;
  // Whether the row has to be in the history of this number of repairs. False if the incarnation is
  // of an earlier history, or has ended.
  [[nodiscard]] bool BelongsTo(uint64_t repairs) const;
  // What each transaction of this replica has to prove. Nothing if it may not commit any.
  [[nodiscard]] std::optional<HomeWitness> witness() const;

  // --- Renewals ---

  enum class Unanswered {
    kWaits,      // it is kept here, but the beat is not good: wait for the next one
    kElsewhere,  // it is to be adopted
  };
  // A renewal has arrived. Error: kSessionNotFound, if the caller may not use the session.
  [[nodiscard]] std::variant<Result<KeptSessions::Renewal>, Unanswered> Renew(
      const SessionId& id, const Principal& principal);
  [[nodiscard]] bool Good() const;
  // How many sessions are kept here.
  [[nodiscard]] size_t kept() const;

  // --- This replica's own transactions ---

  // The beginning of a transaction. Its results are dropped if the incarnation has changed since,
  // or if they come too late.
  struct Moment {
    HomeId incarnation;
    ServiceTime at;
  };
  [[nodiscard]] Moment Now() const;
  void Opened(const Session& session, const Moment& begun);
  void Adopted(const Session& session, const Moment& begun);
  // The sweep has found the rows of these sessions.
  void Found(const std::vector<Session>& sessions, const Moment& begun);
  void Ended(const KeptSessions::Silent& silent, const Moment& begun);
  void NotEnded(const KeptSessions::Silent& silent, const Moment& begun);
  // The session may have ended; the reply was lost.
  void Forget(const SessionId& id);
  // Sessions may have been opened or adopted; the reply was lost. The sweep finds them.
  void Doubt() { in_doubt_ = true; }
  [[nodiscard]] bool TakeDoubt() { return in_doubt_.exchange(false); }

  // --- Ends ---

  [[nodiscard]] std::vector<KeptSessions::Silent> TakeSilent(size_t limit);
  // When to take them next, by the scheduler's clock. Nothing: ask again after the next beat. Ends
  // that are already due do not wait for a beat: until they are made, there may be none.
  [[nodiscard]] std::optional<SteadyTime> NextSilence() const;
  [[nodiscard]] std::vector<HomeWatch::Orphaned> Orphans() const;
  [[nodiscard]] std::vector<HomeRow> Overdue() const;
  // When the first home will be overdue, by the scheduler's clock, if the beat stays good. Nothing
  // if none will.
  [[nodiscard]] std::optional<SteadyTime> NextOverdue() const;
  // The home has been declared dead.
  void Died(HomeId home);
  // Whether homes are dead or missing, and still have sessions.
  [[nodiscard]] bool AnyGone() const;

  // --- The own row ---

  // Whether ends of sessions are so late that this replica must not beat.
  [[nodiscard]] bool EndsAreLate() const;
  // The next write of the own row, by a beat or an adoption. Nothing if there is no incarnation.
  [[nodiscard]] std::optional<OwnRow::Write> BeginWrite();
  // Returns the fraction of time that was left of the beat before; nothing if there was none.
  std::optional<double> OnBeat(const OwnRow::Write& write);
  void OnNumbered(const OwnRow::Write& write);
  void OnUnknown(const OwnRow::Write& write);
  void OnRefused(const OwnRow::Write& write);
  void Departed(const std::vector<NumberedDeparture>& departures);
  [[nodiscard]] uint64_t known_departures() const;
  void Saw(const std::vector<HomeRow>& living, const std::vector<HomeId>& gone);

 private:
  [[nodiscard]] ServiceTime ServiceNow() const TENURE_REQUIRES(mutex_);
  // The same moment by the scheduler's clock. The two clocks may differ by the time that the
  // machine has slept. REQUIRES: an incarnation has begun.
  [[nodiscard]] SteadyTime When(ServiceTime time) const TENURE_REQUIRES(mutex_);
  // Whether the results of a transaction that began then still count.
  [[nodiscard]] bool IsFresh(const Moment& begun) const TENURE_REQUIRES(mutex_);

  const Scheduler& scheduler_;
  std::atomic<bool> in_doubt_ = false;
  mutable Mutex mutex_;
  std::optional<OwnRow> row_ TENURE_GUARDED_BY(mutex_);
  uint64_t repairs_ TENURE_GUARDED_BY(mutex_) = 0;
  KeptSessions kept_ TENURE_GUARDED_BY(mutex_);
  HomeWatch watch_ TENURE_GUARDED_BY(mutex_);
};

}  // namespace tenure::engine
