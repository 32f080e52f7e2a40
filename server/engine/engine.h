// The engine: takes commands and questions from calls, and turns them into few transactions and
// reads.
//
//   commands  -> one transaction at a time, for all that wait
//   renewals  -> answered from memory by the home of the session (home_keeper.h)
//   questions -> one read, begun after they were asked, for all that wait
//   time      -> a beat each second, which shows what is due
//
// Commits go to the change feed, and from there to the hub. Nothing is lost when the process dies:
// the truth is in the store. Thread-safe. Every `done` is called exactly once, as a task of the
// scheduler and never from within the call that it was given to, unless the scheduler is stopped
// before.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "core/law/law.h"
#include "metrics/metrics.h"
#include "server/engine/commands.h"
#include "server/engine/exposition.h"
#include "server/engine/feed/change_feed.h"
#include "server/engine/feed/publisher.h"
#include "server/engine/feed/state_cache.h"
#include "server/engine/feed/watch_hub.h"
#include "server/engine/history/lineage.h"
#include "server/engine/home/home_keeper.h"
#include "server/engine/home/home_state.h"
#include "server/engine/housekeeping.h"
#include "server/engine/purges.h"
#include "server/engine/reads.h"
#include "server/engine/replica_state.h"
#include "server/engine/session_endings.h"
#include "server/engine/timed_work.h"
#include "server/engine/transactions.h"
#include "server/engine/work/answers.h"
#include "server/engine/work/database_clock.h"
#include "server/engine/work/scheduler.h"
#include "storage/store.h"

