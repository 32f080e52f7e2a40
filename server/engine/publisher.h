// What follows a commit: it is counted and logged, watchers are told, and what it has left undone
// is begun.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/types.h"
#include "metrics/metrics.h"
#include "server/engine/change_feed.h"
#include "server/engine/lineage.h"
#include "server/engine/watch_hub.h"
#include "storage/store.h"

namespace tenure::engine {

// What a transaction leaves to others. Each begins it, and does not wait.
struct Remainders {
  // The seats and places of sessions that have ended.
  std::function<void(const std::vector<SessionId>&)> settle;
  // An election whose next leader could not be decided.
  std::function<void(const ElectionName&)> reconcile;
  // What other replicas shall hear of. May be empty.
  std::function<void(PartitionOffset)> spread;
};

// Thread-safe. What it is made of must outlive it.
class Publisher {
 public:
  Publisher(Metrics& metrics, Lineage& lineage, WatchHub& hub, ChangeFeed& feed,
            Remainders remainders);

  // `traces` has, for each event, the trace of the call that caused it; missing entries mean none.
  // Call it before the next transaction of the same queue begins: its offsets follow.
  void Publish(const Committed& committed, const std::vector<std::string>& traces = {});

 private:
  Metrics& metrics_;
  Lineage& lineage_;
  WatchHub& hub_;
  ChangeFeed& feed_;
  const Remainders remainders_;
};

}  // namespace tenure::engine
