#include "storage/changes.h"

#include <algorithm>
#include <unordered_map>

namespace tenure {
namespace {

void CompareQueues(const Contest& loaded, const Contest& decided, Changes& changes) {
  std::unordered_map<SessionId, const Candidacy*> before;
  if (!decided.emptied) {
    for (const Candidacy& candidacy : loaded.queue) before.emplace(candidacy.session, &candidacy);
  }
  for (const Candidacy& candidacy : decided.queue) {
    const auto old = before.extract(candidacy.session);
    if (old.empty() || *old.mapped() != candidacy) {
      changes.candidacies.emplace_back(&decided.election.name, &candidacy);
    }
  }
  for (const auto& [session, candidacy] : before) {
    changes.departed.push_back({decided.election.name, session});
  }
}

void CompareCoolDowns(const Contest& loaded, const Contest& decided, Changes& changes) {
  for (const auto& [candidate, until] : decided.cool_downs) {
    const auto before = loaded.cool_downs.find(candidate);
    const bool same =
        !decided.emptied && before != loaded.cool_downs.end() && before->second == until;
    if (!same) changes.cool_downs.push_back({&decided.election.name, &candidate, until});
  }
}

}  // namespace

Changes Compare(const Docket& loaded, const Docket& decided) {
  Changes changes;
  for (const auto& [name, contest] : decided.contests) {
    const Contest& before = loaded.contests.at(name);
    const bool changed = contest.election != before.election || contest.exists != before.exists;
    if (changed) changes.elections.push_back(&contest.election);
    if (contest.emptied) changes.emptied.push_back(&contest.election.name);
    CompareQueues(before, contest, changes);
    CompareCoolDowns(before, contest, changes);
  }
  for (const auto& [id, session] : decided.sessions) {
    const auto before = loaded.sessions.find(id);
    if (before == loaded.sessions.end()) {
      changes.opened.push_back(&session);
    } else if (before->second != session) {
      changes.sessions.push_back(&session);
    }
  }
  return changes;
}

std::map<int, std::vector<const Event*>> EventsByLane(const std::vector<Event>& events) {
  std::map<int, std::vector<const Event*>> lanes;
  for (const Event& event : events) lanes[LaneOf(event.election)].push_back(&event);
  return lanes;
}

std::pair<SessionId, SessionId> SessionIdsOf(std::string_view handle) {
  const std::string digits(handle);
  const std::string rest(handle.size(), '0');
  return {SessionId::FromHex(digits + rest).value(),
          SessionId::FromHex(digits + std::string(handle.size(), 'f')).value()};
}

void FinishLoading(Docket& docket) {
  for (auto& [name, contest] : docket.contests) {
    std::ranges::sort(contest.queue, std::ranges::less{}, &Candidacy::session);
    const auto twice = std::ranges::unique(contest.queue, {}, &Candidacy::session);
    contest.queue.erase(twice.begin(), twice.end());
    for (Candidacy& candidacy : contest.queue) {
      const auto session = docket.sessions.find(candidacy.session);
      if (session == docket.sessions.end()) continue;
      candidacy.lease_ttl = session->second.lease_ttl;
      if (candidacy.candidate.empty()) candidacy.candidate = session->second.candidate;
    }
    std::ranges::sort(contest.queue,
                      [](const Candidacy& a, const Candidacy& b) { return a.Before(b); });
  }
}

}  // namespace tenure
