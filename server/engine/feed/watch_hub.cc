#include "server/engine/feed/watch_hub.h"

#include <utility>

namespace tenure::engine {
namespace {

template <typename Map, typename Key>
void RemoveFrom(Map& map, const Key& key, uint64_t member) {
  const auto found = map.find(key);
  if (found == map.end()) return;
  found->second.erase(member);
  if (found->second.empty()) map.erase(found);
}

template <typename Map, typename Key, typename Notify>
void NotifyAll(Map& map, const Key& key, Notify notify) {
  const auto found = map.find(key);
  if (found == map.end()) return;
  for (const auto& [member, watcher] : found->second) notify(*watcher);
}

}  // namespace

void WatchHub::Membership::Add(const Watch& watch) {
  if (watches_.insert(watch).second) hub_->AddWatch(number_, watch);
}

void WatchHub::Membership::Remove(const Watch& watch) {
  if (watches_.erase(watch) > 0) hub_->RemoveWatch(number_, watch);
}

void WatchHub::Membership::Leave() {
  if (hub_ == nullptr) return;
  std::exchange(hub_, nullptr)->RemoveAll(number_, watches_);
  watches_.clear();
}

Result<WatchHub::Membership> WatchHub::Join(std::shared_ptr<Watcher> watcher) {
  const MutexLock lock(mutex_);
  if (draining_) return Fail(Reason::kDraining, "this replica is shutting down");
  if (members_.size() >= watchers_max_) {
    return Fail(Reason::kOverloaded, "this replica already has " + std::to_string(watchers_max_) +
                                         " waiting calls and observers, its maximum");
  }
  members_.emplace(++joined_, std::move(watcher));
  return Membership(this, joined_);
}

void WatchHub::Notify(Event event) {
  const auto shared = std::make_shared<const Event>(std::move(event));
  const auto tell = [&](Watcher& watcher) { watcher.OnEvent(shared); };
  const MutexLock lock(mutex_);
  NotifyAll(by_session_, shared->leader.session, tell);
  NotifyAll(by_election_, shared->election, tell);
  const std::string_view name = shared->election.bytes;
  for (size_t length = 0; length <= name.size(); ++length) {
    NotifyAll(by_prefix_, name.substr(0, length), tell);
  }
}

void WatchHub::NotifySessionEnded(const Session& session) {
  const MutexLock lock(mutex_);
  NotifyAll(by_session_, session.id, [&](Watcher& watcher) { watcher.OnSessionEnded(session); });
}

void WatchHub::NotifyReset() {
  const MutexLock lock(mutex_);
  for (const auto& [member, watcher] : members_) watcher->OnReset();
}

void WatchHub::Drain() {
  const MutexLock lock(mutex_);
  draining_ = true;
  for (const auto& [member, watcher] : members_) watcher->OnDrain();
}

size_t WatchHub::watchers() const {
  const MutexLock lock(mutex_);
  return members_.size();
}

bool WatchHub::draining() const {
  const MutexLock lock(mutex_);
  return draining_;
}

void WatchHub::AddWatch(Number member, const Watch& watch) {
  const MutexLock lock(mutex_);
  Watcher* const watcher = members_.at(member).get();
  if (const auto* election = std::get_if<WatchElection>(&watch)) {
    by_election_[election->name].emplace(member, watcher);
  } else if (const auto* prefix = std::get_if<WatchPrefix>(&watch)) {
    by_prefix_[prefix->prefix].emplace(member, watcher);
  } else {
    by_session_[std::get<WatchSession>(watch).session].emplace(member, watcher);
  }
}

void WatchHub::RemoveWatch(Number member, const Watch& watch) {
  const MutexLock lock(mutex_);
  Forget(member, watch);
}

void WatchHub::RemoveAll(Number member, const std::set<Watch>& watches) {
  decltype(members_)::node_type last;  // destroyed without the lock
  const MutexLock lock(mutex_);
  for (const Watch& watch : watches) Forget(member, watch);
  last = members_.extract(member);
}

void WatchHub::Forget(Number member, const Watch& watch) {
  if (const auto* election = std::get_if<WatchElection>(&watch)) {
    RemoveFrom(by_election_, election->name, member);
  } else if (const auto* prefix = std::get_if<WatchPrefix>(&watch)) {
    RemoveFrom(by_prefix_, prefix->prefix, member);
  } else {
    RemoveFrom(by_session_, std::get<WatchSession>(watch).session, member);
  }
}

}  // namespace tenure::engine
