#include "client/tool/top/model.h"

#include <utility>

#include "client/tool/moments.h"
#include "proto/time.h"

namespace tenure::top {
namespace {

constexpr size_t kChangesKept = 200;

}  // namespace

void Model::Listed(std::vector<v1::Election> elections, Time asked_at, Time now) {
  std::map<std::string, Entry> before = std::exchange(entries_, {});
  for (v1::Election& election : elections) {
    const std::string name = election.name();
    if (election.has_leader()) election.mutable_leader()->clear_value();
    Entry entry{std::move(election), now, {}};
    const auto known = before.find(name);
    if (known != before.end()) {
      entry.changed_at = known->second.changed_at;
      const v1::Election& newer = known->second.election;
      if (newer.revision() > entry.election.revision()) {
        Lead(entry, newer.revision(), newer.term(), newer.has_leader() ? &newer.leader() : nullptr,
             known->second.changed_at);
      }
    }
    entries_.insert_or_assign(name, std::move(entry));
  }
  // Keeps elections created while the list was read.
  for (auto& [name, entry] : before) {
    if (entry.changed_at >= asked_at) entries_.try_emplace(name, std::move(entry));
  }
}

void Model::Observed(const v1::ObserveResponse& response, Time now) {
  observing_ = true;
  if (response.has_snapshot()) {
    const v1::Snapshot& snapshot = response.snapshot();
    if (snapshot.revision() == 0) return;  // nobody has ever stood for it
    Lead(entries_[snapshot.election()], snapshot.revision(), snapshot.term(),
         snapshot.has_leader() ? &snapshot.leader() : nullptr, now);
  } else if (response.has_event()) {
    const v1::Event& event = response.event();
    const bool over = event.type() == v1::Event::TYPE_VACATED;
    const bool deleted = over && event.cause() == v1::CAUSE_DELETED;
    if (deleted) {
      entries_.erase(event.election());
    } else {
      Entry& entry = entries_[event.election()];
      Lead(entry, event.revision(), event.leadership().term(), over ? nullptr : &event.leadership(),
           now);
      // Until the next list has more.
      if (event.type() == v1::Event::TYPE_ELECTED) entry.election.clear_appointment();
      if (event.type() == v1::Event::TYPE_HANDOVER_ASKED) {
        entry.election.mutable_appointment()->set_candidate(event.leadership().successor());
      }
    }
    changes_.push_front(event);
    changes_.front().mutable_leadership()->clear_value();
    if (changes_.size() > kChangesKept) changes_.pop_back();
  }
}

void Model::Lead(Entry& entry, uint64_t revision, uint64_t term, const v1::Leadership* leader,
                 Time now) {
  v1::Election& election = entry.election;
  entry.changed_at = now;
  if (revision < election.revision()) return;
  const bool new_term = term != election.term() || !election.has_leader();
  election.set_revision(revision);
  election.set_term(term);
  if (leader == nullptr) {
    election.clear_leader();
    election.clear_lease_left();
    return;
  }
  election.set_name(leader->election());
  *election.mutable_leader() = *leader;
  election.mutable_leader()->clear_value();
  if (new_term) {
    *election.mutable_lease_left() = leader->lease_ttl();
    entry.read_at = now;
  }
}

std::vector<v1::Election> Model::Elections(Time now) const {
  std::vector<v1::Election> elections;
  elections.reserve(entries_.size());
  for (const auto& [name, entry] : entries_) {
    v1::Election& election = elections.emplace_back(entry.election);
    election.set_name(name);
    if (!election.has_lease_left()) continue;
    const auto passed = std::chrono::duration_cast<Duration>(now - entry.read_at);
    *election.mutable_lease_left() = ToProto(DurationOf(election.lease_left()) - passed);
  }
  return elections;
}

}  // namespace tenure::top
