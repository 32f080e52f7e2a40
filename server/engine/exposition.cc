#include "server/engine/exposition.h"

#include <chrono>

namespace tenure::engine {
namespace {

constexpr RetryReason kAllRetryReasons[] = {RetryReason::kDeadlock, RetryReason::kLockTimeout,
                                            RetryReason::kConflict, RetryReason::kLostConnection,
                                            RetryReason::kLostReply};

std::string NameOf(RetryReason reason) {
  switch (reason) {
    case RetryReason::kDeadlock: return "deadlock";
    case RetryReason::kLockTimeout: return "lock_timeout";
    case RetryReason::kConflict: return "conflict";
    case RetryReason::kLostConnection: return "lost_connection";
    case RetryReason::kLostReply: return "lost_reply";
  }
  return "";
}

}  // namespace

Exposition::Exposition(ReplicaState& replica, std::vector<QueueView> queues)
    : store_(replica.store),
      scheduler_(replica.scheduler),
      metrics_(replica.metrics),
      clock_(replica.clock),
      home_(replica.home) {
  for (QueueView& queue : queues) {
    const prometheus::Labels labels = {{"queue", queue.name}};
    metrics_.queue_max.Add(labels).Set(static_cast<double>(queue.max));
    queues_.emplace_back(&metrics_.queue_depth.Add(labels), std::move(queue));
  }
  for (const RetryReason reason : kAllRetryReasons) {
    retries_.push_back(&metrics_.transaction_retries.Add({{"reason", NameOf(reason)}}));
  }
}

std::string Exposition::Expose(size_t watchers, bool store_answers, bool ready) {
  const MutexLock lock(mutex_);
  metrics_.watchers.Set(static_cast<double>(watchers));
  metrics_.store_up.Set(store_answers ? 1 : 0);
  metrics_.ready.Set(ready ? 1 : 0);
  metrics_.kept_sessions.Set(static_cast<double>(home_.kept()));
  metrics_.home_served_seconds.Set(std::chrono::duration<double>(home_.Now().at.served).count());
  for (const auto& [gauge, queue] : queues_) gauge->Set(static_cast<double>(queue.depth()));
  const StoreActivity activity = store_.Activity();
  metrics_.store_connections_busy.Set(static_cast<double>(activity.connections_busy));
  metrics_.store_connections_idle.Set(static_cast<double>(activity.connections_idle));
  metrics_.store_connections_max.Set(static_cast<double>(activity.connections_max));
  for (size_t i = 0; i < retries_.size(); ++i) {
    retries_[i]->Increment(static_cast<double>(activity.retries[i]) - retries_[i]->Value());
  }
  if (const auto database_now = clock_.At(scheduler_.Now())) {
    const auto offset =
        database_now->since_epoch - std::chrono::system_clock::now().time_since_epoch();
    metrics_.database_clock_offset_seconds.Set(std::chrono::duration<double>(offset).count());
  }
  return metrics_.Expose();
}

}  // namespace tenure::engine
