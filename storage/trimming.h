// How history is trimmed: which events are too many or too old, and how far one step goes.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "core/types.h"
#include "storage/rows.h"
#include "storage/store.h"

namespace tenure {

// Maximum number of elections per step.
inline constexpr size_t kElectionsPerTrim = 1000;

// An election's history.
struct ElectionHistory {
  struct Oldest {
    Revision revision;
    DbTime at;
  };

  ElectionName election;
  Revision latest;
  Revision from;                 // earlier events are hidden
  std::optional<Oldest> oldest;  // nothing: there are no events
};

inline constexpr auto ToElectionHistory = [](const ReadableRow auto& row) {
  ElectionHistory history{ToName(row), {row.Unsigned(1)}, {row.Unsigned(2)}, {}};
  if (!row.IsNull(3)) history.oldest = {{row.Unsigned(3)}, Time(row, 4)};
  return history;
};

// Decides which part of an election's history to delete. Pure.
class HistoryTrimmer {
 public:
  // Events of a revision lower than `below`, or from before `before`, may go; none from
  // `protected_from` on, and never the latest. All events before one that may go are deleted with
  // it, even if their times are later: the database's clock may have been set, and history must
  // have no holes.
  struct Cut {
    Revision below;
    DbTime before;
    DbTime protected_from;
  };

  HistoryTrimmer(const Retention& retention, DbTime now) : retention_(retention), now_(now) {}

  // The end of a step over at most `limit` events: revisions have no gaps, except where they were
  // raised, which only makes a step smaller.
  static Revision EndOfStep(Revision latest, Revision oldest, size_t limit) {
    return {std::min<uint64_t>(latest.value, oldest.value + limit)};
  }

  // One step, over the next elections, by name: calls `remove` for each that has too much history.
  // `remove` returns the number of events that it deleted, at most `limit`. Stops at `deadline`.
  using Remove = std::function<size_t(const ElectionName&, Revision end, const Cut&)>;
  [[nodiscard]] Trimmed Trim(const std::vector<ElectionHistory>& next, const ElectionName& after,
                             size_t limit, std::chrono::steady_clock::time_point deadline,
                             const Remove& remove) const;

  // Nothing if the oldest event may stay.
  [[nodiscard]] std::optional<Cut> CutOf(Revision latest, Revision history_from, Revision oldest,
                                         DbTime oldest_at) const;

 private:
  const Retention retention_;
  const DbTime now_;
};

}  // namespace tenure
