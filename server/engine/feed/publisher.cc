#include "server/engine/feed/publisher.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "server/engine/feed/leadership_log.h"
#include "server/engine/feed/transaction_metrics.h"
#include "server/log/log.h"

namespace tenure::engine {
namespace {

// The time until the first election wakes; nothing if none will.
std::optional<Duration> NextWake(const TransactionState& transaction) {
  std::optional<DbTime> next;
  for (const auto& [name, state] : transaction.elections) {
    const auto& wake_at = state.election.wake_at;
    if (wake_at && *wake_at > transaction.now) next = std::min(next.value_or(*wake_at), *wake_at);
  }
  return next ? std::optional(*next - transaction.now) : std::nullopt;
}

void Log(const std::vector<AdminChange>& changes) {
  for (const AdminChange& change : changes) {
    LogInfo("operator change", {{"action", std::string(AdminActionName(change.action))},
                                {"election", change.election.bytes},
                                {"term", change.term.value},
                                {"detail", change.detail},
                                {"by", change.author.identity},
                                {"reason", change.author.reason}});
  }
}

}  // namespace

Publisher::Publisher(ReplicaState& replica, ChangeFeed& feed, FollowUps follow_ups)
    : metrics_(replica.metrics),
      lineage_(replica.lineage),
      hub_(replica.hub),
      feed_(feed),
      follow_ups_(std::move(follow_ups)) {}

void Publisher::Publish(const Committed& committed, const std::vector<std::string>& traces) {
  const TransactionState& transaction = committed.transaction;
  CountTransaction(metrics_, transaction);
  Duration longest_lease{0};
  for (const auto& [id, session] : transaction.sessions) {
    longest_lease = std::max(longest_lease, session.lease_ttl);
  }
  lineage_.SawLease(longest_lease);
  LogLeadership(transaction, traces);
  Log(transaction.admin_changes);
  for (const SessionId& id : transaction.ended)
    hub_.NotifySessionEnded(transaction.sessions.at(id));
  if (!transaction.ended.empty()) follow_ups_.settle(transaction.ended);
  for (const ElectionName& name : transaction.undecided) follow_ups_.reconcile(name);
  if (const auto wake = NextWake(transaction)) follow_ups_.wake(*wake);
  for (const PartitionOffset& at : committed.offsets) {
    std::vector<Event> events;
    for (const Event& event : transaction.events) {
      if (PartitionOf(event.election) == at.partition) events.push_back(event);
    }
    feed_.OnCommitted(at, std::move(events));
    if (follow_ups_.spread) follow_ups_.spread(at);
  }
}

}  // namespace tenure::engine
