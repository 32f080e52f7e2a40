#include "server/engine/feed/state_cache.h"

#include <algorithm>
#include <utility>

#include "core/law/remembered.h"

namespace tenure::engine {

StateCache::Moment StateCache::Now() const {
  const MutexLock lock(mutex_);
  return now_;
}

std::optional<TransactionState> StateCache::Find(const LockSet& locks, DbTime now) const {
  if (!locks.identities.empty() || locks.patient) return std::nullopt;
  TransactionState state;
  state.now = now;
  const MutexLock lock(mutex_);
  const auto add = [&](const SessionId& id) TENURE_REQUIRES(mutex_) {
    const auto session = sessions_.find(id);
    if (session == sessions_.end()) return false;
    state.sessions.insert(*session);
    return true;
  };
  if (!std::ranges::all_of(locks.sessions, add)) return std::nullopt;
  for (const auto& [name, part] : locks.elections) {
    if (part.past) return std::nullopt;
    const auto election = elections_.find(name);
    if (election == elections_.end()) return std::nullopt;
    const auto& leader = election->second.election.leader;
    if (leader && !add(leader->session)) return std::nullopt;
    for (const SessionId& id : part.sessions) {
      const bool known = sessions_.contains(id);
      if (known ? !add(id) : !locks.opened.contains(id)) return std::nullopt;
    }
    ElectionState& found = state.elections[name] = {election->second.election, true};
    if (!IsPlain(found)) return std::nullopt;
  }
  return state;
}

void StateCache::Remember(const Committed& committed, const Moment& begun) {
  const TransactionState& transaction = committed.transaction;
  const MutexLock lock(mutex_);
  if (begun.forgotten != now_.forgotten) return;
  for (const auto& [id, session] : transaction.sessions) {
    if (!session.Alive()) {
      sessions_.erase(id);
      continue;
    }
    // Sessions that others have ended stay here until they are looked up.
    if (sessions_.size() >= kSessionsMax) sessions_.clear();
    sessions_.insert_or_assign(id, session);
  }
  for (const auto& [name, state] : transaction.elections) {
    if (!state.exists) {
      elections_.erase(name);
      continue;
    }
    Known known{state.election, {}};
    const int partition = PartitionOf(name);
    for (const PartitionOffset& at : committed.offsets) {
      if (at.partition == partition) known.since = at.offset;
    }
    // Its later events may have been published before it was put here.
    if (known.since < now_.published[static_cast<size_t>(partition)]) known.since.reset();
    Put(name, std::move(known));
  }
}

void StateCache::Remember(const std::map<ElectionName, ElectionView>& views, const Moment& begun) {
  const MutexLock lock(mutex_);
  if (begun.forgotten != now_.forgotten) return;
  for (const auto& [name, view] : views) {
    const auto partition = static_cast<size_t>(PartitionOf(name));
    const bool changed_since = begun.published[partition] != now_.published[partition];
    if (view.election.deleted || changed_since) continue;
    Put(name, {view.election, begun.published[partition]});
  }
}

void StateCache::Put(const ElectionName& name, Known known) {
  const auto found = elections_.find(name);
  if (found == elections_.end()) {
    if (elections_.size() >= kElectionsMax) elections_.clear();
    elections_.emplace(name, std::move(known));
    return;
  }
  // Two threads may report what they saw in the other order.
  const Known& before = found->second;
  if (before.election.revision > known.election.revision) return;
  if (before.election.revision == known.election.revision && !known.since) {
    known.since = before.since;
  }
  found->second = std::move(known);
}

void StateCache::Forget(const LockSet& locks) {
  const MutexLock lock(mutex_);
  for (const auto& [name, part] : locks.elections) elections_.erase(name);
}

std::optional<Election> StateCache::Read(const ElectionName& name) const {
  const MutexLock lock(mutex_);
  const auto known = elections_.find(name);
  if (known == elections_.end() || !known->second.since) return std::nullopt;
  const Election& election = known->second.election;
  // An appointment may be withdrawn without an event; and somebody may have to fill a vacant seat.
  if (election.appointment || (!election.leader && !IsPlain({election, true}))) return std::nullopt;
  return election;
}

std::optional<Election> StateCache::Read(const ElectionName& name,
                                         const PartitionOffsets& offsets) const {
  const auto partition = static_cast<size_t>(PartitionOf(name));
  // Events that are published after this can only remove what is known.
  if (Now().published[partition] < offsets[partition]) return std::nullopt;
  return Read(name);
}

void StateCache::Published(int partition, uint64_t offset, const std::vector<Event>& events,
                           bool silent) {
  const MutexLock lock(mutex_);
  if (silent) {
    std::erase_if(elections_, [&](const auto& it) { return PartitionOf(it.first) == partition; });
  }
  for (const Event& event : events) {
    const auto known = elections_.find(event.election);
    if (known == elections_.end()) continue;
    if (known->second.election.revision < event.revision) elections_.erase(known);
  }
  now_.published[static_cast<size_t>(partition)] = offset;
}

void StateCache::ForgetAll() {
  const MutexLock lock(mutex_);
  elections_.clear();
  sessions_.clear();
  ++now_.forgotten;
}

}  // namespace tenure::engine
