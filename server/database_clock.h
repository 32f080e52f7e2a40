// The database's clock, as this replica sees it: what it showed last, carried on by the monotonic
// clock. For metrics only; nothing expires by it. Thread-safe.
#pragma once

#include <mutex>
#include <optional>

#include "core/types.h"
#include "server/scheduler.h"

namespace tenure {

class DatabaseClock {
 public:
  // The database said that it was `now`, in answer to a question that took this time. Answers with
  // how far its clock jumped since the last time, if it did: further than `kJumpMin`, and than the
  // round trips explain.
  std::optional<Duration> Saw(DbTime now, SteadyTime asked, SteadyTime answered);

  // Nothing until it was seen once.
  [[nodiscard]] std::optional<DbTime> At(SteadyTime when) const;

  static constexpr Duration kJumpMin = std::chrono::milliseconds(500);

 private:
  struct Sight {
    DbTime now;
    SteadyTime at;         // in the middle of the round trip
    Duration uncertainty;  // half of it
  };

  mutable std::mutex mutex_;
  std::optional<Sight> last_;  // guarded by mutex_
};

}  // namespace tenure
