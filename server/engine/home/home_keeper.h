// Does what a home of sessions has to do (homes are described in docs/adr/0046-homes.md): writes
// this replica's own row, answers renewals, adopts sessions, ends those that have fallen silent or
// lost their home, and declares other homes dead.
//
// The own row has one writer at a time: a task that adopts what waits, and beats.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <random>
#include <vector>

#include "base/mutex.h"
#include "core/types.h"
#include "metrics/metrics.h"
#include "server/engine/feed/change_feed.h"
#include "server/engine/feed/publisher.h"
#include "server/engine/home/home_state.h"
#include "server/engine/replica_state.h"
#include "server/engine/transactions.h"
#include "server/engine/work/answers.h"
#include "server/engine/work/busy_rows.h"
#include "server/engine/work/scheduler.h"
#include "storage/store.h"

namespace tenure::engine {

// Thread-safe. Everything must outlive the scheduler's last task.
class HomeKeeper {
 public:
  // Takes what a good beat shows, with the times at which it was asked and answered.
  using Beaten = std::function<void(const BeatReport&, SteadyTime asked, SteadyTime answered)>;

  HomeKeeper(ReplicaState& replica, ChangeFeed& feed, Transactions& transactions,
             Publisher& publisher, Beaten beaten, Peer self, uint64_t seed);

  // Adds this replica's row. Does nothing once it has succeeded. Errors: kStoreUnavailable.
  [[nodiscard]] Result<void> Join();
  // Begins to beat, and returns after the first beat. REQUIRES: it has joined. Call once.
  void Start();
  // Why the last beat was not made, or could not be confirmed; nothing if it was.
  [[nodiscard]] std::optional<Error> fault() const;

  // Renews a session that is kept here, if the beat is good, so that no answer of the database is
  // needed. Nothing: call `Renew`. Thread-safe. Errors: kSessionNotFound.
  [[nodiscard]] std::optional<Result<Session>> RenewNow(const SessionId& session,
                                                        const Principal& principal);
  // A call that renews a session has arrived. It waits while the beat is not good, and while
  // another transaction has locked the session. Errors: kSessionNotFound, kSessionEnded,
  // kOverloaded, kStoreUnavailable.
  // If nobody waits for it any more, a session does not move here, and `done` is not called.
  void Renew(const SessionId& session, Principal principal, AnswerTo<Session> done, Wanted wanted);

  // Beats at once, or after the write under way.
  void BeatSoon();
  // Refuses renewals from now on with kDraining, and declares this replica dead as soon as that is
  // safe: then its sessions move to others at the cost of one row each.
  void Drain();
  // Whether it has declared itself dead, or has no home to declare dead.
  [[nodiscard]] bool retired() const { return !state_.witness(); }

  [[nodiscard]] std::vector<QueueView> Queues() const;

 private:
  struct Pending {
    [[nodiscard]] bool IsWanted() const { return !wanted || wanted(); }

    SessionId session;
    Principal principal;
    AnswerTo<Session> done;
    Wanted wanted;
    Patience patience;
  };

  [[nodiscard]] Result<void> BeginIncarnation();
  [[nodiscard]] std::variant<Result<Session>, HomeState::Unanswered> TryToRenew(
      const SessionId& session, const Principal& principal);
  void Submit(Pending pending);
  void Answer(Pending pending, Result<Session> session);
  void ObserveMargin(const KeptSessions::Renewal& renewal);

  // The writer of the own row.
  void Wake();
  void WakeLocked() TENURE_REQUIRES(mutex_);
  void Write();
  void AdoptBatch(std::vector<Pending> batch);
  void Wait(std::vector<Pending> batch);
  // Each returns when to write next.
  [[nodiscard]] SteadyTime BeginAgain();
  [[nodiscard]] SteadyTime Beat();
  [[nodiscard]] SteadyTime InsteadOfBeat(const OwnRow::Write& write);
  [[nodiscard]] SteadyTime AfterFailure();
  [[nodiscard]] SteadyTime AfterRefusal(const OwnRow::Write& write, OwnRow::Verdict verdict);
  // Reads the departures that the last beat has shown. Nothing if all are known.
  [[nodiscard]] std::optional<SteadyTime> ReadDepartures();
  [[nodiscard]] SteadyTime EndIncarnation(const char* why);
  [[nodiscard]] SteadyTime NextBeat(SteadyTime begun) const;
  // Declares this replica dead if that is safe. REQUIRES: the beat is good, nothing is in doubt,
  // and nobody is adopted any more.
  void RetireIfSafe();
  // Releases the waiting renewals: all after a good beat, otherwise those that have waited too
  // long.
  void ReleaseWaiting(bool good);
  void SetFault(std::optional<Error> fault);

  void OnGoodBeat(const OwnRow::Write& write, const BeatReport& report, SteadyTime begun,
                  SteadyTime answered);
  // Acts on what a good beat shows about other homes.
  void Watch();
  void EndOrphans(const HomeWatch::Orphaned& orphaned);
  void Sweep(const SessionId& after);

  // Plans to end sessions when the next one falls silent, but not before `earliest`.
  void PlanEnds(SteadyTime earliest = SteadyTime());
  void EndSilentSessions();
  // False if some could not be ended.
  [[nodiscard]] bool EndOneBatch();

  Store& store_;
  Scheduler& scheduler_;
  Metrics& metrics_;
  HomeState& state_;
  ChangeFeed& feed_;
  Lineage& lineage_;
  Transactions& transactions_;
  Publisher& publisher_;
  const Beaten beaten_;
  const Peer self_;
  BusyRows<Pending> busy_;
  std::mt19937_64 random_;  // for the starting task and the writer, one after the other

  mutable Mutex mutex_;
  std::vector<Pending> waiting_ TENURE_GUARDED_BY(mutex_);  // for a good beat
  std::vector<Pending> to_adopt_ TENURE_GUARDED_BY(mutex_);
  bool writing_ TENURE_GUARDED_BY(mutex_) = true;  // also before it has started
  bool beat_soon_ TENURE_GUARDED_BY(mutex_) = false;
  SteadyTime next_beat_ TENURE_GUARDED_BY(mutex_);
  std::optional<Scheduler::Plan> planned_beat_ TENURE_GUARDED_BY(mutex_);
  std::optional<Scheduler::Plan> planned_ends_ TENURE_GUARDED_BY(mutex_);
  bool ending_ TENURE_GUARDED_BY(mutex_) = false;
  bool ending_orphans_ TENURE_GUARDED_BY(mutex_) = false;
  std::optional<Error> fault_ TENURE_GUARDED_BY(mutex_);
  std::atomic<bool> draining_ = false;
  // Used by the writer only.
  bool retired_ = false;
  uint64_t departures_ = 0;  // of the own row, as the last beat has shown
  SteadyTime adopted_at_;    // by HomeNow
  bool adoption_in_doubt_ = false;
  bool said_withheld_ = false;
  SteadyTime swept_at_;
  SteadyTime next_sweep_;
};

}  // namespace tenure::engine
