// What this replica saw last of elections and sessions: transactions are decided from it before
// they are sent (core/law/remembered.h), and questions are answered from it once the partitions'
// offsets have shown that nothing has happened since.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/mutex.h"
#include "core/law/lock_set.h"
#include "core/law/transaction_state.h"
#include "core/types.h"
#include "storage/law_store.h"

namespace tenure::engine {

// Thread-safe. Bounded: when it has grown too large, it starts over.
class StateCache {
 public:
  static constexpr size_t kElectionsMax = 10'000;
  static constexpr size_t kSessionsMax = 200'000;

  // Taken before the database is asked for what is then remembered: what was forgotten meanwhile
  // stays forgotten, and events published meanwhile may not be in it.
  struct Moment {
    uint64_t forgotten = 0;  // how many times everything was
    PartitionOffsets published{};
  };
  [[nodiscard]] Moment Now() const;

  // --- For transactions: only a guess, which the database checks ---

  // All that the commands need, as of `now`. Nothing unless everything is known, every election is
  // plain, and every session is alive.
  [[nodiscard]] std::optional<TransactionState> Find(const LockSet& locks, DbTime now) const;
  // `begun`: before the transaction.
  void Remember(const Committed& committed, const Moment& begun);
  // Part of this was no longer true.
  void Forget(const LockSet& locks);

  // --- For questions: the truth, as far as events show it ---

  // The election as of its latest published event. Nothing if it may have changed since.
  [[nodiscard]] std::optional<Election> Read(const ElectionName& name) const;
  // With its leader, term and revision as of the moment at which the partitions had these offsets.
  // Nothing if that is not known.
  [[nodiscard]] std::optional<Election> Read(const ElectionName& name,
                                             const PartitionOffsets& offsets) const;
  // Elections that were read.
  void Remember(const std::map<ElectionName, ElectionView>& views, const Moment& begun);

  // --- From the feed, in the order of each partition ---

  // All events up to here are published, including these. Call before anybody else learns of them,
  // so that an earlier read does not pass for a newer one. `silent`: transactions without an event
  // are among them, so elections of this partition may have been purged.
  void Published(int partition, uint64_t offset, const std::vector<Event>& events = {},
                 bool silent = false);
  // The history is another one.
  void ForgetAll();

 private:
  struct Known {
    Election election;
    // Valid from this partition offset until an event for the election is published.
    std::optional<uint64_t> since;
  };

  void Put(const ElectionName& name, Known known) TENURE_REQUIRES(mutex_);

  mutable Mutex mutex_;
  std::unordered_map<ElectionName, Known> elections_ TENURE_GUARDED_BY(mutex_);
  std::unordered_map<SessionId, Session> sessions_ TENURE_GUARDED_BY(mutex_);
  Moment now_ TENURE_GUARDED_BY(mutex_);
};

}  // namespace tenure::engine
