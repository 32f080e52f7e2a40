// When the database was away from this replica, by its monotonic clock: when it did not answer, or
// could not be written to. Pure. Thread-safe.
#pragma once

#include <chrono>
#include <optional>

#include "core/error.h"
#include "core/mutex.h"
#include "core/transaction_state.h"
#include "server/engine/scheduler.h"

namespace tenure::engine {

class Outages {
 public:
  struct Outage {
    SteadyTime began;
    SteadyTime last_began;  // of those that are one, the last
    SteadyTime ended;
  };

  // The database has not answered yet.
  explicit Outages(SteadyTime begin) : last_answer_(begin) {}

  // It was read.
  void Answered(SteadyTime now);
  // An announcement is over. After one that failed the database is away, whatever it answers, until
  // one succeeds or a transaction commits.
  void Announced(const Result<void>& outcome);
  // So an announcement that fails says nothing of the database, but something of its own table.
  void Committed();
  // Why it is away although it answers; nothing if it is not.
  [[nodiscard]] std::optional<Error> write_fault() const;
  [[nodiscard]] SteadyTime last_answer() const;
  // The last one that was long enough; until now, if it lasts.
  [[nodiscard]] std::optional<Outage> LastUntil(SteadyTime now) const;

  // Two with less between them are one: nobody has recovered.
  static constexpr auto kRecovery = std::chrono::seconds(2);

 private:
  // The silence since the last answer.
  [[nodiscard]] Outage SilentUntil(SteadyTime now) const TENURE_REQUIRES(mutex_);

  mutable Mutex mutex_;
  std::optional<Error> write_fault_ TENURE_GUARDED_BY(mutex_);
  bool committed_ TENURE_GUARDED_BY(mutex_) = false;  // since the last announcement
  SteadyTime last_answer_ TENURE_GUARDED_BY(mutex_);
  std::optional<Outage> last_ TENURE_GUARDED_BY(mutex_);
};

}  // namespace tenure::engine
