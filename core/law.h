// The law of elections. Pure: no clock, no I/O, no state of its own.
//
// Each function applies one command to the docket of one transaction, by the docket's `now`, and
// answers. Commands of one batch are applied one after the other to the same docket. What must be
// true after each of them (the numbers are those of docs/architecture.md):
//   1. A term is granted at most once: every grant is term + 1 under the election's lock.
//   2. An election has at most one leader.
//   3. A grant goes to a candidacy that is in the queue, of a session that is alive at `now`.
//   4. A session that has ended stays so.
//   6. Every change of leader, term or value has its event; revisions have no gaps.
//   9. A command applied twice answers as if it had been applied once, and changes nothing more.
// An error changes nothing, except that what is over is marked as over.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/docket.h"
#include "core/error.h"
#include "core/limits.h"
#include "core/types.h"

namespace tenure {

// Stands for an election.
struct Campaign {
  // What a session is opened with.
  struct Opening {
    std::string candidate;
    Duration lease_ttl{0};
  };

  ElectionName election;
  SessionId session;
  // Set if `session` was made for this call; a retry finds it open.
  std::optional<Opening> opening;
  // Set if the caller named the candidate of a session that it has.
  std::optional<std::string> candidate;
  std::string value;
  int32_t priority = 0;
  Attempt attempt;
};

struct CampaignAnswer {
  Session session;
  Election election;  // after the command
  bool elected = false;
};

// Changes the leader's value.
struct Proclaim {
  ElectionName election;
  SessionId session;
  Term term;
  std::string value;
};

struct ProclaimAnswer {
  Leadership leadership;
};

// Leaves an election.
struct Resign {
  ElectionName election;
  SessionId session;
  std::optional<Term> term;
};

enum class ResignOutcome { kResigned, kWithdrawn, kNotStanding, kSessionEnded };

struct ResignAnswer {
  ResignOutcome outcome = ResignOutcome::kNotStanding;
  Term term;  // of kResigned
};

// Takes back what one Campaign call asked for, if no later call of its session asked for it too.
struct Withdraw {
  ElectionName election;
  SessionId session;
  Attempt attempt;
};

// Brings an election in line with its sessions: ends the term of a leader whose session is over,
// fills a vacant seat, and drops `session`'s place if that session is over. Every other command
// does the first two as well.
struct Settle {
  ElectionName election;
  std::optional<SessionId> session;
};

struct Done {};

using Command = std::variant<Campaign, Proclaim, Resign, Withdraw, Settle>;
using Answer = std::variant<CampaignAnswer, ProclaimAnswer, ResignAnswer, Done>;

[[nodiscard]] const ElectionName& ElectionOf(const Command& command);
[[nodiscard]] std::optional<SessionId> SessionOf(const Command& command);
// Whether a command may bring its election into being.
[[nodiscard]] bool Creates(const Command& command);

// REQUIRES: the docket holds the command's election and, if it exists, its session.
// Errors: kSessionNotFound, kSessionEnded, and those named at each command in the proto.
[[nodiscard]] Result<Answer> Apply(Docket& docket, const Limits& limits, const Command& command);

// Renews a lease, from `now`. A lease is never made shorter. Errors: kSessionNotFound,
// kSessionEnded.
[[nodiscard]] Result<Session> Renew(Docket& docket, const SessionId& id);

// Ends a session for `cause`; one that has ended keeps its first cause. Error: kSessionNotFound.
[[nodiscard]] Result<Session> EndSession(Docket& docket, const SessionId& id, Cause cause);

// Ends a session if its lease is over by `now`.
void ExpireIfDue(Docket& docket, const SessionId& id);

// What callers are told of an ended session.
[[nodiscard]] Error SessionEndedError(const Session& session);

}  // namespace tenure
