// The port to the database: everything that Tenure asks of it.
//
//   LawStore       transactions, and what time has made due      the engine's commands and ends
//   ReadStore      who leads, who waits, what happened           calls, and the change feed
//   OperatorStore  what operators see in addition                the admin service
//   HomeStore      which replicas live, and what they keep       the homes of sessions
//   Store          all of these, and the upkeep of the database
//
// A store is batch-first. `Transact` loads what a set of commands needs, under row locks and with
// the database's clock; the law decides; the store saves what changed and commits. The other calls
// read.
//
// Implementations: `storage/sqlite` and `storage/mysql`. One suite tests both: `tests/contract`.
// All calls block, and may be made from any number of threads at once; every one is bounded in
// time. Their only error is kStoreUnavailable, except where a comment says otherwise. Exceptions of
// a driver never leave a store.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/lineage.h"
#include "core/types.h"
#include "storage/home_store.h"
#include "storage/law_store.h"
#include "storage/operator_store.h"

namespace tenure {

// How long history is kept.
struct Retention {
  Duration age_max;     // of an event, and of an operator's change
  uint64_t events_max;  // of each election
  Duration age_min;     // anything younger is kept
};

// How far one step of trimming got.
struct Trimmed {
  size_t deleted = 0;
  ElectionName last;  // continue after this one; empty: start over when there is more
};

// Why a store retried an operation.
enum class RetryReason { kDeadlock, kLockTimeout, kConflict, kLostConnection, kLostReply };
inline constexpr size_t kRetryReasons = 5;

// What a store is doing, and its retries since it was opened.
struct StoreActivity {
  std::array<uint64_t, kRetryReasons> retries{};
  size_t connections_busy = 0;
  size_t connections_idle = 0;  // open, and not in use
  size_t connections_max = 0;
};

enum class SchemaState { kCurrent, kTooOld, kTooNew };

// Other applications' tables in a database in which Tenure has no schema yet.
struct ForeignTables {
  size_t count = 0;                     // tables and views
  std::vector<std::string> names;       // of a few of them
  std::vector<std::string> in_the_way;  // a few with names that Tenure needs for its own
};

class Store : public LawStore, public OperatorStore, public HomeStore {
 public:
  // Deletes settled sessions that ended more than `age` ago; at most `limit`. Returns their number.
  // Forgets old homes and writers, too.
  virtual Result<size_t> ForgetSessions(Duration age, size_t limit) = 0;

  // Deletes history that need not be kept, in the next elections after `after`: a bounded part of
  // it, at most about `limit` events. Nothing is left to delete if `last` is empty and fewer were
  // deleted.
  virtual Result<Trimmed> TrimHistory(const Retention& retention, const ElectionName& after,
                                      size_t limit) = 0;

  // Does not ask the database, and does not wait.
  [[nodiscard]] virtual StoreActivity Activity() const = 0;

  // Shows `decide` what the database says about its history, and about the epoch `remembered`;
  // nothing is committed in any partition meanwhile. If `decide` returns an epoch, that is saved,
  // and becomes the partitions' epoch. Always writes something, so that a server that cannot be
  // written to is detected; if `decide` fails, writes nothing, and returns its error. Goes to any
  // server that may be used, even if the store is to stay on another one.
  using DecideOnHistory = std::function<Result<std::optional<Epoch>>(const HistoryReading&)>;
  virtual Result<HistoryReading> AgreeOnHistory(uint64_t remembered,
                                                const DecideOnHistory& decide) = 0;
  // The longest lease of all sessions in the database; 0 if there are none. Reads each session.
  virtual Result<Duration> LongestLease() = 0;
  // From now on, every call except AgreeOnHistory and those about the schema goes to the server of
  // this number, or is refused. Before the first StayOn, any server will do.
  virtual void StayOn(uint64_t server) = 0;
  // The server in use has the wrong database. Until the next StayOn, all calls except
  // AgreeOnHistory and those about the schema are refused; from now on, other servers are
  // preferred.
  virtual void LeaveServer() = 0;

  // The key from which the ids of this database's sessions are derived: random, and never
  // changed. The first call creates it.
  virtual Result<std::string> SessionKey() = 0;

  // Raises the number after which the terms and revisions of new elections begin, because elections
  // may have been lost: by kBumpMin, or to the microseconds since 1970 by the database's clock if
  // that is more. So it is higher each time, whatever was restored. Returns the new number.
  virtual Result<uint64_t> RaiseOrigin() = 0;

  // Whether the database can be reached and written to.
  virtual Result<void> Ping() = 0;

  // Compares the database's schema with the one that this program knows.
  virtual Result<SchemaState> CheckSchema() = 0;
  // Empty if the database has a Tenure schema, or nothing at all. Changes nothing.
  virtual Result<ForeignTables> FindForeignTables() = 0;
  // The session key, if there is one. Changes nothing.
  virtual Result<std::optional<std::string>> FindSessionKey() = 0;
  // Brings the schema up to date, and checks that applications can use it. Safe to run twice, and
  // from many replicas at once.
  virtual Result<void> Migrate() = 0;
};

}  // namespace tenure
