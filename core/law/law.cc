#include "core/law/law.h"

#include <algorithm>
#include <utility>

#include "core/law/adaptive_lease.h"
#include "core/law/law_steps.h"

namespace tenure {
namespace {

using namespace law;

// REQUIRES: the session has ended.
void DropPlace(TransactionState& transaction, ElectionState& state, const Session& session) {
  if (Leads(state, session.id)) return Vacate(transaction, state, session.ended);
  const auto place = InQueue(state, session.id);
  if (place != state.queue.end()) RemoveFromQueue(transaction, state, place);
}

tl::unexpected<Error> NotLeader(const ElectionName& name) {
  return Fail(Reason::kNotLeader, "the session does not lead election '" + name.bytes + "'");
}

tl::unexpected<Error> NotLeaderInTerm(const Election& election, Term given) {
  return StaleTerm(election, "the session does not lead election '" + election.name.bytes +
                                 "' in term " + std::to_string(given.value) +
                                 "; the latest term is " + std::to_string(election.term.value));
}

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

void ChangeValue(TransactionState& transaction, Election& election, const std::string& value) {
  if (election.leader->value == value) return;
  election.leader->value = value;
  Record(transaction, election, EventType::kProclaimed);
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
  Inheritance inheritance;
  if (command.supersede) {
    inheritance = FindInheritance(transaction, state, command, session, candidate);
  }
  const bool inherits_seat =
      inheritance.seat && IsOpenTo(transaction, state, candidate, command.priority);
  if (!leads && !waits) {
    const auto allowed = CheckLeaseTtl(election, ttl_asked, limits);
    if (!allowed) return tl::unexpected(allowed.error());
    const bool elected_at_once =
        inherits_seat || IsFreeFor(transaction, state, candidate, command.priority);
    const bool needs_room = !elected_at_once && !inheritance.ticket;
    const uint64_t queue_max = election.settings.queue_max > 0
                                   ? std::min(election.settings.queue_max, limits.queue_max)
                                   : limits.queue_max;
    if (needs_room && election.waiting >= queue_max) {
      return Fail(Reason::kQueueFull,
                  "the queue of election '" + command.election.bytes +
                      "' is full: " + std::to_string(election.waiting) +
                      " candidates are waiting, and the limit is " + std::to_string(queue_max),
                  {{"limit", std::to_string(queue_max)}});
    }
  }

  // A takeover from older sessions takes on no more than these had.
  const bool takes_over = !inheritance.from.empty();
  const Usage more{session == nullptr && !takes_over ? 1u : 0u,
                   !led && !waits && !takes_over ? 1u : 0u, Creates(state, command.principal)};
  const auto within_quota = TakeOn(transaction, command.principal, more);
  if (!within_quota) return tl::unexpected(within_quota.error());

  if (session == nullptr) {
    session = &Open(transaction, limits, command.session, *command.opening, command.principal,
                    ttl_asked, LeaseTtlMax(election, limits));
  }
  BringIntoBeing(state, command.principal);

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
  const auto within_quota = TakeOn(transaction, command.principal, more);
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
      BringIntoBeing(state, command.principal);
      InsertInQueue(state,
                    TakeCandidacy(transaction, state, *session, 0, command.value, command.call_id));
      Grant(transaction, state, InQueue(state, session->id));
    }
    answer.leaderships.push_back(*LeadershipOf(election));
  }
  return answer;
}

Result<Answer> Decide(TransactionState& transaction, ElectionState& state,
                      const Proclaim& command) {
  const auto session = FindAlive(transaction, command.session, command.principal);
  if (!session) return tl::unexpected(session.error());
  Election& election = state.election;
  if (!state.exists) return UnknownElection(state.election);
  if (!Leads(state, command.session)) return NotLeader(command.election);
  if (election.term != command.term) return NotLeaderInTerm(election, command.term);

  election.leader->call_id = {};
  ChangeValue(transaction, election, command.value);
  return ProclaimAnswer{*LeadershipOf(election)};
}

