#include "core/law_steps.h"

#include <algorithm>
#include <utility>

#include "core/lease.h"

namespace tenure::law {
namespace {

// Calm has lasted for long enough: the lease goes half the way back.
void ShrinkWhenCalm(Session& session, DbTime now) {
  const bool longer = session.lease_ttl_asked > Duration(0) &&  // 0: not known
                      session.lease_ttl > session.lease_ttl_asked;
  if (!longer || now - session.lease_ttl_since < kCalmPeriod) return;
  session.lease_ttl = std::max(session.lease_ttl_asked, session.lease_ttl / kLeaseGrowth);
  session.lease_ttl_since = now;
}

bool HasLiveSession(TransactionState& transaction, const Candidacy& candidacy) {
  Session* session = Find(transaction, candidacy.session);
  return session != nullptr && Alive(transaction, *session);
}

bool CoolsDown(const TransactionState& transaction, const ElectionState& state,
               const std::string& candidate) {
  const auto found = state.cool_downs.find(candidate);
  return found != state.cool_downs.end() && transaction.now < found->second;
}

std::optional<DbTime> NextEndOfCoolDown(const TransactionState& transaction,
                                        const ElectionState& state) {
  std::optional<DbTime> next;
  for (const auto& [candidate, until] : state.cool_downs) {
    if (transaction.now < until) next = std::min(next.value_or(until), until);
  }
  return next;
}

// An appointed candidate goes first, wherever it is in the queue.
bool PromoteAppointed(TransactionState& transaction, ElectionState& state) {
  for (auto place = state.queue.begin(); place != state.queue.end(); ++place) {
    const bool appointed = place->candidate == state.election.appointment->candidate;
    if (!appointed || !HasLiveSession(transaction, *place)) continue;
    Grant(transaction, state, place);
    return true;
  }
  return false;
}

// Since when the database was away, for a term: one that was granted between two outages has only
// the last one behind it.
DbTime Began(const Outage& outage, const Leader& leader) {
  return leader.elected_at <= outage.began + kOutageMin ? outage.began : outage.last_began;
}

// Whether a holder renewed its lease until the database went away, and had stopped believing in it
// when the database was back, or too soon afterwards to renew it.
bool LostToOutage(const Outage& outage, const Leader& leader, const Session& session) {
  const Duration missable = session.lease_ttl / 2;  // a holder has renewed it by then
  const DbTime began = Began(outage, leader);
  const DbTime believed_until = session.expires_at + -session.lease_ttl / kBeliefDivisor;
  return outage.ended - began >= missable && session.expires_at - began >= missable &&
         believed_until <= outage.ended + std::min(outage.incumbent_wait, missable);
}

// Whether a term that ends with a resignation, so soon after the outage, may have begun before it.
// The holder's session may have been renewed since it stopped believing in this term.
bool ResignedAfterOutage(const TransactionState& transaction, const Leader& leader,
                         const Session& session) {
  const Outage& outage = *transaction.outage;
  const Duration missable = session.lease_ttl / 2;
  const DbTime began = Began(outage, leader);
  return leader.elected_at <= began + kOutageMin && outage.ended - began >= missable &&
         transaction.now <= outage.ended + std::min(outage.incumbent_wait, missable);
}

// Whether the term that ends now is one that an outage has cost. A holder that has stopped
// believing resigns, if the database is back before its lease is over.
bool IsLostToOutage(TransactionState& transaction, const ElectionState& state, Cause cause) {
  const Leader& leader = *state.election.leader;
  const Session* session = Find(transaction, leader.session);
  const bool may_be_lost = cause == Cause::kExpired || cause == Cause::kResigned;
  if (!may_be_lost || session == nullptr || !transaction.outage) return false;
  if (transaction.outage->incumbent_wait == Duration(0)) return false;
  return LostToOutage(*transaction.outage, leader, *session) ||
         (cause == Cause::kResigned && ResignedAfterOutage(transaction, leader, *session));
}

// The incumbent, while the seat is kept for it.
const Incumbent* KeptFor(const TransactionState& transaction, const Election& election) {
  const Incumbent* incumbent = IncumbentOf(election);
  const bool kept = incumbent != nullptr && transaction.now < incumbent->until &&
                    transaction.now >= election.vacancy->since;  // the clock may have been set back
  return kept ? incumbent : nullptr;
}

// Not enough of the queue was read. The election is due at once: the next search of any replica
// finds it if the replica that committed this does not get to it.
void LeaveUndecided(TransactionState& transaction, ElectionState& state) {
  transaction.undecided.insert(state.election.name);
  state.election.wake_at = transaction.now;
}

// An incumbent that wants to lead on goes first, wherever it is in the queue.
void PromoteIncumbent(TransactionState& transaction, ElectionState& state,
                      const Incumbent& incumbent) {
  for (auto place = state.queue.begin(); place != state.queue.end(); ++place) {
    if (place->candidate != incumbent.candidate || place->priority < 0) continue;
    if (CoolsDown(transaction, state, place->candidate)) continue;
    if (HasLiveSession(transaction, *place)) return Grant(transaction, state, place);
  }
  if (state.horizon && state.incumbent_unread) return LeaveUndecided(transaction, state);
  state.election.wake_at = incumbent.until;
}

// The first in the queue that has a live session, is not kept out, and wants to lead.
void PromoteFirst(TransactionState& transaction, ElectionState& state) {
  for (auto place = state.queue.begin(); place != state.queue.end(); ++place) {
    if (state.horizon && state.horizon->Before(*place)) break;
    if (place->priority < 0) continue;
    if (CoolsDown(transaction, state, place->candidate)) continue;
    if (!HasLiveSession(transaction, *place)) continue;
    return Grant(transaction, state, place);
  }
  if (state.horizon) return LeaveUndecided(transaction, state);
  state.election.wake_at = NextEndOfCoolDown(transaction, state);
}

// Since when nobody leads by right, once a term has ended at `now`.
DbTime VacantSince(TransactionState& transaction, const Leader& leader, Cause cause) {
  const Session* session = Find(transaction, leader.session);
  const bool lapsed = cause == Cause::kExpired && session != nullptr;
  return lapsed ? std::min(session->expires_at, transaction.now) : transaction.now;
}

DbTime ReopensAt(const Election& election, Cause cause, DbTime now) {
  switch (cause) {
    case Cause::kResigned:
    case Cause::kSessionClosed: {
      // The clock may have been set back since the grant.
      const Duration min_hold = election.settings.min_hold;
      return std::clamp(election.leader->elected_at + min_hold, now, now + min_hold);
    }
    case Cause::kExpired:
    case Cause::kDeposed: return now + election.settings.lock_delay;
    default: return now;
  }
}

}  // namespace

void End(TransactionState& transaction, Session& session, Cause cause) {
  EndAtHome(transaction, session, cause);
  if (session.HasHome() && session.home != transaction.home) {
    transaction.departures.push_back({session.home, session.id, session.moves + 1});
  }
}

void EndAtHome(TransactionState& transaction, Session& session, Cause cause) {
  session.ended = cause;
  if (session.HasHome()) session.expires_at = transaction.now;
  transaction.ended.push_back(session.id);
}

bool Alive(TransactionState& transaction, Session& session) {
  if (session.ended == Cause::kNone && !session.AliveAt(transaction.now)) {
    End(transaction, session, Cause::kExpired);
  }
  return session.ended == Cause::kNone;
}

Session* Find(TransactionState& transaction, const SessionId& id) {
  const auto found = transaction.sessions.find(id);
  return found == transaction.sessions.end() ? nullptr : &found->second;
}

Result<Session*> FindUsable(TransactionState& transaction, const SessionId& id,
                            const Principal& principal) {
  Session* session = Find(transaction, id);
  if (session != nullptr && session->MayBeUsedBy(principal)) return session;
  return Fail(Reason::kSessionNotFound, "no such session");
}

Result<Session*> FindAlive(TransactionState& transaction, const SessionId& id,
                           const Principal& principal) {
  const auto session = FindUsable(transaction, id, principal);
  if (!session || Alive(transaction, **session)) return session;
  return tl::unexpected<Error>(SessionEndedError(**session));
}

void ExtendLease(Session& session, DbTime now) {
  if (session.HasHome()) return;  // which counts it
  ShrinkWhenCalm(session, now);
  // The clock may have been set back since. By less than a lease, it may be another server's clock.
  const DbTime longest = LongestLease(session, now);
  if (session.expires_at > longest + session.lease_ttl) session.expires_at = longest;
  session.expires_at = std::max(session.expires_at, now + session.lease_ttl);
}

DbTime LongestLease(const Session& session, DbTime now) {
  // A renewal that was answered before the lease was made shorter promised more than the latest.
  const bool was_longer = session.lease_ttl_since != session.opened_at;
  if (!was_longer) return now + session.lease_ttl;
  return now + std::max(session.lease_ttl, session.lease_ttl_asked * kLeaseGrowthMax);
}

Place InQueue(ElectionState& state, const SessionId& id) {
  return std::ranges::find(state.queue, id, &Candidacy::session);
}

void RemoveFromQueue(TransactionState& transaction, ElectionState& state, Place place) {
  state.queue.erase(place);
  if (--state.election.waiting > 0) return;
  state.election.wake_at.reset();
  transaction.undecided.erase(state.election.name);
}

void InsertInQueue(ElectionState& state, Candidacy candidacy) {
  const auto place = std::ranges::find_if(
      state.queue, [&](const Candidacy& other) { return candidacy.Before(other); });
  state.queue.insert(place, std::move(candidacy));
  ++state.election.waiting;
}

bool Stands(TransactionState& transaction, const ElectionState& state,
            const std::string& candidate) {
  return std::ranges::any_of(state.queue, [&](const Candidacy& candidacy) {
    return candidacy.candidate == candidate && HasLiveSession(transaction, candidacy);
  });
}

bool Leads(const ElectionState& state, const SessionId& id) {
  return state.election.leader && state.election.leader->session == id;
}

bool Binds(TransactionState& transaction, const ElectionState& state) {
  const auto& appointment = state.election.appointment;
  if (!appointment) return false;
  if (appointment->until && transaction.now < *appointment->until) return true;
  return Stands(transaction, state, appointment->candidate);
}

bool IsOpenTo(TransactionState& transaction, const ElectionState& state,
              const std::string& candidate, int32_t priority) {
  const Election& election = state.election;
  if (election.paused || transaction.now < election.vacant_until) return false;
  if (Binds(transaction, state)) return election.appointment->candidate == candidate;
  const Incumbent* incumbent = KeptFor(transaction, election);
  if (incumbent != nullptr && incumbent->candidate != candidate) return false;
  return priority >= 0 && !CoolsDown(transaction, state, candidate);
}

void Record(TransactionState& transaction, Election& election, EventType type, Cause cause) {
  election.revision = election.revision.Next();
  transaction.events.push_back({election.name, election.revision, type, cause, election.term,
                                *election.leader, transaction.now});
}

void Grant(TransactionState& transaction, ElectionState& state, Place place) {
  Election& election = state.election;
  const bool appointed =
      election.appointment && election.appointment->candidate == place->candidate;
  const Incumbent* incumbent = KeptFor(transaction, election);
  const bool returned = incumbent != nullptr && incumbent->candidate == place->candidate;
  transaction.successions.push_back({election.vacancy, appointed, returned});
  election.vacancy.reset();
  election.term = election.term.Next();
  election.leader =
      Leader{place->session, place->candidate, place->lease_ttl,
             place->value,   transaction.now,  place->asked_again ? CallId{} : place->call_id};
  election.vacant_until = {};
  transaction.undecided.erase(election.name);
  election.wake_at.reset();
  election.appointment.reset();  // it is fulfilled, or void
  if (election.cooling_until <= transaction.now) election.cooling_until = {};
  RemoveFromQueue(transaction, state, place);
  Record(transaction, election, EventType::kElected);
}

void Promote(TransactionState& transaction, ElectionState& state) {
  Election& election = state.election;
  if (election.leader) return;
  transaction.undecided.erase(election.name);
  election.wake_at.reset();
  if (election.paused || election.waiting == 0) return;
  if (transaction.now < election.vacant_until) {
    election.wake_at = election.vacant_until;
    return;
  }
  if (election.appointment) {
    if (PromoteAppointed(transaction, state)) return;
    if (election.appointment->until && transaction.now < *election.appointment->until) {
      election.wake_at = election.appointment->until;
      return;
    }
    election.appointment.reset();  // it did not come in time
  }
  if (const Incumbent* incumbent = KeptFor(transaction, election)) {
    return PromoteIncumbent(transaction, state, *incumbent);
  }
  PromoteFirst(transaction, state);
}

void EndTerm(TransactionState& transaction, ElectionState& state, Cause cause, DbTime reopens_at) {
  Election& election = state.election;
  Record(transaction, election, EventType::kVacated, cause);
  election.vacancy = Vacancy{cause, VacantSince(transaction, *election.leader, cause)};
  election.leader.reset();
  election.vacant_until = reopens_at > transaction.now ? reopens_at : DbTime{};
}

void Vacate(TransactionState& transaction, ElectionState& state, Cause cause) {
  const bool lost = IsLostToOutage(transaction, state, cause);
  const DbTime reopens_at =
      ReopensAt(state.election, lost ? Cause::kExpired : cause, transaction.now);
  std::optional<Incumbent> incumbent;
  if (lost) {
    incumbent = Incumbent{state.election.leader->candidate, std::max(transaction.now, reopens_at) +
                                                                transaction.outage->incumbent_wait};
  }
  EndTerm(transaction, state, cause, reopens_at);
  state.election.vacancy->incumbent = std::move(incumbent);
  state.incumbent_unread |= lost;
  Promote(transaction, state);
}

void ReconcileElection(TransactionState& transaction, ElectionState& state) {
  if (state.election.leader) {
    Session* session = Find(transaction, state.election.leader->session);
    const bool alive = session != nullptr && Alive(transaction, *session);
    if (!alive) Vacate(transaction, state, session == nullptr ? Cause::kExpired : session->ended);
  }
  Promote(transaction, state);
}

uint64_t Creates(const ElectionState& state, const Principal& principal) {
  // A deleted election still counts for its creator, who takes on nothing by creating it again.
  return !state.exists && state.election.creator != principal.identity ? 1 : 0;
}

void BringIntoBeing(ElectionState& state, const Principal& principal) {
  if (state.exists) return;
  state.exists = true;
  state.election.deleted = false;
  state.election.vacancy.reset();
  state.election.creator = principal.identity;
}

Result<void> TakeOn(TransactionState& transaction, const Principal& principal, const Usage& more) {
  if (principal.identity.empty()) return {};
  Usage& has = transaction.usage[principal.identity];
  const auto check = [&](const char* what, const std::optional<uint64_t>& max, uint64_t held,
                         uint64_t wanted) -> Result<void> {
    if (!max || wanted == 0 || held + wanted <= *max) return {};
    return Fail(Reason::kLimitReached,
                "identity '" + principal.identity + "' has " + std::to_string(held) + " " + what +
                    ", and its limit is " + std::to_string(*max),
                {{"limit", std::to_string(*max)}});
  };
  const Quota& quota = principal.quota;
  const auto sessions = check("sessions", quota.sessions, has.sessions, more.sessions);
  if (!sessions) return sessions;
  const auto candidacies =
      check("candidacies", quota.candidacies, has.candidacies, more.candidacies);
  if (!candidacies) return candidacies;
  const auto elections = check("elections", quota.elections, has.elections, more.elections);
  if (!elections) return elections;
  has.sessions += more.sessions;
  has.candidacies += more.candidacies;
  has.elections += more.elections;
  return {};
}

tl::unexpected<Error> UnknownElection(const Election& election) {
  return tl::unexpected(UnknownElectionError(election));
}

tl::unexpected<Error> StaleTerm(const Election& election, std::string message) {
  return Fail(Reason::kStaleTerm, std::move(message),
              {{"current_term", std::to_string(election.term.value)}});
}

}  // namespace tenure::law
