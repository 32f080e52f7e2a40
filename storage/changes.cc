#include "storage/changes.h"

#include <algorithm>
#include <unordered_map>

namespace tenure {
namespace {

void CompareQueues(const Contest& loaded, const Contest& decided, Changes& changes) {
  std::unordered_map<SessionId, const Candidacy*> before;
  for (const Candidacy& candidacy : loaded.queue) before.emplace(candidacy.session, &candidacy);
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

}  // namespace

Changes Compare(const Docket& loaded, const Docket& decided) {
  Changes changes;
  for (const auto& [name, contest] : decided.contests) {
    const Contest& before = loaded.contests.at(name);
    if (contest.election != before.election) changes.elections.push_back(&contest.election);
    CompareQueues(before, contest, changes);
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

void FinishLoading(Docket& docket) {
  for (auto& [name, contest] : docket.contests) {
    std::ranges::sort(contest.queue, std::ranges::less{}, &Candidacy::session);
    const auto twice = std::ranges::unique(contest.queue, {}, &Candidacy::session);
    contest.queue.erase(twice.begin(), twice.end());
    for (Candidacy& candidacy : contest.queue) {
      const auto session = docket.sessions.find(candidacy.session);
      if (session == docket.sessions.end()) continue;
      candidacy.candidate = session->second.candidate;
      candidacy.lease_ttl = session->second.lease_ttl;
    }
    std::ranges::sort(contest.queue,
                      [](const Candidacy& a, const Candidacy& b) { return a.Before(b); });
  }
}

}  // namespace tenure
