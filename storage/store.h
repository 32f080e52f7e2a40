// The port to the truth: everything that Tenure asks of a database.
//
// A store is batch-first. `Transact` loads what a set of commands needs, under row locks and with
// the database's clock; the law decides; the store saves what changed and commits. The other calls
// read.
//
// Implementations: `storage/sqlite` and `storage/mysql`. One suite holds both to this page:
// `tests/contract`. All calls block, and may be made from any number of threads at once; every one
// is bounded in time. The only error any of them answers with is kStoreUnavailable, except where it
// says otherwise. Exceptions of a driver never leave a store.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/docket.h"
#include "core/error.h"
#include "core/law.h"
#include "core/lineage.h"
#include "core/types.h"

namespace tenure {

// Of what its replica has seen: the epoch, and how far each lane was at least.
struct Stand {
  uint64_t epoch = 0;
  LanePositions seen{};
};

// What a transaction has to lock and read.
struct Agenda {
  struct Item {
    std::vector<SessionId> sessions;   // whose places in this election are needed
    std::set<std::string> candidates;  // whose places are, too
    size_t departures = 0;             // how many terms may end: so many successors are needed
    bool create = false;               // bring the election into being
  };

  std::map<ElectionName, Item> elections;
  std::vector<SessionId> sessions;        // needed besides leaders and successors
  std::set<std::string> identities = {};  // whose usage is needed
  // Wait about a second for locked elections instead of skipping them: overlapping share locks may
  // never leave them free, but let a queue through.
  // REQUIRES: one election.
  bool patient = false;
  // Done twice is done once: when the reply to the commit is lost, it is just done again. The
  // docket then does not show what the first time did; sessions that ended in it are found by the
  // search.
  bool repeatable = false;
  // Given: changes are committed only in this epoch, and in lanes that are not behind this. Checked
  // where a lane advances, under its lock.
  std::optional<Stand> stand = {};
};
// What these commands need together.
[[nodiscard]] Agenda AgendaFor(const std::vector<const Command*>& commands);

// Where a transaction stands in its lane's order of changes. Positions of a lane rise by one, in
// the order of commits, without gaps.
struct LanePosition {
  int lane = 0;
  uint64_t position = 0;
};

// What a transaction has saved.
struct Committed {
  Docket docket;  // as it was decided
  // The transaction's position in each lane in which it wrote events.
  std::vector<LanePosition> positions;
};

// Where the lanes stand.
struct Lanes {
  LanePositions positions{};
  uint64_t epoch = 0;
};

// One transaction's events, as another replica reads them.
struct FeedEntry {
  uint64_t position = 0;
  Event event;
};

// An election as it was read, without a lock.
struct ElectionView {
  Election election;
  // Of the leader's session. Zero or negative if it has ended by the database's clock: then its
  // expiry must be committed before anyone is told who leads.
  Duration lease_left{0};

  [[nodiscard]] bool LeaderAlive() const { return !election.leader || lease_left > Duration(0); }
};

struct PlaceKey {
  ElectionName election;
  SessionId session;

  auto operator<=>(const PlaceKey&) const = default;
};

// Work that has become due with time.
struct DueWork {
  DbTime now;
  std::vector<SessionId> expired;       // not marked yet
  std::vector<SessionId> unsettled;     // marked, and may still hold seats and places
  std::vector<ElectionName> elections;  // that may be ready for a grant
  std::optional<DbTime> next;           // when there will be more
};

// How long history is kept.
struct Retention {
  Duration age_max;     // of an event, and of an operator's change
  uint64_t events_max;  // of each election
  Duration age_min;     // whatever is younger is kept
};

// How far one step of trimming got.
struct Trimmed {
  size_t deleted = 0;
  ElectionName last;  // go on after this one; empty: from the beginning, once there is more
};

// A waiting candidate as operators see it.
struct QueueEntry {
  Candidacy candidacy;
  Duration lease_left{0};
  std::optional<DbTime> cools_down_until;
};

// One term, according to its events.
struct TermRecord {
  Term term;
  std::string candidate;
  DbTime began_at;
  std::optional<DbTime> ended_at;
  Cause cause = Cause::kNone;
};

// A change that an operator made, and its number among all of them.
struct AdminRecord {
  uint64_t number = 0;
  AdminChange change;
};

// A live session, and where it stands.
struct SessionView {
  Session session;
  Duration lease_left{0};
  std::vector<ElectionName> leads;
  std::vector<ElectionName> waits;
};

// How much there is.
struct Census {
  uint64_t elections = 0;
  // Not paused, and either without a leader although an eligible candidate waits, or with a leader
  // whose lease has ended.
  uint64_t leaderless = 0;
  uint64_t vacant = 0;      // no leader and no candidates
  uint64_t candidates = 0;  // waiting in queues
  uint64_t sessions = 0;    // live ones

