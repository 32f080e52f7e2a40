#include "server/engine/feed/leadership_log.h"

#include <algorithm>
#include <chrono>
#include <map>

namespace tenure::engine {
namespace {

double Seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

}  // namespace

std::vector<LeadershipChange> LeadershipChanges(const TransactionState& transaction,
                                                const std::vector<std::string>& traces) {
  std::vector<LeadershipChange> changes;
  std::map<ElectionName, size_t> vacated;  // changes after which nobody leads yet
  size_t grants = 0;
  for (size_t i = 0; i < transaction.events.size(); ++i) {
    const Event& event = transaction.events[i];
    if (event.type != EventType::kElected && event.type != EventType::kVacated) continue;
    LeadershipChange change{.election = event.election.bytes,
                            .term = event.term.value,
                            .from = {},
                            .to = {},
                            .cause = {},
                            .session = event.leader.session.Handle(),
                            .trace = i < traces.size() ? traces[i] : ""};
    if (event.type == EventType::kVacated) {
      change.from = event.leader.candidate;
      change.cause = CauseName(event.cause);
      vacated[event.election] = changes.size();
      changes.push_back(std::move(change));
      continue;
    }
    const auto& vacancy = transaction.successions[grants++].vacancy;
    change.to = event.leader.candidate;
    if (vacancy) {
      change.cause = CauseName(vacancy->cause);
      change.leaderless_seconds = Seconds(std::max(Duration(0), transaction.now - vacancy->since));
    }
    const auto before = vacated.extract(event.election);
    if (before.empty()) {
      changes.push_back(std::move(change));
      continue;
    }
    change.from = changes[before.mapped()].from;
    changes[before.mapped()] = std::move(change);
  }
  return changes;
}

void LogLeadership(const TransactionState& transaction, const std::vector<std::string>& traces) {
  for (const LeadershipChange& change : LeadershipChanges(transaction, traces)) {
    LogInfo("leader changed", {{"election", change.election},
                               {"term", change.term},
                               {"from", change.from},
                               {"to", change.to},
                               {"cause", change.cause},
                               {"leaderless_s", change.leaderless_seconds},
                               {"session", change.session},
                               {"trace", change.trace}});
  }
}

}  // namespace tenure::engine
