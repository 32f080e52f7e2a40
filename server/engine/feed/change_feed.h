// Puts the changes of this replica and of all others into one order, and reports each once.
//
// A partition's offsets are the order of its commits. A commit of this replica is reported at once
// if it has the partition's next offset; otherwise the earlier commits of other replicas are read
// from the store first. Commits of others are read when they announce them (Nudged), or when a beat
// shows them (Confirm), and otherwise found by a small read, `interval` after the last of both.
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "core/types.h"
#include "metrics/metrics.h"
#include "server/engine/feed/state_cache.h"
#include "server/engine/feed/watch_hub.h"
#include "server/engine/history/lineage.h"
#include "server/engine/home/home_state.h"
#include "server/engine/replica_state.h"
#include "server/engine/work/database_clock.h"
#include "server/engine/work/scheduler.h"
#include "storage/store.h"

namespace tenure::engine {

class ChangeFeed {
 public:
  ChangeFeed(ReplicaState& replica, std::chrono::milliseconds interval);

  // Reads the database's session key, which also gives the id of the service. Writes nothing except
  // a missing key. REQUIRES: the lineage was joined. Errors: kStoreUnavailable.
  [[nodiscard]] Result<void> ReadSessionKey();
  // Begins with the next commits. REQUIRES: the session key was read.
  // Errors: kStoreUnavailable.
  [[nodiscard]] Result<void> Start();

  // A transaction of this replica was committed. Thread-safe.
  void OnCommitted(PartitionOffset offset, std::vector<Event> events);

  // Another replica announces that it has committed up to here. A hint: if that is not published
  // yet, the feed polls soon, and the answer is true. Thread-safe.
  bool Nudged(const PartitionOffsets& offsets);

  // Polls as soon as it may, and joins the history again if necessary. Thread-safe.
  void PollSoon();

  // Taken before a read that `Confirm` checks. Thread-safe, like all that follow.
  [[nodiscard]] std::optional<HistoryPoint> point() const { return lineage_.point(); }
  // Whether partitions that were read after `point` was taken belong to the published history. If
  // not, or if the store did not answer, or if they show something new, the feed polls soon.
  [[nodiscard]] bool Confirm(const std::optional<HistoryPoint>& point,
                             const Result<Partitions>& partitions);
  // The key from which this database's session ids are derived; empty before it is known.
  // Thread-safe.
  [[nodiscard]] std::string session_key() const;
  // The id of the database's service; empty before it is known.
  [[nodiscard]] std::string service_id() const;
  // Whether terms were raised, and this replica has not started over since: its session key and the
  // id of its service may be those of another database.
  [[nodiscard]] bool behind_a_repair() const { return repairs_ != lineage_.repairs(); }

 private:
  struct Partition {
    Mutex mutex;
    uint64_t offset TENURE_GUARDED_BY(mutex) = 0;  // all up to here is published
    // Committed here, after something not yet read.
    std::map<uint64_t, std::vector<Event>> own_ahead TENURE_GUARDED_BY(mutex);
  };

  void Poll();
  // Joins the history again periodically, because what the server says about itself may have
  // changed: a source that no longer waits for its copies begins an epoch.
  void CheckServer();
  [[nodiscard]] bool CatchUp();
  [[nodiscard]] bool ReadAll() TENURE_REQUIRES(poll_mutex_);
  [[nodiscard]] bool CatchUp(int partition, uint64_t until);
  // The partitions, if their history is known and open. Otherwise nothing.
  [[nodiscard]] std::optional<Partitions> ReadPartitions() TENURE_REQUIRES(poll_mutex_);
  // Joins the history that the database shows now, or helps to repair it. False if it is not open.
  [[nodiscard]] bool Rejoin() TENURE_REQUIRES(poll_mutex_);
  [[nodiscard]] bool Restart() TENURE_REQUIRES(poll_mutex_);
  // Until the session key is read again, no service is known.
  void ForgetService();
  // Publishes this replica's own commits that are next.
  void PublishOwn(int number, Partition& partition) TENURE_REQUIRES(partition.mutex);
  void Publish(Event event);
  void PlanPoll();

  Store& store_;
  Scheduler& scheduler_;
  WatchHub& hub_;
  Metrics& metrics_;
  Lineage& lineage_;
  StateCache& cache_;
  HomeState& home_;
  const DatabaseClock& database_clock_;
  const std::chrono::milliseconds interval_;
  std::array<Partition, kPartitionCount> partitions_;
  Mutex poll_mutex_;                                             // one poll at a time
  SteadyTime check_server_at_ TENURE_GUARDED_BY(poll_mutex_){};  // when to ask the server again
  // The history may be another one: nothing is reported until that is known. Written under
  // poll_mutex_.
  std::atomic<bool> rejoining_ = false;
  std::atomic<SteadyTime> caught_up_at_;  // when everything was published
  std::atomic<uint64_t> repairs_ = 0;     // of the published history; written under poll_mutex_
  std::string why_not_repaired_ TENURE_GUARDED_BY(poll_mutex_);  // as logged last
  mutable Mutex service_mutex_;
  std::string session_key_ TENURE_GUARDED_BY(service_mutex_);
  std::string service_id_ TENURE_GUARDED_BY(service_mutex_);
  prometheus::Gauge* service_series_ TENURE_GUARDED_BY(service_mutex_) = nullptr;
  std::atomic<bool> poll_is_near_ = false;                   // an extra poll is posted
  std::atomic<SteadyTime> next_poll_at_{SteadyTime::min()};  // an extra poll is not sooner
};

}  // namespace tenure::engine
