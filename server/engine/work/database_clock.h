// The database's clock, as this replica last saw it, advanced by the monotonic clock: for
// timestamps and metrics. It never ends a session. Thread-safe.
#pragma once

#include <optional>

#include "base/mutex.h"
#include "core/types.h"
#include "server/engine/work/scheduler.h"

namespace tenure::engine {

class DatabaseClock {
 public:
  // The database answered `now` to a question asked and answered at these times.
  void Saw(DbTime now, SteadyTime asked, SteadyTime answered);
  // The database's time at `when`. Nothing before the first reading.
  [[nodiscard]] std::optional<DbTime> At(SteadyTime when) const;

 private:
  struct Sight {
    DbTime now;
    SteadyTime at;  // in the middle of the round trip
  };

  mutable Mutex mutex_;
  std::optional<Sight> last_ TENURE_GUARDED_BY(mutex_);
};

}  // namespace tenure::engine
