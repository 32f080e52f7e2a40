#include "core/law.h"

#include <algorithm>
#include <utility>

namespace tenure {
namespace {

void End(Docket& docket, Session& session, Cause cause) {
  session.ended = cause;
  docket.ended.push_back(session.id);
}

// Makes an expiry a fact before anybody acts on it.
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
  if (session == nullptr) return Fail(Reason::kSessionNotFound, "there is no such session");
  if (!Alive(docket, *session)) return tl::unexpected<Error>(SessionEndedError(*session));
  return session;
}

void ExtendLease(Session& session, DbTime now) {
  session.expires_at = std::max(session.expires_at, now + session.lease_ttl);
}

std::vector<Candidacy>::iterator InQueue(Contest& contest, const SessionId& id) {
  return std::ranges::find(contest.queue, id, &Candidacy::session);
}

void RemoveFromQueue(Contest& contest, std::vector<Candidacy>::iterator candidacy) {
  contest.queue.erase(candidacy);
  --contest.election.waiting;
}

void InsertInQueue(Contest& contest, Candidacy candidacy) {
  const auto place = std::ranges::find_if(
      contest.queue, [&](const Candidacy& other) { return candidacy.Before(other); });
  contest.queue.insert(place, std::move(candidacy));
}

bool Leads(const Contest& contest, const SessionId& id) {
  return contest.election.leader && contest.election.leader->session == id;
}

Leadership LeadershipOf(const Election& election) {
  return {election.name, election.term, *election.leader};
}

void Record(Docket& docket, Election& election, EventType type, Cause cause = Cause::kNone) {
  election.revision = election.revision.Next();
  docket.events.push_back(
      {election.name, election.revision, type, cause, election.term, *election.leader, docket.now});
}

void Grant(Docket& docket, Contest& contest, std::vector<Candidacy>::iterator candidacy) {
  Election& election = contest.election;
  election.term = election.term.Next();
  election.leader = Leader{candidacy->session, candidacy->candidate, candidacy->lease_ttl,
                           candidacy->value,   docket.now,           candidacy->attempt};
  RemoveFromQueue(contest, candidacy);
  Record(docket, election, EventType::kElected);
}

// Gives a vacant seat to the first candidate in the queue whose session is alive.
void Promote(Docket& docket, Contest& contest) {
  if (contest.election.leader) return;
  for (auto candidacy = contest.queue.begin(); candidacy != contest.queue.end(); ++candidacy) {
    if (contest.horizon && contest.horizon->Before(*candidacy)) break;
    Session* session = Find(docket, candidacy->session);
    if (session == nullptr || !Alive(docket, *session)) continue;
    Grant(docket, contest, candidacy);
    return;
  }
  if (contest.horizon) docket.unsettled.insert(contest.election.name);
}

void Vacate(Docket& docket, Contest& contest, Cause cause) {
  Record(docket, contest.election, EventType::kVacated, cause);
  contest.election.leader.reset();
  Promote(docket, contest);
}

// Ends the term of a leader whose session is over, and fills a vacant seat.
void BringInLine(Docket& docket, Contest& contest) {
  if (contest.election.leader) {
    Session* session = Find(docket, contest.election.leader->session);
    const bool alive = session != nullptr && Alive(docket, *session);
    if (!alive) Vacate(docket, contest, session == nullptr ? Cause::kExpired : session->ended);
  }
  Promote(docket, contest);
}

// REQUIRES: the session is over.
void DropPlace(Docket& docket, Contest& contest, const Session& session) {
  if (Leads(contest, session.id)) return Vacate(docket, contest, session.ended);
  const auto place = InQueue(contest, session.id);
  if (place != contest.queue.end()) RemoveFromQueue(contest, place);
}

tl::unexpected<Error> UnknownElection(const ElectionName& name) {
  return Fail(Reason::kElectionNotFound,
              "nobody has ever campaigned in election '" + name.bytes + "'");
}

tl::unexpected<Error> NotLeader(const ElectionName& name) {
  return Fail(Reason::kNotLeader, "the session does not hold the seat of '" + name.bytes + "'");
}

tl::unexpected<Error> StaleTerm(const Election& election, Term given) {
  return Fail(Reason::kStaleTerm,
              "the session does not lead '" + election.name.bytes + "' in term " +
                  std::to_string(given.value),
              {{"current_term", std::to_string(election.term.value)}});
}

Result<Answer> Decide(Docket& docket, const Limits& limits, Contest& contest,
                      const Campaign& command) {
  Session* session = Find(docket, command.session);
  if (session != nullptr || !command.opening) {
    const auto alive = FindAlive(docket, command.session);
    if (!alive) return tl::unexpected(alive.error());
    const std::string& named = command.opening ? command.opening->candidate
                                               : command.candidate.value_or((*alive)->candidate);
    if (named != (*alive)->candidate) {
      return Fail(Reason::kInvalidCandidate, "the session was opened by candidate '" +
                                                 (*alive)->candidate + "', not by '" + named + "'");
    }
  }

  const bool leads = Leads(contest, command.session);
  const auto place = InQueue(contest, command.session);
  const bool waits = place != contest.queue.end();
  const bool must_wait = contest.election.leader.has_value() || contest.election.waiting > 0;
  if (!leads && !waits && must_wait && contest.election.waiting >= limits.queue_max) {
    return Fail(Reason::kQueueFull,
                "election '" + command.election.bytes + "' has " +
                    std::to_string(contest.election.waiting) + " candidates waiting",
                {{"limit", std::to_string(limits.queue_max)}});
  }

  if (session == nullptr) {
    const Session opened{command.session, command.opening->candidate, command.opening->lease_ttl,
                         docket.now + command.opening->lease_ttl};
    session = &docket.sessions.insert_or_assign(command.session, opened).first->second;
  }
  ExtendLease(*session, docket.now);
  contest.exists = true;

  if (leads) {
    Leader& leader = *contest.election.leader;
    if (leader.attempt != command.attempt) leader.attempt = {};
    if (leader.value != command.value) {
      leader.value = command.value;
      Record(docket, contest.election, EventType::kProclaimed);
    }
  } else {
    Candidacy candidacy{session->id,      session->candidate, session->lease_ttl, {},
                        command.priority, command.value,      command.attempt};
    if (waits) {
      candidacy.ticket = place->ticket;
      RemoveFromQueue(contest, place);
    } else {
      candidacy.ticket = contest.election.next_ticket;
      contest.election.next_ticket = contest.election.next_ticket.Next();
    }
    ++contest.election.waiting;
    InsertInQueue(contest, std::move(candidacy));
    Promote(docket, contest);
  }
  return CampaignAnswer{*session, contest.election, Leads(contest, session->id)};
}

Result<Answer> Decide(Docket& docket, const Limits&, Contest& contest, const Proclaim& command) {
  const auto session = FindAlive(docket, command.session);
  if (!session) return tl::unexpected(session.error());
  Election& election = contest.election;
  if (!contest.exists) return UnknownElection(command.election);
  if (!Leads(contest, command.session)) return NotLeader(command.election);
  if (election.term != command.term) return StaleTerm(election, command.term);

  election.leader->attempt = {};
  if (election.leader->value != command.value) {
    election.leader->value = command.value;
    Record(docket, election, EventType::kProclaimed);
  }
  return ProclaimAnswer{LeadershipOf(election)};
}

Result<Answer> Decide(Docket& docket, const Limits&, Contest& contest, const Resign& command) {
  Session* session = Find(docket, command.session);
  if (session == nullptr) return Fail(Reason::kSessionNotFound, "there is no such session");
  if (!contest.exists) return UnknownElection(command.election);
  if (!Alive(docket, *session)) {
    DropPlace(docket, contest, *session);
    return ResignAnswer{ResignOutcome::kSessionEnded, {}};
  }

  const Term term = contest.election.term;
  const bool other_term = command.term && *command.term != term;
  if (Leads(contest, command.session)) {
    if (other_term) return StaleTerm(contest.election, *command.term);
    Vacate(docket, contest, Cause::kResigned);
    return ResignAnswer{ResignOutcome::kResigned, term};
  }
  const auto place = InQueue(contest, command.session);
  if (place != contest.queue.end()) {
    if (command.term) return StaleTerm(contest.election, *command.term);
    RemoveFromQueue(contest, place);
    return ResignAnswer{ResignOutcome::kWithdrawn, {}};
  }
  const bool seat_of_another = command.term && !other_term && contest.election.leader;
  if (seat_of_another) return NotLeader(command.election);
  return ResignAnswer{ResignOutcome::kNotStanding, {}};
}

Result<Answer> Decide(Docket& docket, const Limits&, Contest& contest, const Withdraw& command) {
  if (command.attempt == Attempt{}) return Done{};
  if (Leads(contest, command.session)) {
    if (contest.election.leader->attempt == command.attempt) {
      Vacate(docket, contest, Cause::kResigned);
    }
    return Done{};
  }
  const auto place = InQueue(contest, command.session);
  if (place != contest.queue.end() && place->attempt == command.attempt) {
    RemoveFromQueue(contest, place);
  }
  return Done{};
}

Result<Answer> Decide(Docket& docket, const Limits&, Contest& contest, const Settle& command) {
  if (!command.session) return Done{};
  Session* session = Find(docket, *command.session);
  if (session != nullptr && !Alive(docket, *session)) DropPlace(docket, contest, *session);
  return Done{};
}

}  // namespace

