// The law of elections. Pure: no clock, no I/O, no state of its own.
//
// Each function applies one command to the state of one transaction, as of its `now`, and answers.
// Commands of one batch are applied one after the other to the same state. Invariants after each of
// them, numbered as in docs/architecture.md:
//   1. A term is granted at most once: every grant is term + 1 under the election's lock.
//   2. An election has at most one leader.
//   3. A grant goes to a candidacy that is in the queue, of a session that has not ended.
//   4. A session that has ended never comes back.
//   6. Every change of leader, term or value has its event; revisions have no gaps.
//   9. A command applied twice answers as if it had been applied once, and changes nothing more.
// An error changes nothing. To a caller that may not use a session (`Session::MayBeUsedBy`), it
// does not exist.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "core/error.h"
#include "core/law/lock_set.h"
#include "core/law/transaction_state.h"
#include "core/limits.h"
#include "core/types.h"

namespace tenure {

// Stands for an election.
struct Campaign {
  // What a session is opened with.
  struct Opening {
    std::string candidate;
    std::optional<Duration> lease_ttl;  // nothing: the election's or the server's default
    // The candidate's last session, if it was lost against its will.
    std::optional<SessionId> previous = {};
  };

  ElectionName election;
  SessionId session;
  // Set if `session` was made for this call; a retry finds it open.
  std::optional<Opening> opening;
  // Set if the caller named the candidate of a session that it has.
  std::optional<std::string> candidate;
  std::string value;
  int32_t priority = 0;
  CallId call_id;
  // Ends the older sessions of the same candidate that stand here, and takes over their seat or
  // place. REQUIRES: `opening` or `candidate`.
  bool supersede = false;
  // The session led in this term and no longer believes in it. If it still leads in it, the term
  // ends and the session is elected in the next one, regardless of the queue, the settings or a
  // pause. Only an appointment that binds goes first: then the session gives up the seat, and
  // queues. If it leads in another term, or does not lead, this changes nothing.
  std::optional<Term> after_term = {};
  Principal principal = {};
};

struct CampaignAnswer {
  Session session;
  Election election;  // after the command
  bool elected = false;
};

// Takes the seats of several elections if all of them are free, and otherwise none. Never waits in
// a queue.
struct CampaignForAll {
  std::vector<ElectionName> elections;  // each once
  SessionId session;
  std::optional<Campaign::Opening> opening;
  std::optional<std::string> candidate;
  std::string value;
  CallId call_id;
  Principal principal = {};
};

struct CampaignForAllAnswer {
  Session session;
  std::vector<Leadership> leaderships;  // of all of them, or empty
  std::vector<ElectionName> blocked;    // those that are not free
};

// Changes the leader's value.
struct Proclaim {
  ElectionName election;
  SessionId session;
  Term term;
  std::string value;
  Principal principal = {};
};

struct ProclaimAnswer {
  Leadership leadership;
};

// Leaves an election: as the leader of `term`; with term 0, only from the queue; without a term,
// whatever the session is there.
struct Resign {
  ElectionName election;
  SessionId session;
  std::optional<Term> term;
  Principal principal = {};
};

enum class ResignOutcome { kResigned, kWithdrawn, kNotStanding, kSessionEnded };

struct ResignAnswer {
  ResignOutcome outcome = ResignOutcome::kNotStanding;
  Term term;  // of kResigned
};

// Withdraws the candidacy of one Campaign call, unless a later call of its session wants it too.
struct Withdraw {
  ElectionName election;
  SessionId session;
  CallId call_id;
};

// Brings an election in line with its sessions: ends the term of a leader whose session has ended,
// fills a vacant seat, and drops the place of `session` if it has ended. Every other command does
// the first two as well.
struct Reconcile {
  ElectionName election;
  std::optional<SessionId> session;
};

struct Done {};

// The commands of operators. Each is recorded with its author, if it changes anything. `term` is
// the election's highest term as the operator knows it: once another was granted, the command does
// nothing, so that a duplicate cannot hit a successor.

// Appoints a candidate to lead. Without `force` the leader is asked to make way, and the seat
// passes to the candidate when it is vacant next; with it the leader's term ends now.
struct Appoint {
  ElectionName election;
  Term term;
  std::string candidate;
  bool force = false;
  // How long to reserve the seat if the candidate is not standing yet.
  std::optional<Duration> reserve_for;
  Author author;
};

// Ends a term, and keeps its candidate from being elected for a while.
struct Depose {
  ElectionName election;
  Term term;
  Duration cool_down{0};
  Author author;
};

// While an election is paused, its seat is not granted. The current leader keeps it.
struct Pause {
  ElectionName election;
  bool paused = true;  // false: resume
  Author author;
};

// Changes the settings that are given.
struct Configure {
  ElectionName election;
  std::optional<Duration> lock_delay;
  std::optional<Duration> min_hold;
  std::optional<Duration> lease_ttl_default;
  std::optional<Duration> lease_ttl_max;
  std::optional<uint64_t> queue_max;
  bool create = false;  // the election, if it does not exist
  Author author;
  Principal principal = {};
};

// Removes an election's candidates, settings and history. Its term and revision live on.
struct Delete {
  ElectionName election;
  Term term;
  Author author;
};

struct AdminAnswer {
  Election election;  // after the command
  bool changed = false;
};

using Command = std::variant<Campaign, CampaignForAll, Proclaim, Resign, Withdraw, Reconcile,
                             Appoint, Depose, Pause, Configure, Delete>;
using Answer = std::variant<CampaignAnswer, CampaignForAllAnswer, ProclaimAnswer, ResignAnswer,
                            AdminAnswer, Done>;

// The elections that a command is about. Points into the command.
[[nodiscard]] std::span<const ElectionName> ElectionsOf(const Command& command);
// What all these commands together need to be decided.
[[nodiscard]] LockSet LockSetOf(const std::vector<const Command*>& commands);

// Takes the place of an abandoned call out of the queue, and decides nothing, unlike `Apply`. Call
// it for all withdrawals at the head of a batch before any command is applied: then none of their
// candidates is granted a seat. REQUIRES: what `Apply` requires.
void WithdrawPlace(TransactionState& transaction, const Withdraw& command);

// REQUIRES: the state holds what the command needs, as far as it exists.
// Errors: kSessionNotFound, kSessionEnded, and those named at each command in the proto.
[[nodiscard]] Result<Answer> Apply(TransactionState& transaction, const Limits& limits,
                                   const Command& command);

// Ends a session for `cause`; one that has ended keeps its first cause. Error: kSessionNotFound.
[[nodiscard]] Result<Session> EndSession(TransactionState& transaction, const SessionId& id,
                                         Cause cause, const Principal& principal = {});
// EndSession on behalf of an operator. Recorded, if the session had not ended before.
[[nodiscard]] Result<Session> DeposeSession(TransactionState& transaction, const SessionId& id,
                                            const Author& author);

// Sessions live in their homes (core/homes/kept_sessions.h). The home of a transaction is the
// replica that runs it.

// A renewal has reached this replica, which does not keep the session: it becomes the home.
// Errors: kSessionNotFound, kSessionEnded.
[[nodiscard]] Result<Session> Adopt(TransactionState& transaction, const SessionId& id,
                                    const Principal& principal = {});
// The home has heard nothing of the session for its lease. Changes nothing if the session has
// ended, or has moved since, even if it has come back.
void EndSilent(TransactionState& transaction, const SessionId& id, uint64_t moves);
// The lease has passed since the session's home was seen dead. Changes nothing if the session has
// ended, or another replica has become its home.
void EndOrphan(TransactionState& transaction, const SessionId& id, HomeId dead);

// For a database that has lost committed changes: raises an election's numbers by kBumpMin, or to
// `floor` if that is more, so that no number is used twice. Ends the term of the apparent leader,
// since a successor may have been lost. Hides earlier events: observers may have seen different
// ones with the same revisions. This is not a command, because commands first bring the election in
// line, in its old numbers.
void Bump(TransactionState& transaction, const ElectionName& name, uint64_t floor);

// The error that callers get for an ended session.
[[nodiscard]] Error SessionEndedError(const Session& session);
// The error that callers get for an election that does not exist.
[[nodiscard]] Error UnknownElectionError(const Election& election);

}  // namespace tenure
