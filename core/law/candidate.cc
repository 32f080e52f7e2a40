// What a candidate may do: stand for an election, or for several at once.
#include <algorithm>
#include <utility>

#include "core/law/adaptive_lease.h"
#include "core/law/steps.h"

namespace tenure::law {
namespace {

Duration LeaseTtlMax(const Election& election, const Limits& limits) {
  const Duration of_election = election.settings.lease_ttl_max;
  return of_election > Duration(0) ? std::min(of_election, limits.lease_ttl_max)
                                   : limits.lease_ttl_max;
}

Duration LeaseTtlAsked(const Election& election, const Campaign::Opening& opening,
                       const Limits& limits) {
  if (opening.lease_ttl) return *opening.lease_ttl;
  const Duration of_election = election.settings.lease_ttl_default;
  return std::min(of_election > Duration(0) ? of_election : limits.lease_ttl_default,
                  LeaseTtlMax(election, limits));
}

Result<void> CheckLeaseTtl(const Election& election, Duration ttl, const Limits& limits) {
  const Duration max = LeaseTtlMax(election, limits);
  if (ttl <= max) return {};
  const auto milliseconds = [](Duration duration) {
    return std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(duration).count());
  };
  return Fail(Reason::kInvalidLeaseTtl,
              "a lease of " + milliseconds(ttl) + " ms is too long for election '" +
                  election.name.bytes + "'; its maximum is " + milliseconds(max) + " ms",
              {{"min_ms", milliseconds(limits.lease_ttl_min)}, {"max_ms", milliseconds(max)}});
}

// Whether a session may enter the election: its lease, and room in the queue if it needs that.
Result<void> CheckEntry(const Election& election, Duration ttl, bool needs_room,
                        const Limits& limits) {
  const auto lease = CheckLeaseTtl(election, ttl, limits);
  if (!lease || !needs_room) return lease;
  const uint64_t of_election = election.settings.queue_max;
  const uint64_t max = of_election > 0 ? std::min(of_election, limits.queue_max) : limits.queue_max;
  if (election.waiting < max) return {};
  return Fail(Reason::kQueueFull,
              "the queue of election '" + election.name.bytes +
                  "' is full: " + std::to_string(election.waiting) +
                  " candidates are waiting, and the limit is " + std::to_string(max),
              {{"limit", std::to_string(max)}});
}

// The session that a command speaks for, or nothing if the command is to open it.
// Errors: kSessionNotFound, kSessionEnded, kInvalidCandidate.
Result<Session*> FindStanding(TransactionState& transaction, const SessionId& id,
                              const std::optional<Campaign::Opening>& opening,
                              const std::optional<std::string>& candidate,
                              const Principal& principal) {
  if (opening && Find(transaction, id) == nullptr) return nullptr;
  const auto alive = FindAlive(transaction, id, principal);
  if (!alive) return alive;
  const std::string& named = opening ? opening->candidate : candidate.value_or((*alive)->candidate);
  if (named == (*alive)->candidate) return alive;
  return Fail(Reason::kInvalidCandidate, "the session belongs to candidate '" +
                                             (*alive)->candidate + "', not to '" + named + "'");
}

// The candidate's previous session, if that expired while the candidate was running.
const Session* ExpiredPrematurely(TransactionState& transaction, const Campaign::Opening& opening,
                                  const Principal& principal) {
  if (!opening.previous) return nullptr;
  const auto previous = FindUsable(transaction, *opening.previous, principal);
  if (!previous || (*previous)->candidate != opening.candidate) return nullptr;
  return (*previous)->ended == Cause::kExpired ? *previous : nullptr;
}

Session& Open(TransactionState& transaction, const Limits& limits, const SessionId& id,
              const Campaign::Opening& opening, const Principal& principal, Duration asked,
              Duration max) {
  Duration ttl = asked;
  if (const Session* lost = ExpiredPrematurely(transaction, opening, principal)) {
    ++transaction.premature_expirations;
    if (limits.adaptive_leases) ttl = LongerLease(*lost, asked, max);
  }
  const Session opened{.id = id,
                       .candidate = opening.candidate,
                       .lease_ttl = ttl,
                       .opened_at = transaction.now,
                       .lease_ttl_asked = asked,
                       .lease_ttl_since = transaction.now,
                       .identity = principal.identity,
                       .home = transaction.home,
                       .moves = 1};
  transaction.opened.push_back(id);
  return transaction.sessions.insert_or_assign(id, opened).first->second;
}

void CampaignAsLeader(TransactionState& transaction, Election& election, const std::string& value,
                      CallId call_id) {
  if (election.leader->call_id != call_id) election.leader->call_id = {};
  ChangeValue(transaction, election, value);
}

// The session's new candidacy: in its old place, if it has one, or else in a new one. Not in the
// queue until the caller inserts it.
Candidacy TakeCandidacy(TransactionState& transaction, ElectionState& state, const Session& session,
                        int32_t priority, const std::string& value, CallId call_id) {
  Candidacy candidacy{session.id, session.candidate, session.lease_ttl, {}, priority, value,
                      call_id};
  const auto place = InQueue(state, session.id);
  if (place != state.queue.end()) {
    candidacy.ticket = place->ticket;
    candidacy.asked_again = place->asked_again || place->call_id != call_id;
    RemoveFromQueue(transaction, state, place);
  } else {
    Ticket& next = state.election.next_ticket;
    candidacy.ticket = std::exchange(next, next.Next());
  }
  return candidacy;
}

// Whether this candidate would be elected at once. REQUIRES: the election is in line, so that
// no waiting candidate may have the seat now.
bool IsFreeFor(TransactionState& transaction, const ElectionState& state,
               const std::string& candidate, int32_t priority) {
  return !state.election.leader && !transaction.undecided.contains(state.election.name) &&
         IsOpenTo(transaction, state, candidate, priority);
}

// What a candidate takes over from its older sessions.
struct Inheritance {
  std::vector<SessionId> from;
  bool seat = false;
  std::optional<Ticket> ticket;  // the earliest
};

// Inherits from live sessions of the same candidate and identity that stand here. A session that
// this command opens (`heir` is null) is newer than all others, whatever the clock says. A paused
// election keeps its leader.
Inheritance FindInheritance(TransactionState& transaction, const ElectionState& state,
                            const Campaign& command, const Session* heir,
                            const std::string& candidate) {
  Inheritance inheritance;
  const std::string& identity = heir ? heir->identity : command.principal.identity;
  const auto inherits_from = [&](const auto& older) {
    if (older.candidate != candidate || older.session == command.session) return false;
    Session* session = Find(transaction, older.session);
    if (session == nullptr || !session->Alive() || session->identity != identity) return false;
    if (heir && session->opened_at > heir->opened_at) return false;
    inheritance.from.push_back(older.session);
    return true;
  };
  for (const Candidacy& place : state.queue) {
    if (!inherits_from(place)) continue;
    inheritance.ticket = std::min(inheritance.ticket.value_or(place.ticket), place.ticket);
  }
  const auto& leader = state.election.leader;
  inheritance.seat = leader && !state.election.paused && inherits_from(*leader);
  return inheritance;
}

void EndOlderSessions(TransactionState& transaction, ElectionState& state,
                      const Inheritance& inheritance) {
  for (const SessionId& id : inheritance.from) {
    End(transaction, transaction.sessions.at(id), Cause::kSuperseded);
    const auto place = InQueue(state, id);
    if (place != state.queue.end()) RemoveFromQueue(transaction, state, place);
  }
  if (inheritance.seat) EndTerm(transaction, state, Cause::kSuperseded, transaction.now);
}

}  // namespace

