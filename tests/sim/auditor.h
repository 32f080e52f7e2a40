// Reads the store itself after every transaction, past all faults and planted errors, and checks
// what it finds against the invariants and against what it found before.
//
// It knows the invariants of docs/architecture.md and what clients asked for, and nothing of how
// the law or the engine reach their answers.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "storage/store.h"
#include "tests/sim/ledger.h"
#include "tests/sim/world.h"

namespace tenure::sim {

// Whether a term may end for this cause while its holder believes in it: somebody else ends it at
// once, without waiting for the lease, and the holder believes until it learns of that, or until
// its lease expires. Until then another may believe, too, and only the term protects what leaders
// write to. With every other cause, a holder has stopped before its term ends.
[[nodiscard]] inline bool MayEndWhileBelieved(Cause cause) {
  return cause == Cause::kDeposed || cause == Cause::kAppointedAway ||
         cause == Cause::kSuperseded || cause == Cause::kDeleted;
}

class Auditor {
 public:
  // Whether the owner of a session believes that it leads an election in a term.
  using Believed = std::function<bool(const ElectionName&, const SessionId&, Term)>;
  // Whether the owner of a session leads with it, or waits to lead on.
  using Held = std::function<bool(const SessionId&)>;

  // `truth` is the store without anything around it.
  Auditor(World& world, Store& truth, Believed believed, Held held)
      : world_(world),
        truth_(truth),
        believed_(std::move(believed)),
        held_(std::move(held)),
        ledger_(world, truth) {}

  // A transaction was committed with these decisions. The seats of its undecided elections may
  // still be vacant, as the law said; if some elections were locked elsewhere, so may those of all
  // others, since commands that need several may have been deferred without reading them.
  void OnTransaction(const LockSet& locks, const TransactionState& decided);
  // Ended sessions were forgotten. They may be, once the clock has been set forward by hours.
  void OnForgotten();
  // A home has died, by its own account or another's.
  void OnDeath(HomeId home);
  // The running replica has answered a renewal that arrived at `asked`. It is the session's home,
  // or the session has left it so lately that it need not know. And it is the only one with this
  // home, or a copy has begun so lately that they need not know of each other.
  void CheckRenewal(const Session& answer, engine::SteadyTime asked);
  // Looks at everything, not only at what a transaction had to do with.
  void AuditAll();

  // --- What is known ---

  [[nodiscard]] const Election* Find(const ElectionName& name) const;
  [[nodiscard]] const Session* Find(const SessionId& id) const;
  // The row of a home.
  [[nodiscard]] std::optional<HomeRow> FindHome(HomeId home) const;
  // The revision of an election, or the one at which it was purged.
  [[nodiscard]] Revision RevisionOf(const ElectionName& name) const;
  // Whether an observer that has seen everything up to this revision has seen everything.
  [[nodiscard]] bool IsAll(const ElectionName& name, Revision heard) const;
  // Whether this is the first event after the election has begun, perhaps again.
  [[nodiscard]] bool IsFirst(const ElectionName& name, Revision revision) const;
  // Whether the election was purged since it was at this revision.
  [[nodiscard]] bool WasPurgedSince(const ElectionName& name, Revision revision) const;
  // The session that was granted a term.
  [[nodiscard]] std::optional<SessionId> GrantedTo(const ElectionName& name, Term term) const;
  [[nodiscard]] const Event* EventOf(const ElectionName& name, Revision revision) const;
  // How a term ended; nothing if it has not.
  [[nodiscard]] const Event* EndOf(const ElectionName& name, Term term) const;
  // Anyone who waits, is alive, and might have been given a vacant seat since `ready_since`.
  [[nodiscard]] std::optional<SessionId> LiveWaiter(const ElectionName& name,
                                                    DbTime ready_since) const;
  [[nodiscard]] size_t QueueSize(const ElectionName& name) const;
  [[nodiscard]] uint64_t terms() const { return terms_; }
  [[nodiscard]] uint64_t transactions() const { return transactions_; }
  [[nodiscard]] uint64_t orders_done() const { return ledger_.records(); }

 private:
  struct Known {
    Election election;  // its numbers, if it is not there
    bool there = false;
    std::set<Revision> began_after = {};  // each time
    int purges = 0;
    std::map<SessionId, Candidacy> queue;
    std::map<Revision, Event> events;  // all
    std::map<Term, Event> ends;
  };

  void Audit(const LockSet& locks, const std::set<ElectionName>& may_be_vacant, bool everything);
  void AuditSession(const Session* before, const Session& after);
  void AuditHome(const Session& before, const Session& after);
  // A session has just come to its home.
  void CheckHome(const Session& session) const;
  void AuditElection(const ElectionState& state, const TransactionState& now, bool campaigned,
                     const std::set<ElectionName>& may_be_vacant);
  void AuditPurge(Known& known);
  // An election begins, perhaps again.
  void AuditBeginning(Known& known, const Election& after, const std::vector<Event>& events);
  void AuditEvents(const Known& before, const ElectionState& after,
                   const std::vector<Event>& events, const TransactionState& now, bool campaigned);
  void AuditGrant(const Known& before, const Event& event, const TransactionState& now,
                  bool campaigned);
  // The elected candidate came first in the queue.
  void AuditOrder(const Known& before, const ElectionState& after, const Event& event,
                  const TransactionState& now);
  void AuditVacancy(const Known& before, const Event& event, const TransactionState& now);
  // A leader that asked for the next term has it, unless an operator wants another one.
  void AuditNextTerm(const Election& before, const Event* ended,
                     const std::optional<Leader>& leader);
  // Whether the elected session led until now, and asked for this term instead.
  [[nodiscard]] bool GoesOn(const Event* ended, const Event& event) const;
  void AuditQueue(const Known& before, const ElectionState& after, const std::vector<Event>& events,
                  const TransactionState& now, bool campaigned);
  // A client that asked for a set has all of it, once it has any of it.
  void AuditSets(const TransactionState& now);
  void AuditWithdrawals(const ElectionState& after, const std::vector<SessionId>& named);
  [[nodiscard]] bool AskedToResign(const PlaceKey& place, Term term) const;
  [[nodiscard]] bool AskedForNext(const PlaceKey& place, Term after_term) const;
  [[nodiscard]] bool AskedToWithdraw(const PlaceKey& place, CallId call_id) const;

  World& world_;
  Store& truth_;
  const Believed believed_;
  const Held held_;
  Ledger ledger_;
  std::map<ElectionName, Known> elections_;
  std::map<SessionId, Session> sessions_;
  struct Move {
    HomeId to;
    engine::SteadyTime at;
  };
  std::map<SessionId, std::map<uint64_t, Move>> moves_;  // by number
  // A replica that answers as a home, without long pauses.
  struct Answering {
    engine::SteadyTime since;  // when the first renewal was answered
    engine::SteadyTime last;   // when the last one had arrived
  };
  std::map<HomeId, std::map<std::pair<int, int>, Answering>> answering_;  // by process
  std::map<SessionId, std::set<ElectionName>> granted_;                   // in the transaction
  DbTime decided_at_;  // the transaction, by its own account
  uint64_t terms_ = 0;
  uint64_t transactions_ = 0;
};

}  // namespace tenure::sim
