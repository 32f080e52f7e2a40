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

bool HasLiveSession(Docket& docket, const Candidacy& candidacy) {
  Session* session = Find(docket, candidacy.session);
  return session != nullptr && Alive(docket, *session);
}

// An appointment binds as long as its candidate stands, or the seat is kept for it.
bool Binds(Docket& docket, const Contest& contest) {
  const auto& appointment = contest.election.appointment;
  if (!appointment) return false;
  if (appointment->until && docket.now < *appointment->until) return true;
  return Stands(docket, contest, appointment->candidate);
}

bool CoolsDown(const Docket& docket, const Contest& contest, const std::string& candidate) {
  const auto found = contest.cool_downs.find(candidate);
  return found != contest.cool_downs.end() && docket.now < found->second;
}

std::optional<DbTime> NextEndOfCoolDown(const Docket& docket, const Contest& contest) {
  std::optional<DbTime> next;
  for (const auto& [candidate, until] : contest.cool_downs) {
    if (docket.now < until) next = std::min(next.value_or(until), until);
  }
  return next;
}

// Who was appointed goes first, whatever the queue says.
bool PromoteAppointed(Docket& docket, Contest& contest) {
  for (auto place = contest.queue.begin(); place != contest.queue.end(); ++place) {
    const bool appointed = place->candidate == contest.election.appointment->candidate;
    if (!appointed || !HasLiveSession(docket, *place)) continue;
    Grant(docket, contest, place);
    return true;
  }
  return false;
}

// Whether a holder renewed its lease until the database went away, and had stopped believing in it
// when the database was back, or so soon afterwards that it had hardly a chance.
bool LostToOutage(const Outage& outage, const Session& session) {
  const Duration missable = session.lease_ttl / 2;  // a holder has renewed it by then
  const DbTime believed_until = session.expires_at + -session.lease_ttl / kBeliefDivisor;
  return outage.ended - outage.began >= missable && session.expires_at - outage.began >= missable &&
         believed_until <= outage.ended + std::min(outage.incumbent_wait, missable);
}

// Whether a term that ends with a resignation, so soon after the outage, began before it. The
// holder's session may have been renewed since it stopped believing in this term.
bool ResignedAfterOutage(const Docket& docket, const Leader& leader, const Session& session) {
  const Outage& outage = *docket.outage;
  const Duration missable = session.lease_ttl / 2;
  return leader.elected_at <= outage.began && outage.ended - outage.began >= missable &&
         docket.now <= outage.ended + std::min(outage.incumbent_wait, missable);
}

// Whether the term that ends now is one that an outage has cost. A holder that has stopped
// believing resigns, if the database is back before its lease is over.
bool IsLostToOutage(Docket& docket, const Contest& contest, Cause cause) {
  const Leader& leader = *contest.election.leader;
  const Session* session = Find(docket, leader.session);
  const bool may_be_lost = cause == Cause::kExpired || cause == Cause::kResigned;
  if (!may_be_lost || session == nullptr || !docket.outage) return false;
  if (docket.outage->incumbent_wait == Duration(0)) return false;
  return LostToOutage(*docket.outage, *session) ||
         (cause == Cause::kResigned && ResignedAfterOutage(docket, leader, *session));
}

// The incumbent, while the seat is kept for it.
const Incumbent* KeptFor(const Docket& docket, const Election& election) {
  const Incumbent* incumbent = IncumbentOf(election);
  const bool kept = incumbent != nullptr && docket.now < incumbent->until &&
                    docket.now >= election.vacancy->since;  // the clock may have been set back
  return kept ? incumbent : nullptr;
}

// An incumbent that wants to lead on goes first, wherever it is in the queue.
void PromoteIncumbent(Docket& docket, Contest& contest, const Incumbent& incumbent) {
  for (auto place = contest.queue.begin(); place != contest.queue.end(); ++place) {
    if (place->candidate != incumbent.candidate || place->priority < 0) continue;
    if (CoolsDown(docket, contest, place->candidate)) continue;
    if (HasLiveSession(docket, *place)) return Grant(docket, contest, place);
  }
  contest.election.wake_at = incumbent.until;
}