  bool operator==(const Census&) const = default;
};

// Why a store did a piece of work again.
enum class RetryReason { kDeadlock, kLockTimeout, kConflict, kLostConnection, kLostReply };
inline constexpr size_t kRetryReasons = 5;

// What a store is doing, and what it has met since it was opened.
struct StoreActivity {
  std::array<uint64_t, kRetryReasons> retries{};
  size_t connections_busy = 0;
  size_t connections_idle = 0;  // open, and not in use
  size_t connections_max = 0;
};

// The first bytes that sort after every name that begins with `prefix`: no UTF-8 text holds 0xff.
[[nodiscard]] inline std::string PrefixEnd(std::string_view prefix) {
  return std::string(prefix) + '\xff';
}

enum class SchemaState { kCurrent, kTooOld, kTooNew };

class Store {
 public:
  virtual ~Store() = default;

  // Runs one transaction. `decide` gets the docket and changes it; it is called once for each try,
  // and what it did in the last one is what was saved, and is answered. Conflicts with other
  // transactions are tried again, a bounded number of times. A commit whose reply was lost is
  // looked up, not guessed.
  //
  // Locks are taken in one order: elections by name, then sessions by id, passing by those that
  // others hold, then lanes: no transaction waits for another's elections or sessions, unless it is
  // patient and so far holds none. What was
  // passed by is in `Docket::busy` and `Docket::busy_sessions`.
  //
  // kStoreUnavailable: the database is away. Either nothing was saved, or that could not be found
  // out.
  virtual Result<Committed> Transact(const Agenda& agenda,
                                     const std::function<void(Docket&)>& decide) = 0;

  // Elections by name; those that do not exist are not in the answer. One consistent read.
  virtual Result<std::map<ElectionName, ElectionView>> ReadElections(
      const std::vector<ElectionName>& names) = 0;
  // Elections whose names begin with `prefix` and come after `after`, by name; deleted ones too.
  virtual Result<std::vector<ElectionView>> ListElections(std::string_view prefix,
                                                          std::string_view after, size_t limit) = 0;
  // For each place that is in its election's queue: how many live or dead candidacies are before
  // it, plus one.
  virtual Result<std::map<PlaceKey, uint64_t>> ReadPositions(
      const std::vector<PlaceKey>& places) = 0;
  // Which of the places are in their queues. Cheaper than their positions.
  virtual Result<std::vector<PlaceKey>> FilterWaiting(const std::vector<PlaceKey>& places) = 0;
  // The seats that sessions hold.
  virtual Result<std::vector<Leadership>> ReadSeats(const std::vector<SessionId>& sessions) = 0;

  // An election's events from a revision on, in order, at most `limit`.
  virtual Result<std::vector<Event>> ReadEvents(const ElectionName& election, Revision from,
                                                size_t limit) = 0;
  virtual Result<Lanes> ReadLanes() = 0;
  // The events of a lane's positions after `after`, up to and with `until`, in order.
  virtual Result<std::vector<FeedEntry>> ReadFeed(int lane, uint64_t after, uint64_t until) = 0;