namespace tenure::engine {

struct EngineOptions {
  Limits limits;
  // When to poll for commits of other replicas if neither they nor a beat have shown any.
  std::chrono::milliseconds feed_interval{2'000};
  // Called for each commit to announce to other replicas. Must not block. May be empty.
  std::function<void(PartitionOffset)> on_commit;
  // How other replicas reach this one. `on_peers` gets all others after each beat; a task of the
  // scheduler calls it. Both may be empty.
  Peer self = {};
  std::function<void(const std::vector<Peer>&)> on_peers;
  size_t watchers_max = 100'000;
  Retention retention{std::chrono::hours(30 * 24), 10'000, std::chrono::minutes(10)};
  OnLostCommits on_lost_commits = OnLostCommits::kRecover;
  // The id of the only service whose database may be used. Empty: any.
  std::string service_id;
  // Randomness, different for each replica: for the id of its home, and so that replicas do not
  // search for due work at the same moments.
  uint64_t seed = 0;
};

class Engine {
 public:
  template <typename T>
  using Done = AnswerTo<T>;

  // The store and the scheduler must outlive the engine's last task: stop the scheduler first.
  Engine(Store& store, Scheduler& scheduler, Metrics& metrics, EngineOptions options);

  // Begins to serve. Until it has succeeded once, everything is answered with kStoreUnavailable.
  // Errors: kStoreUnavailable.
  [[nodiscard]] Result<void> Start();
  // Why the process cannot use the store, with the store's address; empty if it can. Status and the
  // calls that are refused before the start repeat it.
  void SetStoreFault(std::string why);

  // Refuse new work as soon as it would be answered too late. Ask before a campaign that limits its
  // wait opens a session, and before a read of the leader; not before calls that keep or free a
  // seat or place, and not for the work of an open call. Error: kOverloaded.
  [[nodiscard]] Result<void> AdmitCampaign() const;
  [[nodiscard]] Result<void> AdmitRead() const;

  // All of these answer with kOverloaded or kStoreUnavailable if they cannot be done.

  // Applies a command to its election. Errors: those of the law, too.
  // A command that is no longer wanted when it is decided is dropped, and its `done` with it.
  // `trace` is the call's trace id, for the log.
  void Submit(Command command, Done<Answer> done, Wanted wanted = nullptr, std::string trace = {});
  // Renews a session for its owner, if it is kept here, and no waiting, writing or reading is
  // needed. Nothing: call `Renew`. Errors: kSessionNotFound.
  [[nodiscard]] std::optional<Result<Session>> RenewNow(const SessionId& session,
                                                        const Principal& owner);
  // Renews a session for its owner. Errors: kSessionNotFound and kSessionEnded, too.
  // If nobody waits for it any more, a session does not move to this replica, and `done` is not
  // called.
  void Renew(const SessionId& session, Principal owner, Done<Session> done,
             Wanted wanted = nullptr);
  // Ends a session for its owner, and gives up all its seats and places before it answers. Error:
  // kSessionNotFound, too.
  void CloseSession(const SessionId& session, Principal owner, Done<Session> done,
                    std::string trace = {});
  // CloseSession on behalf of an operator.
  void DeposeSession(const SessionId& session, Author author, Done<Closed> done,
                     std::string trace = {});

  // Removes a page of elections that nobody uses, for an operator.
  // REQUIRES: they are unused for at least `unused_min()`.
  void Purge(PurgeOrder order, Done<PurgePage> done);
  // No replica, and no observer that comes back, looks for events as old as this.
  [[nodiscard]] Duration unused_min() const {
    return std::max(kUnusedMin, options_.retention.age_min);
  }

  // Questions of calls: see reads.h.
  void ReadElection(const ElectionName& name, bool stale_ok, Done<std::optional<Election>> done);
  void ReadPlace(const PlaceKey& key, bool with_position, Done<Place> done);
  void ReadSeats(SeatPage page, Done<std::vector<Leadership>> done);
  void ReadEvents(const ElectionName& name, Revision from, size_t limit,
                  Done<std::vector<Event>> done, Wanted wanted = nullptr);
  void ReadNames(std::string prefix, std::string after, size_t limit,
                 Done<std::vector<ElectionName>> done, Wanted wanted = nullptr);
  // Runs any other read. Errors: those of `read`, too.
  template <typename T>
  void Read(std::function<Result<T>(OperatorStore&)> read, Done<T> done) {
    if (RefusedWhileClosed(done)) return;
    reads_.Read(std::move(read), std::move(done));
  }

  // Why this replica could not beat; nothing if it could.
  [[nodiscard]] std::optional<Error> beat_fault() const { return keeper_.fault(); }

  // Hands the sessions over to other replicas, before their calls are asked to leave.
  void Drain() { keeper_.Drain(); }
  // Another replica has appeared: beats at once, which shows it.
  void FindPeers() { keeper_.BeatSoon(); }
  // Whether the sessions have been handed over.
  [[nodiscard]] bool retired() const { return keeper_.retired(); }

  // Another replica announces that it has committed up to here.
  void Nudged(const PartitionOffsets& offsets) {
    if (started_) (void)feed_.Nudged(offsets);
  }

  [[nodiscard]] WatchHub& hub() { return replica_.hub; }
  [[nodiscard]] Scheduler& scheduler() { return replica_.scheduler; }
  [[nodiscard]] const Limits& limits() const { return options_.limits; }
  [[nodiscard]] Metrics& metrics() { return replica_.metrics; }
  // The key from which session ids are derived. Error: kStoreUnavailable, until Start has
  // succeeded.
  [[nodiscard]] Result<std::string> session_key() const;
  // The id of the database's service; empty until Start has succeeded.
  [[nodiscard]] std::string service_id() const { return feed_.service_id(); }
  // The state of this replica, for operators. Does not ask the database.
  struct Status {
    bool ready = false;
    std::string why_not;  // one sentence; empty if it is ready
    bool store_answers = false;
    std::optional<ServerIdentity> server;  // nothing before the first one answered
    std::optional<Statistics> statistics;  // at most some seconds old
  };
  [[nodiscard]] Status status() const;
  // Whether this replica's beat is good: the store was written and read within the last seconds.
  [[nodiscard]] bool StoreAnswers() const;
  // Whether new calls are taken.
  [[nodiscard]] bool Ready() const { return StoreAnswers() && !replica_.hub.draining(); }
  [[nodiscard]] std::string ExposeMetrics();

 private:
  // Why nothing is served now; nothing if it is.
  [[nodiscard]] std::optional<Error> WhyClosed() const;
  [[nodiscard]] Error WhyNotStarted() const;
  [[nodiscard]] std::string store_fault() const;
  template <typename T>
  [[nodiscard]] bool RefusedWhileClosed(Done<T>& done) {
    const auto closed = WhyClosed();
    if (closed) Refuse(replica_.scheduler, std::move(done), *closed);
    return closed.has_value();
  }
  void ReconcileElection(const ElectionName& name, Done<Answer> done);
  // Before it answers a campaign, renews its session, which has to be kept here for that. Even if
  // nobody waits for the answer any more: an abandoned candidacy is withdrawn when it arrives.
  [[nodiscard]] Done<Answer> OnceKept(const Command& command, Done<Answer> done);
  [[nodiscard]] std::vector<QueueView> Queues() const;

  const EngineOptions options_;
  ReplicaState replica_;
  ChangeFeed feed_;
  Transactions transactions_;
  Publisher publisher_;
  Commands commands_;
  HomeKeeper keeper_;
  SessionEndings endings_;
  Purges purges_;
  TimedWork timed_work_;
  Reads reads_;
  Housekeeping housekeeping_;
  Exposition exposition_;
  std::atomic<bool> started_ = false;
  mutable Mutex fault_mutex_;
  std::string store_fault_ TENURE_GUARDED_BY(fault_mutex_);
};

}  // namespace tenure::engine
