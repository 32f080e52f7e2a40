#include "core/homes/kept_sessions.h"

#include <algorithm>
#include <utility>

#include "core/law/adaptive_lease.h"

namespace tenure {

void KeptSessions::Opened(const Session& session, ServiceTime now) {
  Adopted(session, now, Duration::zero());
}

void KeptSessions::Adopted(const Session& session, ServiceTime now, Duration grace) {
  Found(session, now, grace);
  (void)Renew(session.id, now);
}

void KeptSessions::Found(const Session& session, ServiceTime now, Duration grace) {
  Pass(now);
  const auto known = entries_.find(session.id);
  if (known != entries_.end() && known->second.session.moves >= session.moves) return;
  if (IsOld(session)) return;
  const auto [it, is_new] = entries_.try_emplace(session.id);
  Entry& entry = it->second;
  if (!is_new) IndexOf(entry).erase({entry.indexed, session.id});
  const ServiceTime due = now + grace + session.lease_ttl;
  entry = {session, State::kKept, now, due, due};
  waiting_.insert({due, session.id});
}

std::optional<KeptSessions::Renewal> KeptSessions::Renew(const SessionId& id, ServiceTime now) {
  Pass(now);
  Entry* kept = FindKept(id);
  if (kept == nullptr) return std::nullopt;
  Renewal renewal{kept->session, kept->due - now};
  renewal.session.lease_ttl = LeaseAfterCalm(kept->session, now - kept->since);
  kept->due = std::max(kept->due, now + renewal.session.lease_ttl);
  return renewal;
}

const Session* KeptSessions::Find(const SessionId& id) const {
  const auto found = entries_.find(id);
  const bool kept = found != entries_.end() && found->second.state == State::kKept;
  return kept ? &found->second.session : nullptr;
}

void KeptSessions::Forget(const SessionId& id) {
  if (Entry* kept = FindKept(id)) kept->state = State::kForgotten;
}

void KeptSessions::Departed(const SessionId& id, uint64_t moves) { RemoveBelow(id, moves); }

void KeptSessions::Clear() { *this = {}; }

std::vector<KeptSessions::Silent> KeptSessions::TakeSilent(ServiceTime now, size_t limit) {
  Pass(now);
  std::vector<Silent> silent;
  while (silent.size() < limit && !waiting_.empty() && waiting_.begin()->at <= now) {
    auto node = waiting_.extract(waiting_.begin());
    Entry& entry = entries_.at(node.value().id);
    const bool is_due = entry.indexed == entry.due;
    if (is_due) {
      entry.state = State::kEnding;
      silent.push_back({node.value().id, entry.session.moves});
    }
    node.value().at = entry.indexed = entry.due;
    IndexOf(entry).insert(std::move(node));
  }
  return silent;
}

void KeptSessions::Ended(const Silent& silent) { RemoveBelow(silent.id, silent.moves + 1); }

void KeptSessions::NotEnded(const Silent& silent) {
  const auto found = entries_.find(silent.id);
  if (found == entries_.end()) return;
  Entry& entry = found->second;
  if (entry.state != State::kEnding || entry.session.moves != silent.moves) return;
  entry.state = State::kForgotten;
  waiting_.insert(ending_.extract({entry.indexed, silent.id}));
}

std::optional<ServiceTime> KeptSessions::NextDue() const {
  if (waiting_.empty()) return std::nullopt;
  return waiting_.begin()->at;
}

std::optional<ServiceTime> KeptSessions::OldestDue() const {
  std::optional<ServiceTime> oldest;
  if (!ending_.empty()) oldest = ending_.begin()->at;
  for (const Indexed& indexed : waiting_) {
    if (indexed.at > oldest.value_or(latest_)) break;
    const ServiceTime due = entries_.at(indexed.id).due;
    if (due <= oldest.value_or(latest_)) oldest = due;
  }
  return oldest;
}

void KeptSessions::Pass(ServiceTime now) {
  latest_ = std::max(latest_, now);
  if (latest_ - removed_from_ < kReplyMax) return;
  removed_from_ = latest_;
  removed_before_ = std::exchange(removed_, {});
}

bool KeptSessions::IsOld(const Session& session) const {
  for (const Removed* removed : {&removed_, &removed_before_}) {
    const auto found = removed->find(session.id);
    if (found != removed->end() && session.moves < found->second) return true;
  }
  return false;
}

KeptSessions::Entry* KeptSessions::FindKept(const SessionId& id) {
  const auto found = entries_.find(id);
  return found != entries_.end() && found->second.state == State::kKept ? &found->second : nullptr;
}

void KeptSessions::RemoveBelow(const SessionId& id, uint64_t moves) {
  uint64_t& lowest = removed_[id];
  lowest = std::max(lowest, moves);
  const auto found = entries_.find(id);
  if (found == entries_.end() || found->second.session.moves >= moves) return;
  IndexOf(found->second).erase({found->second.indexed, id});
  entries_.erase(found);
}

}  // namespace tenure