Result<Answer> Decide(TransactionState& transaction, ElectionState& state, const Resign& command) {
  const auto session = FindUsable(transaction, command.session, command.principal);
  if (!session) return tl::unexpected(session.error());
  if (!state.exists) return UnknownElection(state.election);
  if (!(*session)->Alive()) {
    DropPlace(transaction, state, **session);
    return ResignAnswer{ResignOutcome::kSessionEnded, {}};
  }

  const Term term = state.election.term;
  const bool other_term = command.term && *command.term != term;
  if (Leads(state, command.session)) {
    if (other_term) return NotLeaderInTerm(state.election, *command.term);
    Vacate(transaction, state, Cause::kResigned);
    return ResignAnswer{ResignOutcome::kResigned, term};
  }
  const auto place = InQueue(state, command.session);
  if (place != state.queue.end()) {
    if (command.term > Term{0}) return NotLeaderInTerm(state.election, *command.term);
    RemoveFromQueue(transaction, state, place);
    return ResignAnswer{ResignOutcome::kWithdrawn, {}};
  }
  const bool seat_of_another = command.term && !other_term && state.election.leader;
  if (seat_of_another) return NotLeader(command.election);
  return ResignAnswer{ResignOutcome::kNotStanding, {}};
}

Result<Answer> Decide(TransactionState& transaction, ElectionState& state,
                      const Reconcile& command) {
  if (!command.session) return Done{};
  Session* session = Find(transaction, *command.session);
  if (session != nullptr && !session->Alive()) DropPlace(transaction, state, *session);
  return Done{};
}

// Adds what a command needs.
struct LockSetBuilder {
  LockSet& locks;

  void operator()(const Campaign& it) const {
    LockSet::Part& part = ForCampaign(it, it.election);
    if (!it.supersede) return;
    part.candidates.insert(it.opening ? it.opening->candidate : it.candidate.value());
    part.departures += 1;
  }
  void operator()(const CampaignForAll& it) const {
    for (const ElectionName& name : it.elections) (void)ForCampaign(it, name);
  }
  void operator()(const Proclaim& it) const { At(it).sessions.push_back(it.session); }
  void operator()(const Resign& it) const { ForDeparture(it).sessions.push_back(it.session); }
  void operator()(const Withdraw& it) const { ForDeparture(it).sessions.push_back(it.session); }
  void operator()(const Reconcile& it) const {
    LockSet::Part& part = ForDeparture(it);
    if (it.session) part.sessions.push_back(*it.session);
  }
  void operator()(const Appoint& it) const { ForDeparture(it).candidates.insert(it.candidate); }
  void operator()(const Depose& it) const { (void)ForDeparture(it); }
  void operator()(const Pause& it) const { (void)ForDeparture(it); }
  void operator()(const Configure& it) const {
    LockSet::Part& part = At(it);
    if (it.create) AddCreator(part, it.principal);
  }
  void operator()(const Delete& it) const { (void)At(it); }

  LockSet::Part& At(const auto& it) const { return locks.elections[it.election]; }
  LockSet::Part& ForDeparture(const auto& it) const {
    LockSet::Part& part = At(it);
    part.departures += 1;
    return part;
  }
  LockSet::Part& ForCampaign(const auto& it, const ElectionName& name) const {
    LockSet::Part& part = locks.elections[name];
    AddCreator(part, it.principal);
    part.sessions.push_back(it.session);
    if (it.opening) locks.opened.insert(it.session);
    if (it.opening && it.opening->previous) part.sessions.push_back(*it.opening->previous);
    if (it.principal.quota.Limits()) locks.identities.insert(it.principal.identity);
    return part;
  }
  static void AddCreator(LockSet::Part& part, const Principal& principal) {
    part.create = true;
    if (principal.quota.elections) part.creators.insert(principal.identity);
  }
};

}  // namespace

std::span<const ElectionName> ElectionsOf(const Command& command) {
  return std::visit(
      []<typename It>(const It& it) -> std::span<const ElectionName> {
        if constexpr (std::is_same_v<It, CampaignForAll>) {
          return it.elections;
        } else {
          return {&it.election, 1};
        }
      },
      command);
}

LockSet LockSetOf(const std::vector<const Command*>& commands) {
  LockSet locks;
  for (const Command* command : commands) std::visit(LockSetBuilder{locks}, *command);
  return locks;
}

void TakeBack(TransactionState& transaction, const Withdraw& command) {
  if (command.call_id == CallId{}) return;
  ElectionState& state = transaction.elections.at(command.election);
  const auto place = InQueue(state, command.session);
  if (place != state.queue.end() && place->call_id == command.call_id) {
    RemoveFromQueue(transaction, state, place);
  }
}

