// The database's clock, as this replica sees it: what it showed last, carried on by the monotonic
// clock. Nothing expires by it; it finds out that the database's clock was set. Thread-safe.
#pragma once

#include <optional>

#include "core/mutex.h"
#include "core/types.h"
#include "server/engine/scheduler.h"

namespace tenure::engine {

class DatabaseClock {
 public:
  // How far the database's clock jumped since it was seen last, if it did: further than `kJumpMin`,
  // and than the round trips and the drift of two clocks explain. It said that it was `now`, in
  // answer to a question that took this time.
  [[nodiscard]] std::optional<Duration> JumpTo(DbTime now, SteadyTime asked,
                                               SteadyTime answered) const;
  // Makes this reading the reference for later jumps, unless it is less precise than the current
  // one.
  void Saw(DbTime now, SteadyTime asked, SteadyTime answered);

  // Whether `now`, which the database said between `asked` and `answered`, is later or earlier than
  // it can be: its clock has jumped since it was seen last.
  [[nodiscard]] bool HasJumped(DbTime now, SteadyTime asked, SteadyTime answered) const;

  // Whether this replica has watched it long enough: each earlier replica has then noticed a jump
  // that this one did not see. Until then no lease counts as over.
  [[nodiscard]] bool IsFamiliar(SteadyTime now) const;

  // What it shows at a moment. Nothing until it was seen once.
  [[nodiscard]] std::optional<DbTime> At(SteadyTime when) const;
  // The latest that it can show at a moment, unless it was set meanwhile.
  [[nodiscard]] std::optional<DbTime> LatestAt(SteadyTime when) const;

  // Half of what the shortest lease leaves between its holder's belief and its end (core/lease.h).
  static constexpr Duration kJumpMin = std::chrono::milliseconds(50);
  // Other replicas read it every 500 ms (expiry.cc), and have the rest of the time to move leases.
  static constexpr SteadyTime::duration kFamiliarAfter = std::chrono::milliseconds(900);
  // Disciplined clocks drift by less than 1/kDriftDivisor.
  static constexpr int kDriftDivisor = 2000;

 private:
  struct Sight {
    DbTime now;
    SteadyTime at;         // in the middle of the round trip
    Duration uncertainty;  // half of it
  };
  static Sight SightOf(DbTime now, SteadyTime asked, SteadyTime answered);

  mutable Mutex mutex_;
  std::optional<SteadyTime> known_since_ TENURE_GUARDED_BY(mutex_);
  std::optional<Sight> last_ TENURE_GUARDED_BY(mutex_);
};

}  // namespace tenure::engine
