#include "server/engine/statistics_collector.h"

#include <algorithm>

namespace tenure::engine {
namespace {

constexpr size_t kElectionsPerRead = 1000;

}  // namespace

void StatisticsCollector::Take() {
  ReadListed();
  const size_t prefixes = std::max<size_t>(1, metrics_.election_series.prefixes().size());
  for (size_t i = 0; i < prefixes; ++i) ReadMore();
  const auto statistics = store_.ReadStatistics();
  if (!statistics) return;
  {
    const MutexLock lock(mutex_);
    latest_ = *statistics;
  }
  metrics_.elections.Set(static_cast<double>(statistics->elections));
  metrics_.elections_leaderless.Set(static_cast<double>(statistics->leaderless));
  metrics_.elections_vacant.Set(static_cast<double>(statistics->vacant));
  metrics_.candidates.Set(static_cast<double>(statistics->candidates));
  metrics_.sessions.Set(static_cast<double>(statistics->sessions));
  const size_t listed = metrics_.election_series.Listed().size();
  metrics_.elections_unlisted.Set(
      statistics->elections > listed ? static_cast<double>(statistics->elections - listed) : 0);
}

std::optional<Statistics> StatisticsCollector::latest() const {
  const MutexLock lock(mutex_);
  return latest_;
}

void StatisticsCollector::ReadListed() {
  const std::vector<ElectionName> names = metrics_.election_series.Listed();
  if (names.empty()) return;
  const auto views = store_.ReadElections(names);
  if (!views) return;
  for (const ElectionName& name : names) {
    const auto view = views->find(name);
    if (view == views->end()) {
      metrics_.election_series.Forget(name);
    } else {
      metrics_.election_series.Read(view->second.election);
    }
  }
}

void StatisticsCollector::ReadMore() {
  if (!metrics_.election_series.HasRoom()) return;
  const std::vector<std::string>& prefixes = metrics_.election_series.prefixes();
  const std::string prefix = prefixes.empty() ? "" : prefixes[prefix_];
  const auto views = store_.ListElections(prefix, after_, kElectionsPerRead);
  if (!views) return;
  for (const ElectionView& view : *views) metrics_.election_series.Read(view.election);
  if (views->size() == kElectionsPerRead) {
    after_ = views->back().election.name.bytes;
  } else {
    after_.clear();
    prefix_ = prefixes.empty() ? 0 : (prefix_ + 1) % prefixes.size();
  }
}

}  // namespace tenure::engine
