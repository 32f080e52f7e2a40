#include "core/law/remembered.h"

#include <algorithm>

namespace tenure {
namespace {

// Equal except for where it is kept: it may have moved since.
bool SameSession(Session a, const Session& b) {
  a.home = b.home;
  a.moves = b.moves;
  return a == b;
}

// Equal except for what a grant, a resignation, a new place or a new value changes.
bool SameSettings(Election a, const Election& b) {
  a.term = b.term;
  a.revision = b.revision;
  a.next_ticket = b.next_ticket;
  a.waiting = b.waiting;
  a.leader = b.leader;
  a.wake_at = b.wake_at;
  a.vacancy = b.vacancy;
  return a == b;
}

}  // namespace

bool IsPlain(const ElectionState& state) {
  const Election& election = state.election;
  const Settings& settings = election.settings;
  const bool stands = state.exists && !election.deleted && !election.paused;
  const bool delays = settings.lock_delay > Duration(0) || settings.min_hold > Duration(0) ||
                      election.vacant_until > DbTime{} || election.cooling_until > DbTime{};
  return stands && !delays && !election.appointment && election.waiting == 0 && !election.wake_at;
}

bool StillHolds(const TransactionState& remembered, const TransactionState& loaded) {
  if (std::chrono::abs(loaded.now - remembered.now) > kRememberedClockTolerance) return false;
  for (const auto& [name, state] : remembered.elections) {
    const auto found = loaded.elections.find(name);
    if (found == loaded.elections.end() || found->second.election != state.election) return false;
    if (!found->second.exists) return false;
  }
  for (const auto& [id, session] : remembered.sessions) {
    const auto found = loaded.sessions.find(id);
    if (found == loaded.sessions.end() || !found->second.Alive()) return false;
    if (!SameSession(session, found->second)) return false;
  }
  return loaded.sessions.size() == remembered.sessions.size();
}

bool MayCommitFromMemory(const TransactionState& remembered, const TransactionState& decided) {
  const bool final = decided.busy.empty() && decided.busy_sessions.empty() &&
                     decided.ended.empty() && decided.undecided.empty();
  const bool elsewhere = !decided.admin_changes.empty() || !decided.departures.empty();
  if (!final || decided.events.empty() || elsewhere) return false;
  const auto elections = std::ranges::all_of(decided.elections, [&](const auto& entry) {
    const auto& [name, state] = entry;
    return !state.emptied && state.cool_downs.empty() &&
           SameSettings(remembered.elections.at(name).election, state.election);
  });
  return elections && std::ranges::all_of(decided.sessions, [&](const auto& entry) {
           const auto before = remembered.sessions.find(entry.first);
           if (before == remembered.sessions.end()) return true;  // opened
           return SameSession(before->second, entry.second);
         });
}

}  // namespace tenure
