#include "server/engine/state_cache.h"

#include <algorithm>
#include <utility>

#include "core/remembered.h"

namespace tenure::engine {
namespace {

template <typename Map>
void Put(Map& map, size_t max, const typename Map::key_type& key,
         const typename Map::mapped_type& value) {
  if (map.size() >= max && !map.contains(key)) map.clear();
  map.insert_or_assign(key, value);
}

}  // namespace

std::optional<TransactionState> StateCache::Find(const LockSet& locks, DbTime now) const {
  if (!locks.identities.empty() || locks.patient) return std::nullopt;
  TransactionState state;
  state.now = now;
  const MutexLock lock(mutex_);
  const auto add = [&](const SessionId& id) TENURE_REQUIRES(mutex_) {
    const auto session = sessions_.find(id);
    if (session == sessions_.end()) return false;
    if (!session->second.AliveAt(now)) return false;
    state.sessions.insert(*session);
    return true;
  };
  if (!std::ranges::all_of(locks.sessions, add)) return std::nullopt;
  for (const auto& [name, part] : locks.elections) {
    const auto election = elections_.find(name);
    if (election == elections_.end()) return std::nullopt;
    const auto& leader = election->second.leader;
    if (leader && !add(leader->session)) return std::nullopt;
    for (const SessionId& id : part.sessions) {
      const bool known = sessions_.contains(id);
      if (known ? !add(id) : !locks.opened.contains(id)) return std::nullopt;
    }
    state.elections[name] = {election->second, true};
  }
  return state;
}

void StateCache::Remember(const TransactionState& committed) {
  const MutexLock lock(mutex_);
  for (const auto& [name, state] : committed.elections) {
    const auto known = elections_.find(name);
    // Two threads may report their commits in the other order.
    if (known != elections_.end() && known->second.revision > state.election.revision) continue;
    if (IsPlain(state)) {
      Put(elections_, kElectionsMax, name, state.election);
    } else {
      elections_.erase(name);
    }
  }
  for (const auto& [id, session] : committed.sessions) {
    if (session.ended != Cause::kNone) {
      sessions_.erase(id);
    } else {
      Put(sessions_, kSessionsMax, id, session);
    }
  }
}

void StateCache::Saw(const Event& event) {
  const MutexLock lock(mutex_);
  const auto known = elections_.find(event.election);
  if (known != elections_.end() && known->second.revision < event.revision) elections_.erase(known);
}

void StateCache::Forget(const LockSet& locks) {
  const MutexLock lock(mutex_);
  for (const auto& [name, part] : locks.elections) elections_.erase(name);
}

void StateCache::ForgetAll() {
  const MutexLock lock(mutex_);
  elections_.clear();
  sessions_.clear();
}

}  // namespace tenure::engine