  // Sessions that have expired or whose places must still be given up, and elections that may now
  // be ready for a grant; at most `limit` of each.
  virtual Result<DueWork> FindDueWork(size_t limit) = 0;
  // Sessions after `after`, by id, that are not marked as ended.
  virtual Result<std::vector<SessionId>> ListUnended(const SessionId& after, size_t limit) = 0;
  // Every election in which one of the sessions leads or waits.
  virtual Result<std::vector<PlaceKey>> FindPlaces(const std::vector<SessionId>& sessions) = 0;
  // Marks ended sessions that no longer hold a seat or a place as settled.
  virtual Result<void> MarkSettled(const std::vector<SessionId>& sessions) = 0;
  // Forgets settled sessions whose lease, had it not ended before, would have been over for `age`;
  // at most `limit`. Answers with how many.
  virtual Result<size_t> ForgetSessions(Duration age, size_t limit) = 0;

  // Deletes history that is older than it has to be, in the next elections after `after`: a bounded
  // part of it, at most about `limit` events. That was all if `last` is empty and fewer were
  // deleted.
  virtual Result<Trimmed> TrimHistory(const Retention& retention, const ElectionName& after,
                                      size_t limit) = 0;

  // What operators see. Lists are read in pages: at most `limit`, beginning after what was read
  // last.

  // A part of an election's queue, in its order, without the first `skip`.
  virtual Result<std::vector<QueueEntry>> ReadQueue(const ElectionName& election, size_t skip,
                                                    size_t limit) = 0;
  // An election's terms before a term, the latest first.
  virtual Result<std::vector<TermRecord>> ReadTerms(const ElectionName& election, Term before,
                                                    size_t limit) = 0;
  // What operators changed before the change of a number, the latest first; in one election, or
  // all.
  virtual Result<std::vector<AdminRecord>> ReadAdminChanges(
      const std::optional<ElectionName>& election, uint64_t before, size_t limit) = 0;
  // Live sessions of candidates whose names begin so, by id.
  virtual Result<std::vector<SessionView>> ReadSessions(std::string_view candidate_prefix,
                                                        const SessionId& after, size_t limit) = 0;
  // The session of a public handle, alive or not.
  virtual Result<std::optional<SessionId>> FindSession(std::string_view handle) = 0;

  // Counts what there is, at about one time. Its cost grows with the number of elections that
  // nobody leads; those that are led are only counted.
  virtual Result<Census> TakeCensus() = 0;
  // Does not ask the database, and does not wait.
  [[nodiscard]] virtual StoreActivity Activity() const = 0;

  // Shows `decide` what the database says of its history, and of the epoch `remembered`; commits in
  // no lane are made meanwhile. If it answers with an epoch, that is saved, and is the one of the
  // lanes from now on. Always writes something: a server that cannot be written to is found out.
  // Goes to whatever server may be used, also if the store is to stay on another one.
  virtual Result<HistorySight> AgreeOnHistory(
      uint64_t remembered,
      const std::function<std::optional<Epoch>(const HistorySight&)>& decide) = 0;
  // From now on, everything else but AgreeOnHistory, CheckSchema and Migrate is done on the server
  // of this number, or refused. Before the first call of this, any server will do.
  virtual void StayOn(uint64_t server) = 0;

  // The number after which the terms and the revisions of new elections begin: zero, unless it was
  // raised.
  virtual Result<uint64_t> ReadOrigin() = 0;
  // Because elections may have been lost: by kBumpMin, or to the microseconds since 1970 by the
  // database's clock if that is more. So it is higher each time, whatever was restored. Answers
  // with what it is then.
  virtual Result<uint64_t> RaiseOrigin() = 0;

  // Whether the database can be reached and written to.
  virtual Result<void> Ping() = 0;

  // Compares the database's schema with the one that this program knows.
  virtual Result<SchemaState> CheckSchema() = 0;
  // Brings the schema up to date, and checks that applications can use it. Safe to run twice, and
  // from many replicas at once.
  virtual Result<void> Migrate() = 0;
};

}  // namespace tenure