Result<Answer> Decide(TransactionState& transaction, const Limits& limits, ElectionState& state,
                      const Campaign& command) {
  const auto standing = FindStanding(transaction, command.session, command.opening,
                                     command.candidate, command.principal);
  if (!standing) return tl::unexpected(standing.error());
  Session* session = *standing;
  Election& election = state.election;
  const std::string& candidate = session ? session->candidate : command.opening->candidate;
  const bool led = Leads(state, command.session);
  const bool ends_term = led && command.after_term == election.term;
  const bool gives_way = ends_term && Binds(transaction, state);
  const bool next_term = ends_term && !gives_way;
  const bool leads = led && !gives_way;
  const bool waits = InQueue(state, command.session) != state.queue.end();
  const Duration ttl_asked =
      session ? session->lease_ttl : LeaseTtlAsked(election, *command.opening, limits);
  const Inheritance inheritance =
      command.supersede ? FindInheritance(transaction, state, command, session, candidate)
                        : Inheritance();
  const bool inherits_seat =
      inheritance.seat && IsOpenTo(transaction, state, candidate, command.priority);
  if (!leads && !waits) {
    const bool needs_room = !inherits_seat && !inheritance.ticket &&
                            !IsFreeFor(transaction, state, candidate, command.priority);
    const auto allowed = CheckEntry(election, ttl_asked, needs_room, limits);
    if (!allowed) return tl::unexpected(allowed.error());
  }

  // A takeover from older sessions takes on no more than these had.
  const bool takes_over = !inheritance.from.empty();
  const Usage more{session == nullptr && !takes_over ? 1u : 0u,
                   !led && !waits && !takes_over ? 1u : 0u, Creates(state, command.principal)};
  const auto within_quota = Charge(transaction, command.principal, more);
  if (!within_quota) return tl::unexpected(within_quota.error());

  if (session == nullptr) {
    session = &Open(transaction, limits, command.session, *command.opening, command.principal,
                    ttl_asked, LeaseTtlMax(election, limits));
  }
  Create(state, command.principal);

  if (leads && !next_term) {
    EndOlderSessions(transaction, state, inheritance);
    CampaignAsLeader(transaction, election, command.value, command.call_id);
    return CampaignAnswer{*session, election, true};
  }
  Candidacy candidacy =
      TakeCandidacy(transaction, state, *session, command.priority, command.value, command.call_id);
  EndOlderSessions(transaction, state, inheritance);
  if (gives_way) Vacate(transaction, state, Cause::kResigned);
  if (next_term) EndTerm(transaction, state, Cause::kResigned, transaction.now);
  candidacy.ticket = std::min(candidacy.ticket, inheritance.ticket.value_or(candidacy.ticket));
  InsertInQueue(state, std::move(candidacy));
  if (inherits_seat || next_term) {
    Grant(transaction, state, InQueue(state, session->id));
  } else {
    Promote(transaction, state);
  }
  return CampaignAnswer{*session, election, Leads(state, session->id)};
}

