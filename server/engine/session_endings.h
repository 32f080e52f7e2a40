// The ends of sessions: asked for by calls, made by homes, or shown by a beat. Each gives up all
// seats and places that the session holds, one by one, and then marks it as settled.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "base/mutex.h"
#include "core/types.h"
#include "metrics/metrics.h"
#include "server/engine/commands.h"
#include "server/engine/feed/publisher.h"
#include "server/engine/feed/watch_hub.h"
#include "server/engine/replica_state.h"
#include "server/engine/transactions.h"
#include "server/engine/work/answers.h"
#include "server/engine/work/batcher.h"
#include "server/engine/work/busy_rows.h"
#include "server/engine/work/scheduler.h"
#include "storage/law_store.h"

namespace tenure::engine {

// An ended session, and whether it was ended by the operator's call that asked for it.
struct Closed {
  Session session;
  bool deposed = false;
};

// Thread-safe. Everything must outlive the scheduler's last task.
class SessionEndings {
 public:
  SessionEndings(ReplicaState& replica, Commands& commands, Transactions& transactions,
                 Publisher& publisher);

  // Ends a session, for its owner or an operator, and settles it before it answers, even if the
  // caller has gone: a process that ends may not wait for the answer.
  // Errors: kSessionNotFound, kOverloaded, kStoreUnavailable.
  using ClosedBy = std::variant<Principal, Author>;
  void Close(const SessionId& session, ClosedBy whom, AnswerTo<Closed> done, std::string trace);
  // Settles sessions that have ended. If that fails, the next beat of any replica shows them again.
  void Settle(const std::vector<SessionId>& sessions);
  [[nodiscard]] bool Settling(const SessionId& session) const;

  [[nodiscard]] std::vector<QueueView> Queues() const;

 private:
  struct Pending {
    SessionId session;
    ClosedBy whom;
    AnswerTo<Closed> done;
    std::string trace;
    Patience patience;
  };
  // An ended session whose seats and places are being given up, and a callback for the end of that.
  struct Ending {
    SessionId session;
    AnswerTo<void> done = nullptr;
    std::string trace = {};
  };

  void Enqueue(Pending pending);
  std::function<void()> RunCloses(std::vector<Pending> batch);
  void Settle(std::vector<Ending> endings);
  void GiveUpPlaces(Ending ending, const std::vector<ElectionName>& elections);
  std::function<void()> MarkSettled(std::vector<Ending> batch);
  // `done` is called, whether settling has succeeded or not.
  void Finish(const Ending& ending, Result<void> settled);

  LawStore& store_;
  Scheduler& scheduler_;
  Metrics& metrics_;
  WatchHub& hub_;
  Commands& commands_;
  Transactions& transactions_;
  Publisher& publisher_;
  BusyRows<Pending> busy_;
  Batcher<Pending> closes_;
  Batcher<Ending> endings_;

  mutable Mutex settling_mutex_;
  std::set<SessionId> settling_ TENURE_GUARDED_BY(settling_mutex_);
};

}  // namespace tenure::engine