const ElectionName& ElectionOf(const Command& command) {
  return std::visit([](const auto& it) -> const ElectionName& { return it.election; }, command);
}

std::optional<SessionId> SessionOf(const Command& command) {
  return std::visit([](const auto& it) { return std::optional<SessionId>(it.session); }, command);
}

bool Creates(const Command& command) { return std::holds_alternative<Campaign>(command); }

Result<Answer> Apply(Docket& docket, const Limits& limits, const Command& command) {
  Contest& contest = docket.contests.at(ElectionOf(command));
  if (contest.exists) BringInLine(docket, contest);
  return std::visit([&](const auto& it) { return Decide(docket, limits, contest, it); }, command);
}

Result<Session> Renew(Docket& docket, const SessionId& id) {
  const auto session = FindAlive(docket, id);
  if (!session) return tl::unexpected(session.error());
  ExtendLease(**session, docket.now);
  return **session;
}

Result<Session> EndSession(Docket& docket, const SessionId& id, Cause cause) {
  Session* session = Find(docket, id);
  if (session == nullptr) return Fail(Reason::kSessionNotFound, "there is no such session");
  if (Alive(docket, *session)) End(docket, *session, cause);
  return *session;
}

void ExpireIfDue(Docket& docket, const SessionId& id) {
  if (Session* session = Find(docket, id)) (void)Alive(docket, *session);
}

Error SessionEndedError(const Session& session) {
  const std::string cause(CauseName(session.ended));
  return {Reason::kSessionEnded,
          "session " + session.id.Handle() + " is over: " + cause,
          {{"cause", cause}}};
}

}  // namespace tenure
