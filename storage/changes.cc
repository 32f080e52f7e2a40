#include "storage/changes.h"

#include <algorithm>
#include <unordered_map>

namespace tenure {
namespace {

void CompareQueues(const ElectionState& loaded, const ElectionState& decided, Changes& changes) {
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

void CompareCoolDowns(const ElectionState& loaded, const ElectionState& decided, Changes& changes) {
  for (const auto& [candidate, until] : decided.cool_downs) {
    const auto before = loaded.cool_downs.find(candidate);
    const bool same =
        !decided.emptied && before != loaded.cool_downs.end() && before->second == until;
    if (!same) changes.cool_downs.push_back({&decided.election.name, &candidate, until});
  }
}

}  // namespace

Changes Compare(const TransactionState& loaded, const TransactionState& decided) {
  Changes changes;
  for (const auto& [name, state] : decided.elections) {
    const ElectionState& before = loaded.elections.at(name);
    if (state.purged) {
      changes.purged.push_back(&state.election.name);
      continue;
    }
    if (state.forgotten_before > Revision{0}) {
      changes.forgotten.emplace_back(&state.election.name, state.forgotten_before);
    }
    const bool changed = state.election != before.election || state.exists != before.exists;
    if (changed) changes.elections.push_back(&state.election);
    if (state.emptied) changes.emptied.push_back(&state.election.name);
    CompareQueues(before, state, changes);
    CompareCoolDowns(before, state, changes);
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

std::map<int, std::vector<const Event*>> EventsByPartition(const TransactionState& decided) {
  std::map<int, std::vector<const Event*>> partitions;
  for (const Event& event : decided.events) {
    partitions[PartitionOf(event.election)].push_back(&event);
  }
  for (const auto& [name, state] : decided.elections) {
    if (state.purged) partitions[PartitionOf(name)];
  }
  return partitions;
}

std::pair<SessionId, SessionId> SessionIdsOf(std::string_view handle) {
  const std::string digits(handle);
  const std::string rest(handle.size(), '0');
  return {SessionId::FromHex(digits + rest).value(),
          SessionId::FromHex(digits + std::string(handle.size(), 'f')).value()};
}

std::set<std::string> CreatorsIn(const LockSet& locks, const TransactionState& loaded) {
  std::set<std::string> creators;
  for (const auto& [name, state] : loaded.elections) {
    if (state.exists) continue;
    const std::set<std::string>& more = locks.elections.at(name).creators;
    creators.insert(more.begin(), more.end());
  }
  return creators;
}

void FinishLoading(TransactionState& transaction) {
  for (auto& [name, state] : transaction.elections) {
    std::ranges::sort(state.queue, std::ranges::less{}, &Candidacy::session);
    const auto same = [](const Candidacy& a, const Candidacy& b) { return a.session == b.session; };
    state.queue.erase(std::unique(state.queue.begin(), state.queue.end(), same), state.queue.end());
    for (Candidacy& candidacy : state.queue) {
      const auto session = transaction.sessions.find(candidacy.session);
      if (session == transaction.sessions.end()) continue;
      candidacy.lease_ttl = session->second.lease_ttl;
      if (candidacy.candidate.empty()) candidacy.candidate = session->second.candidate;
    }
    std::ranges::sort(state.queue,
                      [](const Candidacy& a, const Candidacy& b) { return a.Before(b); });
  }
}

}  // namespace tenure
