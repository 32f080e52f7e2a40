// When the database was away from this replica, by its monotonic clock. Pure. Thread-safe.
#pragma once

#include <mutex>
#include <optional>

#include "server/scheduler.h"

namespace tenure {

class Outages {
 public:
  struct Outage {
    SteadyTime began;
    SteadyTime ended;
  };

  // The database has not answered yet.
  explicit Outages(SteadyTime begin) : last_answer_(begin) {}

  void Answered(SteadyTime now);
  [[nodiscard]] SteadyTime last_answer() const;
  // The last one that was long enough; until now, if it lasts.
  [[nodiscard]] std::optional<Outage> LastUntil(SteadyTime now) const;

  // A silence that costs a seat is longer: half of the shortest lease.
  static constexpr auto kShortest = std::chrono::milliseconds(500);

 private:
  mutable std::mutex mutex_;
  SteadyTime last_answer_;      // guarded by mutex_
  std::optional<Outage> last_;  // guarded by mutex_
};

}  // namespace tenure
