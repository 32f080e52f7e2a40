#include "metrics/election_series.h"

#include <algorithm>
#include <utility>

namespace tenure {

ElectionSeries::ElectionSeries(prometheus::Family<prometheus::Gauge>& terms,
                               prometheus::Family<prometheus::Gauge>& has_leader,
                               prometheus::Family<prometheus::Gauge>& leader_info,
                               prometheus::Family<prometheus::Counter>& changes,
                               size_t elections_max, std::vector<std::string> prefixes)
    : terms_(terms),
      has_leader_(has_leader),
      leader_info_(leader_info),
      changes_(changes),
      elections_max_(elections_max),
      prefixes_(std::move(prefixes)) {}

void ElectionSeries::Heard(const Event& event) {
  if (event.cause == Cause::kDeleted) return Forget(event.election);
  const MutexLock lock(mutex_);
  Series* series = FindOrAdd(event.election);
  if (series == nullptr) return;
  const bool led = event.type != EventType::kVacated;
  Show(event.election, *series, event.revision, event.term, led ? event.leader.candidate : "");
}

void ElectionSeries::Read(const Election& election) {
  const MutexLock lock(mutex_);
  if (election.deleted) {
    const auto listed = listed_.find(election.name);
    // It may have been created again since.
    if (listed != listed_.end() && election.revision >= listed->second.revision) Remove(listed);
    return;
  }
  Series* series = FindOrAdd(election.name);
  if (series == nullptr) return;
  Show(election.name, *series, election.revision, election.term,
       election.leader ? election.leader->candidate : "");
}

void ElectionSeries::Forget(const ElectionName& name) {
  const MutexLock lock(mutex_);
  const auto listed = listed_.find(name);
  if (listed != listed_.end()) Remove(listed);
}

void ElectionSeries::ForgetAll() {
  const MutexLock lock(mutex_);
  while (!listed_.empty()) Remove(listed_.begin());
}

std::vector<ElectionName> ElectionSeries::Listed() const {
  const MutexLock lock(mutex_);
  std::vector<ElectionName> names;
  for (const auto& [name, series] : listed_) names.push_back(name);
  return names;
}

bool ElectionSeries::HasRoom() const {
  const MutexLock lock(mutex_);
  return listed_.size() < elections_max_;
}

ElectionSeries::Series* ElectionSeries::FindOrAdd(const ElectionName& name) {
  const auto listed = listed_.find(name);
  if (listed != listed_.end()) return &listed->second;
  const bool wanted =
      prefixes_.empty() || std::ranges::any_of(prefixes_, [&](const std::string& prefix) {
        return name.bytes.starts_with(prefix);
      });
  if (!wanted || listed_.size() >= elections_max_) return nullptr;
  const prometheus::Labels labels = {{"election", name.bytes}};
  const Series series{.term = &terms_.Add(labels),
                      .has_leader = &has_leader_.Add(labels),
                      .changes = &changes_.Add(labels)};
  return &listed_.emplace(name, series).first->second;
}

void ElectionSeries::Remove(std::unordered_map<ElectionName, Series>::iterator listed) {
  terms_.Remove(listed->second.term);
  has_leader_.Remove(listed->second.has_leader);
  if (listed->second.leader_info != nullptr) leader_info_.Remove(listed->second.leader_info);
  changes_.Remove(listed->second.changes);
  listed_.erase(listed);
}

void ElectionSeries::Show(const ElectionName& name, Series& series, Revision revision, Term term,
                          const std::string& leader) {
  if (revision < series.revision) return;
  series.changes->Increment(static_cast<double>(revision.value - series.revision.value));
  series.revision = revision;
  series.term->Set(static_cast<double>(term.value));
  series.has_leader->Set(leader.empty() ? 0 : 1);
  if (leader == series.leader) return;
  if (series.leader_info != nullptr) leader_info_.Remove(series.leader_info);
  series.leader = leader;
  series.leader_info = nullptr;
  if (leader.empty()) return;
  series.leader_info = &leader_info_.Add({{"election", name.bytes}, {"candidate", leader}});
  series.leader_info->Set(1);
}

}  // namespace tenure
