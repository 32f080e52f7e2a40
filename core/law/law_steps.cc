#include "core/law/law_steps.h"

#include <algorithm>
#include <utility>

#include "core/lease.h"

namespace tenure::law {
namespace {

bool HasLiveSession(TransactionState& transaction, const Candidacy& candidacy) {
  const Session* session = Find(transaction, candidacy.session);
  return session != nullptr && session->Alive();
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

// Not enough of the queue was read. The election is due at once: the next beat of any replica shows
// it if the replica that committed this does not get to it.
void LeaveUndecided(TransactionState& transaction, ElectionState& state) {
  transaction.undecided.insert(state.election.name);
  state.election.wake_at = transaction.now;
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

// Since when nobody leads by right, for a term that ends at `now`.
DbTime VacantSince(TransactionState& transaction, const Leader& leader, Cause cause) {
  const Session* session = Find(transaction, leader.session);
  const bool ended_before = cause == Cause::kExpired && session != nullptr && !session->Alive();
  return ended_before ? std::min(session->ended_at, transaction.now) : transaction.now;
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
  session.ended_at = transaction.now;
  transaction.ended.push_back(session.id);
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
  if (!session || (*session)->Alive()) return session;
  return tl::unexpected<Error>(SessionEndedError(**session));
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
  transaction.successions.push_back({election.vacancy, appointed});
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
  EndTerm(transaction, state, cause, ReopensAt(state.election, cause, transaction.now));
  Promote(transaction, state);
}

void ReconcileElection(TransactionState& transaction, ElectionState& state) {
  if (state.election.leader) {
    const Session* session = Find(transaction, state.election.leader->session);
    const bool alive = session != nullptr && session->Alive();
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
