// What the law asks of a database: transactions, and what time has made due.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "core/error.h"
#include "core/law/lock_set.h"
#include "core/law/transaction_state.h"
#include "core/lineage.h"
#include "core/types.h"
#include "storage/read_store.h"

namespace tenure {

// What a replica has seen: the epoch, and the least offset of each partition.
struct HistoryPoint {
  uint64_t epoch = 0;
  PartitionOffsets seen{};
};

// What a transaction proves about the row of the replica that runs it, in the table of homes: that
// it is not dead, and that the database has kept what the replica wrote there.
struct HomeWitness {
  HomeId home;
  uint64_t acknowledged = 0;  // its beat is at least this
  // If set, the transaction writes the row with this number, and its beat must have been lower.
  std::optional<uint64_t> number = {};
};

// How a transaction is committed.
struct CommitRules {
  // If set, changes are committed only in this epoch, and in partitions that are not behind this.
  // Checked where a partition advances, under its lock.
  std::optional<HistoryPoint> point = {};
  // If set, nothing is committed unless this is true at the commit.
  std::optional<HomeWitness> witness = {};
  // If set: a remembered state of everything that is to be locked. The transaction is first decided
  // from it, and saved if it still holds (core/law/remembered.h), which costs one message.
  // Otherwise it is decided from what is locked.
  const TransactionState* remembered = nullptr;
};

// Where a transaction stands in its partition's order of changes. Offsets of a partition rise by
// one, in the order of commits, without gaps.
struct PartitionOffset {
  int partition = 0;
  uint64_t offset = 0;
};

// What a transaction has saved.
struct Committed {
  TransactionState transaction;  // as it was decided
  // The transaction's offset in each partition in which it wrote events.
  std::vector<PartitionOffset> offsets;
  // What became of the remembered state.
  enum class Memory { kUnused, kHeld, kRefused } memory = Memory::kUnused;
};

// Work that time has made due.
struct DueWork {
  DbTime now;
  Partitions partitions;
  std::vector<SessionId> unsettled;     // ended, and may still hold seats and places
  std::vector<ElectionName> elections;  // that may be ready for a grant
  std::optional<DbTime> next;           // when there will be more
};

// Thread-safe, like all of a store.
class LawStore {
 public:
  using Decide = std::function<void(TransactionState&)>;

  virtual ~LawStore() = default;

  // Runs one transaction. `decide` changes the transaction. It is called once for each try, from
  // memory or not; the outcome of the last try is saved and returned. Conflicts with other
  // transactions are retried, a bounded number of times. A commit whose reply was lost is looked
  // up, not guessed.
  //
  // Locks are taken in one order: elections by name, then sessions, skipping those that
  // others hold, then homes by id, then partitions: no transaction waits for another's elections or
  // sessions, unless it is patient and so far holds none. What was skipped is in
  // `TransactionState::busy` and `TransactionState::busy_sessions`.
  //
  // kStoreUnavailable: the database is away. Either nothing was saved, or the outcome is unknown.
  virtual Result<Committed> Transact(const LockSet& locks, const CommitRules& rules,
                                     const Decide& decide) = 0;

  // Sessions that have ended and whose places must still be given up, and elections that may now be
  // ready for a grant; at most `limit` of each. And where the partitions stand.
  virtual Result<DueWork> FindDueWork(size_t limit) = 0;
  // Every election in which one of the sessions leads or waits.
  virtual Result<std::vector<PlaceKey>> FindPlaces(const std::vector<SessionId>& sessions) = 0;
  // Marks ended sessions that no longer hold a seat or a place as settled.
  virtual Result<void> MarkSettled(const std::vector<SessionId>& sessions) = 0;
};

}  // namespace tenure
