// When the database was away from this replica, by its monotonic clock: when it did not answer, or
// could not be written to. Pure. Thread-safe.
#pragma once

#include <chrono>
#include <optional>

#include "core/error.h"
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

  // It was read.
  void Answered(SteadyTime now);
  // The last attempt to write is over. After one that failed it is away, whatever it answers, until
  // one succeeds.
  void Wrote(const Result<void>& outcome);
  // How that attempt failed; nothing if it did not.
  [[nodiscard]] std::optional<Error> write_fault() const;
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
  std::optional<Error> write_fault_ TENURE_GUARDED_BY(mutex_);
  SteadyTime last_answer_ TENURE_GUARDED_BY(mutex_);
  std::optional<Outage> last_ TENURE_GUARDED_BY(mutex_);
};

}  // namespace tenure::engine
