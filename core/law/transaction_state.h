// The state of a transaction: all that it has locked and read, and what the law made of it.
//
// A store loads it under row locks, hands it to the law (`core/law/law.h`), and then saves how it
// differs from what was loaded. Plain values; owned and used by one thread at a time.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "core/types.h"

namespace tenure {

// What is left of an election's history.
struct Past {
  std::optional<Revision> oldest = {};  // of its events; nothing: it has none
  // The time of the latest event, or of an operator's later change. Nothing: there is neither.
  std::optional<DbTime> changed_at = {};

  bool operator==(const Past&) const = default;
};

// One election, with the part of its queue that matters now.
struct ElectionState {
  Election election;
  // False until the first campaign: `election` then holds nothing but its name.
  bool exists = false;
  // In queue order: the first live candidacies of those that may be elected, those of the sessions
  // that commands speak for, and live ones of the candidates that are named.
  std::vector<Candidacy> queue = {};
  // The last of the first live candidacies, if there may be more behind it that were not read:
  // beyond this place the order of the queue is not known.
  std::optional<Candidacy> horizon = {};
  // Candidates that were deposed, and until when none of them is elected unless appointed.
  std::map<std::string, DbTime> cool_downs = {};
  // Nothing, unless it was asked for (LockSet).
  std::optional<Past> past = {};
  // Set by the law: the whole queue is to be deleted, with what was not read.
  bool emptied = false;
  // Set by the law: the row is to be deleted, with all that belongs to it.
  bool purged = false;
  // Set by the law: events of lower revisions are to be deleted.
  Revision forgotten_before = {};
};

// A seat that was filled, and how it had become vacant.
struct Succession {
  std::optional<Vacancy> vacancy;  // nothing: it was never held before, or not since a deletion
  bool appointed = false;          // by an operator

  bool operator==(const Succession&) const = default;
};

// A session left its home without its home's doing: it moved to another one, or somebody ended it.
struct Departure {
  HomeId home;
  SessionId session;
  uint64_t moves = 0;  // higher than those with which that home keeps it

  bool operator==(const Departure&) const = default;
};

struct TransactionState {
  // The database's clock, read after the last lock was granted.
  DbTime now;
  // The replica that decides, and so the home of sessions that it opens. None: an operator's
  // command, which opens none.
  HomeId home = {};
  // Locked. A session that is asked for and missing does not exist.
  std::map<SessionId, Session> sessions;
  // Locked.
  std::map<ElectionName, ElectionState> elections;
  // Asked for, but locked by another transaction, or in need of a session that is: nothing about
  // them is decided.
  std::set<ElectionName> busy;
  std::set<SessionId> busy_sessions;
  // Of the identities with a quota, if it was asked for (LockSet). Concurrent transactions are not
  // counted.
  std::map<std::string, Usage> usage;

  // Written by the law, in the order in which it happened.
  std::vector<Event> events;
  // One for each grant, in the order of their events.
  std::vector<Succession> successions;
  // Sessions that were ended in this transaction. Their seats and places
  // in other elections are still to be given up, one `Reconcile` each.
  std::vector<SessionId> ended;
  // Vacant elections whose next leader cannot be decided from what was read: they need another
  // `Reconcile`. The latest command about an election decides whether it is listed.
  std::set<ElectionName> undecided;
  // Sessions that this transaction has opened.
  std::vector<SessionId> opened;
  // In the order in which they happened. Those of homes that are dead are not saved.
  std::vector<Departure> departures;
  std::vector<AdminChange> admin_changes;
  // The terms and revisions of elections that are created later begin after no lower number.
  uint64_t origin_min = 0;
  // How many sessions were opened by candidates whose last session had expired while they lived.
  size_t premature_expirations = 0;
};

}  // namespace tenure
