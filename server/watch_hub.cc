#include "server/watch_hub.h"

#include <utility>

namespace tenure {
namespace {

template <typename Map, typename Key>
void RemoveFrom(Map& map, const Key& key, Watcher* watcher) {
  const auto found = map.find(key);
  if (found == map.end()) return;
  found->second.erase(watcher);
  if (found->second.empty()) map.erase(found);
}

template <typename Map, typename Key, typename Tell>
void TellAll(Map& map, const Key& key, Tell tell) {
  const auto found = map.find(key);
  if (found == map.end()) return;
  for (Watcher* watcher : found->second) tell(*watcher);
}

}  // namespace

bool WatchHub::Membership::Add(const Watch& watch) {
  if (!watches_.insert(watch).second) return false;
  hub_->AddWatch(watcher_.get(), watch);
  return true;
}

void WatchHub::Membership::Remove(const Watch& watch) {
  if (watches_.erase(watch) > 0) hub_->RemoveWatch(watcher_.get(), watch);
}

void WatchHub::Membership::Leave() {
  if (hub_ == nullptr) return;
  std::exchange(hub_, nullptr)->RemoveAll(watcher_.get(), watches_);
  watches_.clear();
  watcher_.reset();
}

Result<WatchHub::Membership> WatchHub::Join(std::shared_ptr<Watcher> watcher) {
  const std::lock_guard lock(mutex_);
  if (draining_) return Fail(Reason::kDraining, "this replica is shutting down");
  if (members_.size() >= watchers_max_) {
    return Fail(Reason::kOverloaded, "this replica already has " + std::to_string(watchers_max_) +
                                         " waiting calls and observers, its maximum");
  }
  members_.emplace(watcher.get(), watcher);
  return Membership(this, std::move(watcher));
}

void WatchHub::Tell(Event event) {
  const auto shared = std::make_shared<const Event>(std::move(event));
  const auto tell = [&](Watcher& watcher) { watcher.OnEvent(shared); };
  const std::lock_guard lock(mutex_);
  TellAll(by_session_, shared->leader.session, tell);
  TellAll(by_election_, shared->election, tell);
  const std::string_view name = shared->election.bytes;
  for (size_t length = 0; length <= name.size(); ++length) {
    TellAll(by_prefix_, name.substr(0, length), tell);
  }
}

void WatchHub::TellSessionEnded(const Session& session) {
  const std::lock_guard lock(mutex_);
  TellAll(by_session_, session.id, [&](Watcher& watcher) { watcher.OnSessionEnded(session); });
}

void WatchHub::TellReset() {
  const std::lock_guard lock(mutex_);
  for (const auto& [watcher, kept] : members_) watcher->OnReset();
}

void WatchHub::Drain() {
  const std::lock_guard lock(mutex_);
  draining_ = true;
  for (const auto& [watcher, kept] : members_) watcher->OnDrain();
}

size_t WatchHub::watchers() const {
  const std::lock_guard lock(mutex_);
  return members_.size();
}

bool WatchHub::draining() const {
  const std::lock_guard lock(mutex_);
  return draining_;
}

void WatchHub::AddWatch(Watcher* watcher, const Watch& watch) {
  const std::lock_guard lock(mutex_);
  if (const auto* election = std::get_if<WatchElection>(&watch)) {
    by_election_[election->name].insert(watcher);
  } else if (const auto* prefix = std::get_if<WatchPrefix>(&watch)) {
    by_prefix_[prefix->prefix].insert(watcher);
  } else {
    by_session_[std::get<WatchSession>(watch).session].insert(watcher);
  }
}

void WatchHub::RemoveWatch(Watcher* watcher, const Watch& watch) {
  const std::lock_guard lock(mutex_);
  Forget(watcher, watch);
}

void WatchHub::RemoveAll(Watcher* watcher, const std::set<Watch>& watches) {
  std::shared_ptr<Watcher> last;  // destroyed without the lock
  const std::lock_guard lock(mutex_);
  for (const Watch& watch : watches) Forget(watcher, watch);
  const auto member = members_.find(watcher);
  if (member == members_.end()) return;
  last = std::move(member->second);
  members_.erase(member);
}

void WatchHub::Forget(Watcher* watcher, const Watch& watch) {
  if (const auto* election = std::get_if<WatchElection>(&watch)) {
    RemoveFrom(by_election_, election->name, watcher);
  } else if (const auto* prefix = std::get_if<WatchPrefix>(&watch)) {
    RemoveFrom(by_prefix_, prefix->prefix, watcher);
  } else {
    RemoveFrom(by_session_, std::get<WatchSession>(watch).session, watcher);
  }
}

}  // namespace tenure
