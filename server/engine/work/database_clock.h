// The database's clock, as this replica saw it last, carried on by the monotonic clock: for
// timestamps and metrics. No session ends by it. Thread-safe.
#pragma once

#include <optional>

#include "base/mutex.h"
#include "core/types.h"
#include "server/engine/work/scheduler.h"

namespace tenure::engine {

class DatabaseClock {
 public:
  // It said `now` in answer to a question that took this time.
  void Saw(DbTime now, SteadyTime asked, SteadyTime answered);
  // What it shows at a moment. Nothing until it was seen once.
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
