#include "server/engine/publisher.h"

#include <algorithm>
#include <utility>

#include "server/engine/leadership_log.h"
#include "server/engine/tally.h"
#include "server/log/log.h"

namespace tenure {
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
  const Docket& docket = committed.docket;
  Tally(metrics_, docket);
  Duration longest_lease{0};
  for (const auto& [id, session] : docket.sessions) {
    longest_lease = std::max(longest_lease, session.lease_ttl);
  }
  lineage_.SawLease(longest_lease);
  LogLeadership(docket, traces);
  Log(docket.admin_changes);
  for (const SessionId& id : docket.ended) hub_.TellSessionEnded(docket.sessions.at(id));
  if (!docket.ended.empty()) remainders_.settle(docket.ended);
  for (const ElectionName& name : docket.unsettled) remainders_.reconcile(name);
  for (const LanePosition& at : committed.positions) {
    std::vector<Event> events;
    for (const Event& event : docket.events) {
      if (LaneOf(event.election) == at.lane) events.push_back(event);
    }
    feed_.OnCommitted(at, std::move(events));
  }
}

}  // namespace tenure
