// Questions: who leads, where a session stands, what happened. Questions that wait share one read
// of the store, which begins after they were asked.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "core/law/law.h"
#include "core/types.h"
#include "metrics/metrics.h"
#include "server/engine/feed/state_cache.h"
#include "server/engine/history/lineage.h"
#include "server/engine/home/home_state.h"
#include "server/engine/place.h"
#include "server/engine/replica_state.h"
#include "server/engine/transactions.h"
#include "server/engine/work/answers.h"
#include "server/engine/work/batcher.h"
#include "server/engine/work/scheduler.h"
#include "storage/operator_store.h"

namespace tenure::engine {

// Thread-safe. Each question is answered once, as a task of the scheduler. Errors of all:
// kOverloaded, kStoreUnavailable. Everything must outlive the scheduler's last task.
class Reads {
 public:
  // Brings an election in line with its sessions.
  using Reconcile = std::function<void(const ElectionName&, AnswerTo<Answer>)>;

  Reads(ReplicaState& replica, const Transactions& transactions, Reconcile settle);

  // Whether a new question would be answered too late.
  [[nodiscard]] bool Late() const;

  // The election as of the call or later; with `stale_ok`, up to a second old: its leader, term and
  // revision. What changes without an event may be older. Nothing if nobody has ever campaigned in
  // it. Never shows a leader whose session has ended.
  void ReadElection(const ElectionName& name, bool stale_ok,
                    AnswerTo<std::optional<Election>> done);
  void ReadPlace(const PlaceKey& key, bool with_position, AnswerTo<Place> done);
  void ReadSeats(SeatPage page, AnswerTo<std::vector<Leadership>> done);
  void ReadEvents(const ElectionName& name, Revision from, size_t limit,
                  AnswerTo<std::vector<Event>> done, Wanted wanted);
  // Elections whose names begin with `prefix` and come after `after`, in order.
  void ReadNames(std::string prefix, std::string after, size_t limit,
                 AnswerTo<std::vector<ElectionName>> done, Wanted wanted);
  // Runs any other read of its own. Errors: those of `read`, too. A read that is no longer wanted
  // when its turn comes is dropped, and its `done` with it.
  template <typename T>
  void Read(std::function<Result<T>(OperatorStore&)> read, AnswerTo<T> done,
            Wanted wanted = nullptr) {
    Enqueue(others_, std::move(read), std::move(done), std::move(wanted));
  }

  [[nodiscard]] std::vector<QueueView> Queues() const;

 private:
  using After = std::function<void()>;
  struct PendingElection {
    ElectionName name;
    AnswerTo<std::optional<Election>> done;
    int tries = 0;
  };
  struct PendingPlace {
    PlaceKey key;
    bool with_position;
    AnswerTo<Place> done;
  };
  struct Remembered {
    std::optional<Election> election;
    SteadyTime read_at;
  };

  // Reads of one kind run one after the other, so that a thread is always left for questions about
  // leaders.
  using Reading = std::function<void()>;
  template <typename T>
  void Enqueue(Batcher<Reading>& kind, std::function<Result<T>(OperatorStore&)> read,
               AnswerTo<T> done, Wanted wanted) {
    Reading reading = [this, read = std::move(read), done, wanted = std::move(wanted)] {
      if (!wanted || wanted()) done(read(store_));
    };
    if (!kind.Add(reading)) Refuse(scheduler_, std::move(done), transactions_.WhyFull());
  }

  // Each runs a batch, and returns the function that answers it.
  After RunElections(std::vector<PendingElection> batch);
  After RunPlaces(std::vector<PendingPlace> batch);
  // From rows, and from memory, if the database says that nothing has changed. Errors:
  // kStoreUnavailable, also if the database is not in the history that this replica knows.
  [[nodiscard]] Result<std::map<ElectionName, ElectionView>> ReadViews(
      std::set<ElectionName> names);
  // Reads who was there after the last message was answered. Errors: those of ReadViews.
  [[nodiscard]] Result<Attendance> ReadAttendance();
  [[nodiscard]] Result<std::map<ElectionName, ElectionView>> ReadRows(
      const std::set<ElectionName>& names);
  void AnswerElection(PendingElection pending, const std::map<ElectionName, ElectionView>& views,
                      SteadyTime read_at);
  // Fills a vacant seat for which candidates wait, should a transaction have left one.
  void FillIfVacant(const ElectionView& view);
  void Remember(const ElectionName& name, const std::optional<Election>& election,
                SteadyTime read_at);

  OperatorStore& store_;
  Scheduler& scheduler_;
  Metrics& metrics_;
  const Lineage& lineage_;
  const HomeState& home_;
  StateCache& cache_;
  const Transactions& transactions_;
  const Reconcile settle_;
  Batcher<PendingElection> elections_;
  Batcher<PendingPlace> places_;
  Batcher<Reading> seats_;
  Batcher<Reading> others_;

  Mutex remembered_mutex_;
  std::unordered_map<ElectionName, Remembered> remembered_ TENURE_GUARDED_BY(remembered_mutex_);
};

}  // namespace tenure::engine
