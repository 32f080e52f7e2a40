// When the database was away from this replica, by its monotonic clock: when it did not answer, or
// could not be written to. Pure. Thread-safe.
#pragma once

#include <chrono>
#include <optional>
#include <set>

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
  // So an announcement that fails shows something about its own table, not about the database.
  void Committed();
  // Why it is away although it answers; nothing if it is not.
  [[nodiscard]] std::optional<Error> write_fault() const;
  [[nodiscard]] SteadyTime last_answer() const;
  // A transaction that waits for nobody's lock is under way for as long as this lives.
  class UnderWay {
   public:
    UnderWay(Outages& outages, SteadyTime now);
    ~UnderWay();
    UnderWay(const UnderWay&) = delete;
    UnderWay& operator=(const UnderWay&) = delete;

   private:
    Outages& outages_;
    const std::multiset<SteadyTime>::iterator begun_;
  };
  // Whether what waits in this replica waits for a database that does not answer, or does not
  // commit: it has been silent, or a transaction is under way, for too long.
  [[nodiscard]] bool Hangs(SteadyTime now) const;
  // The last one that was long enough; until now, if it lasts.
  [[nodiscard]] std::optional<Outage> LastUntil(SteadyTime now) const;

  // A transaction that takes longer than this hangs.
  static constexpr auto kTransactionMax = std::chrono::seconds(1);
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
  std::multiset<SteadyTime> under_way_ TENURE_GUARDED_BY(mutex_);  // when each was begun
};

}  // namespace tenure::engine
