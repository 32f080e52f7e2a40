// The engine: takes commands and questions from calls, and turns them into few transactions and
// reads.
//
//   commands  -> one transaction at a time, for all that wait
//   renewals  -> the same, on threads of their own
//   questions -> one read, begun after they were asked, for all that wait
//   time      -> by the store's clock: expiries, and elections that are ready for a grant
//
// What is committed goes to the change feed, which tells the hub. Nothing here is lost when the
// process dies: all truth is in the store. Thread-safe. Every `done` is called exactly once, as a
// task of the scheduler and never from within the call that it was given to, unless the scheduler
// is stopped before.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "core/law.h"
#include "core/mutex.h"
#include "metrics/metrics.h"
#include "server/engine/answers.h"
#include "server/engine/batcher.h"
#include "server/engine/change_feed.h"
#include "server/engine/database_clock.h"
#include "server/engine/housekeeping.h"
#include "server/engine/lineage.h"
#include "server/engine/reads.h"
#include "server/engine/scheduler.h"
#include "server/engine/watch_hub.h"
#include "storage/store.h"

namespace tenure {

struct EngineOptions {
  Limits limits;
  std::chrono::milliseconds feed_interval{10};
  size_t watchers_max = 100'000;
  Retention retention{std::chrono::hours(30 * 24), 10'000, std::chrono::minutes(10)};
  OnLostCommits on_lost_commits = OnLostCommits::kRecover;
  // How long a seat that an outage of the database has cost is kept for its last holder.
  std::chrono::milliseconds incumbent_wait{2'000};
  // Of what replicas must not do alike: they look for expired sessions a little apart from each
  // other, and have names of their own.
  uint64_t seed = 0;
};

// A session that is over, and whether the operator's call that asked for it has ended it.
struct Closed {
  Session session;
  bool deposed = false;
};

class Engine {
 public:
  template <typename T>
  using Done = AnswerTo<T>;
  // Whether somebody still waits for the answer. Called by tasks of the scheduler.
  using Wanted = std::function<bool()>;

  // The store and the scheduler must outlive the engine's last task: stop the scheduler first.
  Engine(Store& store, Scheduler& scheduler, Metrics& metrics, EngineOptions options);

  // Begins to serve. Until it has succeeded once, everything is answered with kStoreUnavailable.
  // Errors: kStoreUnavailable.
  [[nodiscard]] Result<void> Start();

  // Refuse new work as soon as it would be answered too late. Ask before a campaign that limits its
  // wait opens a session, and before a read of the leader; not before calls that keep or free a
  // seat or place, and not for the work of an open call. Error: kOverloaded.
  [[nodiscard]] Result<void> AdmitCampaign();
  [[nodiscard]] Result<void> AdmitRead();

  // Applies a command to its election. Errors: those of the law, kOverloaded, kStoreUnavailable.
  // A command that is no longer wanted when its turn comes is dropped, and its `done` with it.
  // `trace` is the call's trace id, for the log.
  void Submit(Command command, Done<Answer> done, Wanted wanted = nullptr, std::string trace = {});
  // Renews a session. Errors: kSessionNotFound, kSessionEnded, kOverloaded, kStoreUnavailable.
  void Renew(const SessionId& session, Done<Session> done);
  // Ends a session, and gives up all its seats and places before it answers.
  // Errors: kSessionNotFound, kOverloaded, kStoreUnavailable.
  void CloseSession(const SessionId& session, Done<Session> done, std::string trace = {});
  // The same, asked for by an operator.
  void DeposeSession(const SessionId& session, Asker asker, Done<Closed> done,
                     std::string trace = {});

  // The election as of the call or later; with `stale_ok`, up to a second old. Nothing if nobody
  // has ever campaigned in it. Never shows a leader whose lease has ended. Errors: kOverloaded,
  // kStoreUnavailable.
  void ReadElection(const ElectionName& name, bool stale_ok, Done<std::optional<Election>> done);
  // Where a session stands. Errors: kOverloaded, kStoreUnavailable.
  void ReadPlace(const PlaceKey& key, bool with_position, Done<Place> done);
  // The seats that sessions hold. Errors: kOverloaded, kStoreUnavailable.
  void ReadSeats(std::vector<SessionId> sessions, Done<std::vector<Leadership>> done);
  // An election's events from a revision on. Errors: kOverloaded, kStoreUnavailable.
  void ReadEvents(const ElectionName& name, Revision from, size_t limit,
                  Done<std::vector<Event>> done);
  // The names of the elections that begin with a prefix.
  // Errors: kObserveTooWide, kOverloaded, kStoreUnavailable.
  void ReadNames(std::string prefix, size_t limit, Done<std::vector<ElectionName>> done);

  // Runs any other read. Errors: those of `read`, kOverloaded, kStoreUnavailable.
  template <typename T>
  void Read(std::function<Result<T>(Store&)> read, Done<T> done) {
    if (const auto closed = WhyClosed()) return Refuse(scheduler_, std::move(done), *closed);
    reads_.Read(std::move(read), std::move(done));
  }

  [[nodiscard]] WatchHub& hub() { return hub_; }
  [[nodiscard]] Scheduler& scheduler() { return scheduler_; }
  [[nodiscard]] const Limits& limits() const { return options_.limits; }
  [[nodiscard]] Metrics& metrics() { return metrics_; }
  // After which revision new elections begin.
  [[nodiscard]] Revision origin() const { return feed_.origin(); }
  // Whether the store answered lately.
  [[nodiscard]] bool StoreAnswers() const;
  // Whether new calls are taken.
  [[nodiscard]] bool Ready() const { return StoreAnswers() && !hub_.draining(); }
  [[nodiscard]] std::string ExposeMetrics();

 private:
  using After = std::function<void()>;
  struct PendingCommand {
    Command command;
    Done<Answer> done;
    Wanted wanted;
    std::string trace;
    SteadyTime give_up_at;
    int tries = 0;
  };
  struct PendingRenewal {
    SessionId session;
    Done<Session> done;
    SteadyTime give_up_at;
    int tries = 0;
  };
  struct PendingClose {
    SessionId session;
    std::optional<Asker> asker;
    Done<Closed> done;
    std::string trace;
    SteadyTime give_up_at;
    int tries = 0;
  };
  // An ended session whose seats and places are being given up, and a callback for the end of that.
  struct Ending {
    SessionId session;
    std::function<void(Result<void>)> done;
    std::string trace = {};
  };
  struct ShownQueue {
    prometheus::Gauge* gauge;
    std::function<size_t()> depth;
  };

  void Enqueue(PendingCommand pending);
  void Enqueue(PendingRenewal pending);
  void Enqueue(PendingClose pending);
  // Tries again after a pause what a row that is locked elsewhere has put off; gives up in the end.
  template <typename Pending>
  void TryAgain(Work work, Pending pending);
  // Each runs a batch, and returns what answers it.
  After RunCommands(std::vector<PendingCommand> batch, bool patient = false);
  After RunRenewals(std::vector<PendingRenewal> batch);
  After RunCloses(std::vector<PendingClose> batch);
  // Nothing for what has to be tried again.
  template <typename Pending, typename T>
  After AnswerAll(Work work, std::vector<Pending> batch,
                  std::vector<std::optional<Result<T>>> answers);
  // Runs a transaction and counts it. Nothing is decided by a clock that has jumped ahead: until
  // leases have followed it, everything counts as busy.
  Result<Committed> Transact(Agenda& agenda, const std::function<void(Docket&)>& decide);
  Result<Committed> TransactByAnyClock(Agenda& agenda, const std::function<void(Docket&)>& decide);
  // After a commit: notifies watchers, and lets ended sessions lose their places.
  void Follow(const Committed& committed, const std::vector<std::string>& traces = {});
  static void Log(const std::vector<AdminChange>& changes);
  // Gives up all seats and places of ended sessions, one by one, and then marks the sessions as
  // settled. `done` is called when that is over, successfully or not: the search finds again what
  // was not settled.
  void SettleSessions(std::vector<Ending> endings);
  void SettleSessions(const std::vector<SessionId>& sessions);
  void SettlePlaces(Ending ending, const std::vector<ElectionName>& elections);
  After RunEndings(std::vector<Ending> batch);
  void FinishEnding(const Ending& ending, Result<void> settled);
  void SearchDueWork();
  // When to search again.
  SteadyTime FindAndDoDueWork();
  // Leases do not jump with the database's clock. False if they could not be moved along.
  [[nodiscard]] bool FollowClock(DbTime now, SteadyTime asked, SteadyTime answered);
  [[nodiscard]] Result<void> MoveLeases();
  // Adds those that another transaction has locked to `busy`.
  [[nodiscard]] Result<void> MoveLeases(const std::vector<SessionId>& sessions,
                                        std::vector<SessionId>& busy);
  [[nodiscard]] Result<void> MarkExpired(const std::vector<SessionId>& sessions);
  // Has the queue's depth shown.
  template <typename Item>
  void Show(const char* queue, const Batcher<Item>& batcher);
  void Show(const char* queue, size_t max, std::function<size_t()> depth);
  // Why nothing is served now; nothing if it is.
  [[nodiscard]] std::optional<Error> WhyClosed() const;
  Store& store_;
  Scheduler& scheduler_;
  Metrics& metrics_;
  const EngineOptions options_;
  WatchHub hub_;
  DatabaseClock database_clock_;
  Lineage lineage_;
  ChangeFeed feed_;
  Housekeeping housekeeping_;
  Batcher<PendingCommand> commands_;
  Batcher<PendingCommand> sets_;     // commands for several elections
  Batcher<PendingCommand> patient_;  // commands whose election has been busy for long, one by one
  Batcher<PendingRenewal> renewals_;
  Reads reads_;
  Batcher<Ending> endings_;
  Batcher<PendingClose> closes_;
  std::atomic<bool> started_ = false;

  Mutex settling_mutex_;
  std::set<SessionId> settling_ TENURE_GUARDED_BY(settling_mutex_);

  std::minstd_rand random_;                               // used by the search only
  std::uniform_int_distribution<int64_t> jitter_{0, 20};  // milliseconds

  std::vector<ShownQueue> queues_;
  std::vector<prometheus::Counter*> retries_;  // by RetryReason
  Mutex exposing_mutex_;                       // one exposition at a time
};

}  // namespace tenure
