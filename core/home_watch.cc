#include "core/home_watch.h"

#include <utility>

namespace tenure {

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
    if (living.since + living.row.good_for <= now) overdue.push_back(living.row);
  }
  return overdue;
}

std::vector<HomeWatch::Orphaned> HomeWatch::Orphans(ServiceTime now) const {
  std::vector<Orphaned> orphans;
  for (const auto& [home, since] : gone_) orphans.push_back({home, now - since});
  return orphans;
}

}  // namespace tenure