// The first in the queue whose session is alive, who is not kept out, and who wants to lead.
void PromoteFirst(Docket& docket, Contest& contest) {
  for (auto place = contest.queue.begin(); place != contest.queue.end(); ++place) {
    if (contest.horizon && contest.horizon->Before(*place)) break;
    if (place->priority < 0) continue;
    if (CoolsDown(docket, contest, place->candidate)) continue;
    if (!HasLiveSession(docket, *place)) continue;
    return Grant(docket, contest, place);
  }
  if (contest.horizon) docket.unsettled.insert(contest.election.name);
  contest.election.wake_at = NextEndOfCoolDown(docket, contest);
}

// Since when nobody leads by right, once a term has ended at `now`.
DbTime VacantSince(Docket& docket, const Leader& leader, Cause cause) {
  const Session* session = Find(docket, leader.session);
  const bool lapsed = cause == Cause::kExpired && session != nullptr;
  return lapsed ? std::min(session->expires_at, docket.now) : docket.now;
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

void End(Docket& docket, Session& session, Cause cause) {
  session.ended = cause;
  docket.ended.push_back(session.id);
}

bool Alive(Docket& docket, Session& session) {
  if (session.ended == Cause::kNone && !session.AliveAt(docket.now)) {
    End(docket, session, Cause::kExpired);
  }
  return session.ended == Cause::kNone;
}

Session* Find(Docket& docket, const SessionId& id) {
  const auto found = docket.sessions.find(id);
  return found == docket.sessions.end() ? nullptr : &found->second;
}

Result<Session*> FindAlive(Docket& docket, const SessionId& id) {
  Session* session = Find(docket, id);
  if (session == nullptr) return Fail(Reason::kSessionNotFound, "no such session");
  if (!Alive(docket, *session)) return tl::unexpected<Error>(SessionEndedError(*session));
  return session;
}

void ExtendLease(Session& session, DbTime now) {
  ShrinkWhenCalm(session, now);
  // By less it may be longer because this is another server's clock.
  if (session.expires_at > LongestLease(session, now) + session.lease_ttl) CutLease(session, now);
  session.expires_at = std::max(session.expires_at, now + session.lease_ttl);
}

DbTime LongestLease(const Session& session, DbTime now) {
  // A renewal that was answered before the lease was made shorter promised more than the latest.
  const bool was_longer = session.lease_ttl_since != session.opened_at;
  if (!was_longer) return now + session.lease_ttl;
  return now + std::max(session.lease_ttl, session.lease_ttl_asked * kLeaseGrowthMax);
}

void CutLease(Session& session, DbTime now) {
  session.expires_at = std::min(session.expires_at, LongestLease(session, now));
}

Place InQueue(Contest& contest, const SessionId& id) {
  return std::ranges::find(contest.queue, id, &Candidacy::session);
}

void RemoveFromQueue(Contest& contest, Place place) {
  contest.queue.erase(place);
  if (--contest.election.waiting == 0) contest.election.wake_at.reset();
}

void InsertInQueue(Contest& contest, Candidacy candidacy) {
  const auto place = std::ranges::find_if(
      contest.queue, [&](const Candidacy& other) { return candidacy.Before(other); });
  contest.queue.insert(place, std::move(candidacy));
  ++contest.election.waiting;
}

bool Stands(Docket& docket, const Contest& contest, const std::string& candidate) {
  return std::ranges::any_of(contest.queue, [&](const Candidacy& candidacy) {
    return candidacy.candidate == candidate && HasLiveSession(docket, candidacy);
  });
}

bool Leads(const Contest& contest, const SessionId& id) {
  return contest.election.leader && contest.election.leader->session == id;
}

bool IsOpenTo(Docket& docket, const Contest& contest, const std::string& candidate,
              int32_t priority) {
  const Election& election = contest.election;
  if (election.paused || docket.now < election.vacant_until) return false;
  if (Binds(docket, contest)) return election.appointment->candidate == candidate;
  const Incumbent* incumbent = KeptFor(docket, election);
  if (incumbent != nullptr && incumbent->candidate != candidate) return false;
  return priority >= 0 && !CoolsDown(docket, contest, candidate);
}

void Record(Docket& docket, Election& election, EventType type, Cause cause) {
  election.revision = election.revision.Next();
  docket.events.push_back(
      {election.name, election.revision, type, cause, election.term, *election.leader, docket.now});
}

void Grant(Docket& docket, Contest& contest, Place place) {
  Election& election = contest.election;
  const bool appointed =
      election.appointment && election.appointment->candidate == place->candidate;
  const Incumbent* incumbent = KeptFor(docket, election);
  const bool returned = incumbent != nullptr && incumbent->candidate == place->candidate;
  docket.successions.push_back({election.vacancy, appointed, returned});
  election.vacancy.reset();
  election.term = election.term.Next();
  election.leader =
      Leader{place->session, place->candidate, place->lease_ttl,
             place->value,   docket.now,       place->asked_again ? Attempt{} : place->attempt};
  election.vacant_until = {};
  election.wake_at.reset();
  election.appointment.reset();  // it is fulfilled, or void
  if (election.cooling_until <= docket.now) election.cooling_until = {};
  RemoveFromQueue(contest, place);
  Record(docket, election, EventType::kElected);
}

void Promote(Docket& docket, Contest& contest) {
  Election& election = contest.election;
  if (election.leader) return;
  election.wake_at.reset();
  if (election.paused || election.waiting == 0) return;
  if (docket.now < election.vacant_until) {
    election.wake_at = election.vacant_until;
    return;
  }
  if (election.appointment) {
    if (PromoteAppointed(docket, contest)) return;
    if (election.appointment->until && docket.now < *election.appointment->until) {
      election.wake_at = election.appointment->until;
      return;
    }
    election.appointment.reset();  // it did not come in time
  }
  if (const Incumbent* incumbent = KeptFor(docket, election)) {
    return PromoteIncumbent(docket, contest, *incumbent);
  }
  PromoteFirst(docket, contest);
}

void EndTerm(Docket& docket, Contest& contest, Cause cause, DbTime reopens_at) {
  Election& election = contest.election;
  Record(docket, election, EventType::kVacated, cause);
  election.vacancy = Vacancy{cause, VacantSince(docket, *election.leader, cause)};
  election.leader.reset();
  election.vacant_until = reopens_at > docket.now ? reopens_at : DbTime{};
}

void Vacate(Docket& docket, Contest& contest, Cause cause) {
  const bool lost = IsLostToOutage(docket, contest, cause);
  const DbTime reopens_at = ReopensAt(contest.election, lost ? Cause::kExpired : cause, docket.now);
  std::optional<Incumbent> incumbent;
  if (lost) {
    incumbent = Incumbent{contest.election.leader->candidate,
                          std::max(docket.now, reopens_at) + docket.outage->incumbent_wait};
  }
  EndTerm(docket, contest, cause, reopens_at);
  contest.election.vacancy->incumbent = std::move(incumbent);
  Promote(docket, contest);
  // A place that the incumbent has already was not asked for when the queue was read.
  const bool may_wait = contest.horizon && KeptFor(docket, contest.election) != nullptr;
  if (may_wait) docket.unsettled.insert(contest.election.name);
}

void BringInLine(Docket& docket, Contest& contest) {
  if (contest.election.leader) {
    Session* session = Find(docket, contest.election.leader->session);
    const bool alive = session != nullptr && Alive(docket, *session);
    if (!alive) Vacate(docket, contest, session == nullptr ? Cause::kExpired : session->ended);
  }
  Promote(docket, contest);
}

void BringIntoBeing(Contest& contest) {
  contest.exists = true;
  contest.election.deleted = false;
}

tl::unexpected<Error> UnknownElection(const ElectionName& name) {
  return Fail(Reason::kElectionNotFound,
              "nobody has ever campaigned in election '" + name.bytes + "'");
}

tl::unexpected<Error> StaleTerm(const Election& election, std::string message) {
  return Fail(Reason::kStaleTerm, std::move(message),
              {{"current_term", std::to_string(election.term.value)}});
}

}  // namespace tenure::law
