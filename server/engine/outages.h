// When the database was away from this replica, by its monotonic clock. Pure. Thread-safe.
#pragma once

#include <chrono>
#include <optional>

#include "core/mutex.h"
#include "server/engine/scheduler.h"

namespace tenure::engine {

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

  // Longer than between two searches for due work, and shorter than a lease.
  static constexpr auto kShortest = std::chrono::milliseconds(750);
  // Two with less between them are one: nobody has recovered.
  static constexpr auto kRecovery = std::chrono::seconds(2);

 private:
  // The silence since the last answer.
  [[nodiscard]] Outage SilentUntil(SteadyTime now) const TENURE_REQUIRES(mutex_);

  mutable Mutex mutex_;
  SteadyTime last_answer_ TENURE_GUARDED_BY(mutex_);
  std::optional<Outage> last_ TENURE_GUARDED_BY(mutex_);
};

}  // namespace tenure::engine
