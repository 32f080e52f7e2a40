#include "core/homes/home_watch.h"

#include <algorithm>
#include <utility>

namespace tenure {
namespace {

// Caps what a row says: no version of a replica needs longer.
constexpr Duration kGoodForMax = std::chrono::hours(1);

}  // namespace

ServiceTime HomeWatch::Living::Overdue() const {
  return since + std::clamp(row.good_for, Duration(0), kGoodForMax);
}

void HomeWatch::Saw(const std::vector<HomeRow>& living, const std::vector<HomeId>& gone,
                    ServiceTime now) {
  const auto living_before = std::exchange(living_, {});
  for (const HomeRow& row : living) {
    const auto before = living_before.find(row.id);
    const bool stopped = before != living_before.end() && before->second.row.beat == row.beat;
    living_[row.id] = {row, stopped ? before->second.since : now};
  }
  const auto gone_before = std::exchange(gone_, {});
  for (const HomeId home : gone) {
    const auto before = gone_before.find(home);
    gone_[home] = before != gone_before.end() ? before->second : now;
  }
}

std::vector<HomeRow> HomeWatch::Overdue(ServiceTime now) const {
  std::vector<HomeRow> overdue;
  for (const auto& [home, living] : living_) {
    if (living.Overdue() <= now) overdue.push_back(living.row);
  }
  return overdue;
}

std::optional<ServiceTime> HomeWatch::NextOverdue() const {
  std::optional<ServiceTime> next;
  for (const auto& [home, living] : living_) {
    if (!next || living.Overdue() < *next) next = living.Overdue();
  }
  return next;
}

void HomeWatch::Died(HomeId home, ServiceTime now) {
  living_.erase(home);
  gone_.try_emplace(home, now);
}

std::vector<HomeWatch::Orphaned> HomeWatch::Orphans(ServiceTime now) const {
  std::vector<Orphaned> orphans;
  for (const auto& [home, since] : gone_) orphans.push_back({home, now - since});
  return orphans;
}

}  // namespace tenure
