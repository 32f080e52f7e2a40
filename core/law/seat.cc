// Who has the seat, who is next, and who waits.
#include <algorithm>
#include <utility>

#include "core/law/steps.h"

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

bool IsClosed(const TransactionState& transaction, const Election& election) {
  return election.paused || transaction.now < election.vacant_until;
}

// Whether an open seat may go to this candidate. `bound`: the election's appointment binds; its
// candidate then goes first, wherever it is in the queue, and nobody else is elected.
bool MayHaveSeat(const TransactionState& transaction, const ElectionState& state, bool bound,
                 const std::string& candidate, int32_t priority) {
  if (bound) return state.election.appointment->candidate == candidate;
  return priority >= 0 && !CoolsDown(transaction, state, candidate);
}

std::optional<DbTime> NextEndOfCoolDown(const TransactionState& transaction,
                                        const ElectionState& state) {
  std::optional<DbTime> next;
  for (const auto& [candidate, until] : state.cool_downs) {
    if (transaction.now < until) next = std::min(next.value_or(until), until);
  }
  return next;
}

// Not enough of the queue was read. The election is due at once: the next beat of any replica shows
// it if the replica that committed this does not get to it.
void LeaveUndecided(TransactionState& transaction, ElectionState& state) {
  transaction.undecided.insert(state.election.name);
  state.election.wake_at = transaction.now;
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
  return !IsClosed(transaction, state.election) &&
         MayHaveSeat(transaction, state, Binds(transaction, state), candidate, priority);
}

void Record(TransactionState& transaction, Election& election, EventType type, Cause cause) {
  election.revision = election.revision.Next();
  transaction.events.push_back({election.name, election.revision, type, cause, election.term,
                                *election.leader, transaction.now});
}

void ChangeValue(TransactionState& transaction, Election& election, const std::string& value) {
  if (election.leader->value == value) return;
  election.leader->value = value;
  Record(transaction, election, EventType::kProclaimed);
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
  if (election.waiting == 0) return;
  if (IsClosed(transaction, election)) {
    if (!election.paused) election.wake_at = election.vacant_until;
    return;
  }
  const bool bound = Binds(transaction, state);
  for (auto place = state.queue.begin(); place != state.queue.end(); ++place) {
    if (!bound && state.horizon && state.horizon->Before(*place)) break;
    if (!MayHaveSeat(transaction, state, bound, place->candidate, place->priority)) continue;
    if (HasLiveSession(transaction, *place)) return Grant(transaction, state, place);
  }
  if (bound) {
    election.wake_at = election.appointment->until;
    return;
  }
  election.appointment.reset();  // its candidate did not come in time
  if (state.horizon) return LeaveUndecided(transaction, state);
  election.wake_at = NextEndOfCoolDown(transaction, state);
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

void DropPlace(TransactionState& transaction, ElectionState& state, const Session& session) {
  if (Leads(state, session.id)) return Vacate(transaction, state, session.ended);
  const auto place = InQueue(state, session.id);
  if (place != state.queue.end()) RemoveFromQueue(transaction, state, place);
}

}  // namespace tenure::law
