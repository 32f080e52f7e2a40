#include "storage/trimming.h"

#include "core/limits.h"

namespace tenure {

std::optional<HistoryTrimmer::Cut> HistoryTrimmer::CutOf(Revision latest, Revision history_from,
                                                         Revision oldest, DbTime oldest_at) const {
  const uint64_t too_many =
      latest.value > retention_.events_max ? latest.value - retention_.events_max + 1 : 0;
  // Events that were hidden when terms were raised show what was lost, and are kept as long as
  // other history. They do not count as too many: their revisions are far below those that follow.
  const bool raised_since =
      history_from.value > oldest.value &&
      history_from.value - oldest.value > std::max(kBumpMin, retention_.events_max) &&
      latest.value - std::min(latest, history_from).value < retention_.events_max;
  const Cut cut{raised_since ? Revision{} : std::max(history_from, Revision{too_many}),
                {now_ - DbTime{retention_.age_max}},
                {now_ - DbTime{retention_.age_min}}};
  const bool may_go =
      oldest_at < cut.protected_from && (oldest < cut.below || oldest_at < cut.before);
  // Dated by a clock that was ahead: says nothing about later events.
  const bool from_the_future = oldest_at > now_;
  return oldest < latest && (may_go || from_the_future) ? std::optional(cut) : std::nullopt;
}

Trimmed HistoryTrimmer::Trim(const std::vector<ElectionHistory>& next, const ElectionName& after,
                             size_t limit, std::chrono::steady_clock::time_point deadline,
                             const Remove& remove) const {
  Trimmed trimmed{0, after};
  for (const ElectionHistory& history : next) {
    if (trimmed.deleted >= limit || std::chrono::steady_clock::now() > deadline) return trimmed;
    const auto& [election, latest, from, oldest] = history;
    const auto cut = oldest ? CutOf(latest, from, oldest->revision, oldest->at) : std::nullopt;
    if (cut) {
      const size_t deleted = remove(election, EndOfStep(latest, oldest->revision, limit), *cut);
      trimmed.deleted += deleted;
      if (deleted == limit) return trimmed;  // this one may have more
    }
    trimmed.last = election;
  }
  if (next.size() < kElectionsPerTrim) trimmed.last = {};
  return trimmed;
}

}  // namespace tenure
