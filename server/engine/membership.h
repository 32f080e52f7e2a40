// Which replicas serve: this one announces itself from time to time, and finds the others that do.
// The table `replicas` is all that they share. The announcement also shows an idle replica whether
// it can write.
#pragma once

#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "core/mutex.h"
#include "server/engine/scheduler.h"
#include "storage/store.h"

namespace tenure::engine {

// Everything must outlive the scheduler's last task.
class Membership {
 public:
  // Given all other replicas, whenever this one has announced itself; kStoreUnavailable if it could
  // not. Called by tasks of the scheduler, one after the other.
  using Found = std::function<void(const Result<std::vector<Peer>>&)>;

  Membership(Store& store, Scheduler& scheduler, Peer self, Found found)
      : store_(store), scheduler_(scheduler), self_(std::move(self)), found_(std::move(found)) {}

  // Once.
  void Start();
  // There may be a new replica, or writing may have become impossible: announces itself soon.
  // Thread-safe.
  void LookSoon();

 private:
  void Look();
  void PlanLook(SteadyTime when) TENURE_REQUIRES(mutex_);

  Store& store_;
  Scheduler& scheduler_;
  const Peer self_;
  const Found found_;

  Mutex mutex_;
  SteadyTime looked_at_ TENURE_GUARDED_BY(mutex_){};
  bool failed_ TENURE_GUARDED_BY(mutex_) = false;  // then
  // Nothing before the start, and while it looks.
  std::optional<Scheduler::Plan> next_ TENURE_GUARDED_BY(mutex_);
  bool again_ TENURE_GUARDED_BY(mutex_) = false;  // asked to announce itself while it did
};

}  // namespace tenure::engine
