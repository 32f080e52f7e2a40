// What this replica saw last of elections and sessions, so that a transaction can be decided before
// it is sent (core/remembered.h). Only a cache: what is stale is refused by the database.
#pragma once

#include <optional>
#include <unordered_map>

#include "core/lock_set.h"
#include "core/mutex.h"
#include "core/transaction_state.h"
#include "core/types.h"

namespace tenure::engine {

// Thread-safe. Bounded: when there is too much of it, it begins anew.
class StateCache {
 public:
  static constexpr size_t kElectionsMax = 10'000;
  static constexpr size_t kSessionsMax = 200'000;

  // All that the commands need, as of `now`. Nothing unless everything is known, every election is
  // plain, and every session is alive.
  [[nodiscard]] std::optional<TransactionState> Find(const LockSet& locks, DbTime now) const;

  // After a commit.
  void Remember(const TransactionState& committed);
  // Somebody else may have changed the election: its revision is another one now.
  void Saw(const Event& event);
  // Not all of this was still true.
  void Forget(const LockSet& locks);
  void ForgetAll();

 private:
  mutable Mutex mutex_;
  std::unordered_map<ElectionName, Election> elections_ TENURE_GUARDED_BY(mutex_);
  std::unordered_map<SessionId, Session> sessions_ TENURE_GUARDED_BY(mutex_);
};

}  // namespace tenure::engine
