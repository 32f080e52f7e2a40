// The steps that the law's commands are made of. Private to core: `core/law.h` is the way in.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/docket.h"
#include "core/error.h"
#include "core/law.h"

namespace tenure::law {

// Sessions.

void End(Docket& docket, Session& session, Cause cause);
// Makes an expiry a fact before anybody acts on it.
[[nodiscard]] bool Alive(Docket& docket, Session& session);
[[nodiscard]] Session* Find(Docket& docket, const SessionId& id);
// Errors: kSessionNotFound, kSessionEnded.
[[nodiscard]] Result<Session*> FindAlive(Docket& docket, const SessionId& id);
// Renews a lease, from `now`.
void ExtendLease(Session& session, DbTime now);
// When a lease that was renewed before `now` ends at the latest, for all that its holder believes.
[[nodiscard]] DbTime LongestLease(const Session& session, DbTime now);
// Makes a lease no longer than that: the clock may have been set back since it was renewed.
void CutLease(Session& session, DbTime now);

// Queues.

using Place = std::vector<Candidacy>::iterator;
[[nodiscard]] Place InQueue(Contest& contest, const SessionId& id);
void RemoveFromQueue(Contest& contest, Place place);
void InsertInQueue(Contest& contest, Candidacy candidacy);
// Whether a session of this candidate that is alive waits here.
[[nodiscard]] bool Stands(Docket& docket, const Contest& contest, const std::string& candidate);

// Seats.

[[nodiscard]] bool Leads(const Contest& contest, const SessionId& id);
// Whether the seat, were it vacant, might go to this candidate now, were it the only one.
[[nodiscard]] bool IsOpenTo(Docket& docket, const Contest& contest, const std::string& candidate,
                            int32_t priority);
void Record(Docket& docket, Election& election, EventType type, Cause cause = Cause::kNone);
void Grant(Docket& docket, Contest& contest, Place place);
// Gives a vacant seat to the next candidate, if one may have it now.
void Promote(Docket& docket, Contest& contest);
// Ends the term. Nobody is granted the next one before `reopens_at`.
void EndTerm(Docket& docket, Contest& contest, Cause cause, DbTime reopens_at);
// Ends the term, and passes the seat on as soon as the election's settings allow.
void Vacate(Docket& docket, Contest& contest, Cause cause);
// Ends the term of a leader whose session is over, and fills a vacant seat.
void BringInLine(Docket& docket, Contest& contest);
// The election exists from now on.
void BringIntoBeing(Contest& contest);

// Errors.

[[nodiscard]] tl::unexpected<Error> UnknownElection(const ElectionName& name);
[[nodiscard]] tl::unexpected<Error> StaleTerm(const Election& election, std::string message);

// The commands of operators: administration.cc. REQUIRES: what `Apply` requires, and that the
// election is in line.

[[nodiscard]] Result<Answer> Decide(Docket& docket, Contest& contest, const Appoint& command);
[[nodiscard]] Result<Answer> Decide(Docket& docket, Contest& contest, const Depose& command);
[[nodiscard]] Result<Answer> Decide(Docket& docket, Contest& contest, const Pause& command);
[[nodiscard]] Result<Answer> Decide(Docket& docket, Contest& contest, const Configure& command);
[[nodiscard]] Result<Answer> Decide(Docket& docket, Contest& contest, const Delete& command);

}  // namespace tenure::law