Result<Answer> Apply(TransactionState& transaction, const Limits& limits, const Command& command) {
  // First, so that the seat is not granted to a candidate whose caller is gone.
  if (const auto* withdraw = std::get_if<Withdraw>(&command)) TakeBack(transaction, *withdraw);
  for (const ElectionName& name : ElectionsOf(command)) {
    ElectionState& state = transaction.elections.at(name);
    if (state.exists) ReconcileElection(transaction, state);
  }
  return std::visit(
      [&]<typename It>(const It& it) -> Result<Answer> {
        if constexpr (std::is_same_v<It, CampaignForAll>) {
          return Decide(transaction, limits, it);
        } else if constexpr (std::is_same_v<It, Withdraw>) {
          return Done{};
        } else {
          ElectionState& state = transaction.elections.at(it.election);
          if constexpr (requires { Decide(transaction, limits, state, it); }) {
            return Decide(transaction, limits, state, it);
          } else {
            return Decide(transaction, state, it);
          }
        }
      },
      command);
}

Result<Session> EndSession(TransactionState& transaction, const SessionId& id, Cause cause,
                           const Principal& principal) {
  const auto session = FindUsable(transaction, id, principal);
  if (!session) return tl::unexpected(session.error());
  if ((*session)->Alive()) End(transaction, **session, cause);
  return **session;
}

Result<Session> DeposeSession(TransactionState& transaction, const SessionId& id,
                              const Asker& asker) {
  const bool was_alive = FindAlive(transaction, id, {}).has_value();
  const auto ended = EndSession(transaction, id, Cause::kDeposed);
  if (was_alive) {
    transaction.admin_changes.push_back(
        {{},
         AdminAction::kSessionEnded,
         {},
         transaction.now,
         "session " + id.Handle() + " of '" + ended->candidate + "'",
         asker});
  }
  return ended;
}

Result<Session> Adopt(TransactionState& transaction, const SessionId& id,
                      const Principal& principal) {
  const auto session = FindAlive(transaction, id, principal);
  if (!session) return tl::unexpected(session.error());
  Session& adopted = **session;
  if (adopted.HasHome() && adopted.home != transaction.home) {
    transaction.departures.push_back({adopted.home, id, adopted.moves + 1});
  }
  adopted.home = transaction.home;
  ++adopted.moves;
  return adopted;
}

void EndSilent(TransactionState& transaction, const SessionId& id, uint64_t moves) {
  Session* session = Find(transaction, id);
  const bool kept = session != nullptr && session->Alive() && session->home == transaction.home &&
                    session->moves == moves;
  if (kept) EndAtHome(transaction, *session, Cause::kExpired);
}

void EndOrphan(TransactionState& transaction, const SessionId& id, HomeId dead) {
  Session* session = Find(transaction, id);
  const bool orphan = session != nullptr && session->Alive() && session->home == dead;
  if (orphan) EndAtHome(transaction, *session, Cause::kExpired);
}

void Bump(TransactionState& transaction, const ElectionName& name, uint64_t floor) {
  ElectionState& state = transaction.elections.at(name);
  Election& election = state.election;
  election.revision.value = std::max(election.revision.value + kBumpMin, floor);
  election.history_from = election.revision.Next();
  if (election.leader) {
    Session* session = Find(transaction, election.leader->session);
    if (session != nullptr && session->Alive()) End(transaction, *session, Cause::kDeposed);
    EndTerm(transaction, state, session == nullptr ? Cause::kExpired : session->ended,
            transaction.now + election.settings.lock_delay);
  }
  election.term.value = std::max(election.term.value + kBumpMin, floor);
  Promote(transaction, state);
}

Error UnknownElectionError(const Election& election) {
  const std::string name = "'" + election.name.bytes + "'";
  return {Reason::kElectionNotFound,
          election.deleted
              ? "election " + name + " was deleted, and nobody has campaigned in it since"
              : "nobody has ever campaigned in election " + name};
}

Error SessionEndedError(const Session& session) {
  const std::string cause(CauseName(session.ended));
  return {Reason::kSessionEnded,
          "session " + session.id.Handle() + " has ended: " + cause,
          {{"cause", cause}}};
}

}  // namespace tenure
