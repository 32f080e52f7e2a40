// What follows a commit: it is counted and logged, watchers are notified, and the work that it
// leaves is started.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/types.h"
#include "metrics/metrics.h"
#include "server/engine/feed/change_feed.h"
#include "server/engine/feed/watch_hub.h"
#include "server/engine/history/lineage.h"
#include "server/engine/replica_state.h"
#include "storage/store.h"

namespace tenure::engine {

// The work that a transaction leaves. Each function starts it, and does not wait.
struct FollowUps {
  // Gives up the seats and places of sessions that have ended.
  std::function<void(const std::vector<SessionId>&)> settle;
  // Tries again to decide the next leader of an election.
  std::function<void(const ElectionName&)> reconcile;
  // After this time elections will be ready for a grant.
  std::function<void(Duration)> wake;
  // Announces the commit to other replicas. May be empty.
  std::function<void(PartitionOffset)> spread;
};

// Thread-safe. The constructor's arguments must outlive it.
class Publisher {
 public:
  Publisher(ReplicaState& replica, ChangeFeed& feed, FollowUps follow_ups);

  // Called once by whatever committed (commands, session ends, purges, homes), before its queue
  // starts the next transaction, so that offsets are published in order. `traces` has, for each
  // event, the trace of the call that caused it; missing entries mean none.
  void Publish(const Committed& committed, const std::vector<std::string>& traces = {});

 private:
  Metrics& metrics_;
  Lineage& lineage_;
  WatchHub& hub_;
  ChangeFeed& feed_;
  const FollowUps follow_ups_;
};

}  // namespace tenure::engine
