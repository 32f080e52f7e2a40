#include "server/engine/publisher.h"

#include <algorithm>
#include <utility>

#include "server/engine/leadership_log.h"
#include "server/engine/transaction_metrics.h"
#include "server/log/log.h"

namespace tenure::engine {
namespace {

void Log(const std::vector<AdminChange>& changes) {
  for (const AdminChange& change : changes) {
    LogInfo("operator change", {{"action", std::string(AdminActionName(change.action))},
                                {"election", change.election.bytes},
                                {"term", change.term.value},
                                {"detail", change.detail},
                                {"by", change.asker.identity},
                                {"reason", change.asker.reason}});
  }
}

}  // namespace

Publisher::Publisher(Metrics& metrics, Lineage& lineage, WatchHub& hub, ChangeFeed& feed,
                     Remainders remainders)
    : metrics_(metrics),
      lineage_(lineage),
      hub_(hub),
      feed_(feed),
      remainders_(std::move(remainders)) {}

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
  for (const SessionId& id : transaction.ended) hub_.TellSessionEnded(transaction.sessions.at(id));
  if (!transaction.ended.empty()) remainders_.settle(transaction.ended);
  for (const ElectionName& name : transaction.undecided) remainders_.reconcile(name);
  for (const PartitionOffset& at : committed.offsets) {
    std::vector<Event> events;
    for (const Event& event : transaction.events) {
      if (PartitionOf(event.election) == at.partition) events.push_back(event);
    }
    feed_.OnCommitted(at, std::move(events));
    if (remainders_.spread) remainders_.spread(at);
  }
}

}  // namespace tenure::engine