// Several elections in one decision: their seats are taken only if all of them are free.
Result<Answer> Decide(TransactionState& transaction, const Limits& limits,
                      const CampaignForAll& command) {
  const auto standing = FindStanding(transaction, command.session, command.opening,
                                     command.candidate, command.principal);
  if (!standing) return tl::unexpected(standing.error());
  Session* session = *standing;
  const std::string& candidate = session ? session->candidate : command.opening->candidate;

  // The strictest of the elections limits the lease.
  Duration ttl_asked = session ? session->lease_ttl : limits.lease_ttl_max;
  Duration ttl_max = limits.lease_ttl_max;
  CampaignForAllAnswer answer;
  for (const ElectionName& name : command.elections) {
    const ElectionState& state = transaction.elections.at(name);
    if (session == nullptr) {
      ttl_asked = std::min(ttl_asked, LeaseTtlAsked(state.election, *command.opening, limits));
    }
    ttl_max = std::min(ttl_max, LeaseTtlMax(state.election, limits));
    if (Leads(state, command.session)) continue;
    if (!IsFreeFor(transaction, state, candidate, 0)) answer.blocked.push_back(name);
  }
  for (const ElectionName& name : command.elections) {
    const ElectionState& state = transaction.elections.at(name);
    if (Leads(state, command.session)) continue;
    const auto allowed = CheckLeaseTtl(state.election, ttl_asked, limits);
    if (!allowed) return tl::unexpected(allowed.error());
  }

  Usage more{.sessions = session == nullptr ? 1u : 0u};
  if (answer.blocked.empty()) {
    for (const ElectionName& name : command.elections) {
      const ElectionState& state = transaction.elections.at(name);
      more.candidacies += Leads(state, command.session) ? 0 : 1;
      more.elections += Creates(state, command.principal);
    }
  }
  const auto within_quota = Charge(transaction, command.principal, more);
  if (!within_quota) return tl::unexpected(within_quota.error());

  if (session == nullptr) {
    session = &Open(transaction, limits, command.session, *command.opening, command.principal,
                    ttl_asked, ttl_max);
  }
  answer.session = *session;
  if (!answer.blocked.empty()) return answer;
  for (const ElectionName& name : command.elections) {
    ElectionState& state = transaction.elections.at(name);
    Election& election = state.election;
    if (Leads(state, session->id)) {
      CampaignAsLeader(transaction, election, command.value, command.call_id);
    } else {
      Create(state, command.principal);
      InsertInQueue(state,
                    TakeCandidacy(transaction, state, *session, 0, command.value, command.call_id));
      Grant(transaction, state, InQueue(state, session->id));
    }
    answer.leaderships.push_back(*LeadershipOf(election));
  }
  return answer;
}

}  // namespace tenure::law
