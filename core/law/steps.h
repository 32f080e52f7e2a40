// The steps that the law's commands are made of. Private to core: `core/law/law.h` is the way in.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/law/law.h"
#include "core/law/transaction_state.h"

namespace tenure::law {

// Sessions.

// Ends a session. If another replica keeps it, records a departure for that home.
void End(TransactionState& transaction, Session& session, Cause cause);
// Ends a session whose home asks for it, or is dead: no departure.
void EndAtHome(TransactionState& transaction, Session& session, Cause cause);
[[nodiscard]] Session* Find(TransactionState& transaction, const SessionId& id);
// A session that the caller may use. Errors: kSessionNotFound; from FindAlive also kSessionEnded.
[[nodiscard]] Result<Session*> FindUsable(TransactionState& transaction, const SessionId& id,
                                          const Principal& principal);
[[nodiscard]] Result<Session*> FindAlive(TransactionState& transaction, const SessionId& id,
                                         const Principal& principal);

// Queues.

using Place = std::vector<Candidacy>::iterator;
[[nodiscard]] Place InQueue(ElectionState& state, const SessionId& id);
void RemoveFromQueue(TransactionState& transaction, ElectionState& state, Place place);
void InsertInQueue(ElectionState& state, Candidacy candidacy);
// Whether a session of this candidate that is alive waits here.
[[nodiscard]] bool Stands(TransactionState& transaction, const ElectionState& state,
                          const std::string& candidate);

// Seats.

[[nodiscard]] bool Leads(const ElectionState& state, const SessionId& id);
// An appointment binds while its candidate stands, or the seat is reserved for it.
[[nodiscard]] bool Binds(TransactionState& transaction, const ElectionState& state);
// Whether this candidate could get the seat now if the seat were vacant and nobody else waited.
[[nodiscard]] bool IsOpenTo(TransactionState& transaction, const ElectionState& state,
                            const std::string& candidate, int32_t priority);
void Record(TransactionState& transaction, Election& election, EventType type,
            Cause cause = Cause::kNone);
void ChangeValue(TransactionState& transaction, Election& election, const std::string& value);
void Grant(TransactionState& transaction, ElectionState& state, Place place);
// Gives a vacant seat to the next candidate, if one may have it now.
void Promote(TransactionState& transaction, ElectionState& state);
// Ends the term. Nobody is granted the next one before `reopens_at`.
void EndTerm(TransactionState& transaction, ElectionState& state, Cause cause, DbTime reopens_at);
// Ends the term, and passes the seat on as soon as the election's settings allow.
void Vacate(TransactionState& transaction, ElectionState& state, Cause cause);
// Ends the term of a leader whose session has ended, and fills a vacant seat.
void ReconcileElection(TransactionState& transaction, ElectionState& state);
// Gives up the seat or the place of a session that has ended.
void DropPlace(TransactionState& transaction, ElectionState& state, const Session& session);

// Creation, and what an identity may hold.

// 1 if creating this election counts against the caller's quota, else 0.
[[nodiscard]] uint64_t Creates(const ElectionState& state, const Principal& principal);
// Creates the election, unless it exists.
void Create(ElectionState& state, const Principal& principal);

// Counts `more` against the caller's quota. Error: kLimitReached, and then nothing is counted.
[[nodiscard]] Result<void> Charge(TransactionState& transaction, const Principal& principal,
                                  const Usage& more);

// Errors.

[[nodiscard]] tl::unexpected<Error> UnknownElection(const Election& election);
[[nodiscard]] tl::unexpected<Error> StaleTerm(const Election& election, std::string message);

// What each actor's commands do. REQUIRES: what `Apply` requires, and that ReconcileElection has
// run on each election that exists.

// Candidates: candidate.cc.
[[nodiscard]] Result<Answer> Decide(TransactionState& transaction, const Limits& limits,
                                    ElectionState& state, const Campaign& command);
[[nodiscard]] Result<Answer> Decide(TransactionState& transaction, const Limits& limits,
                                    const CampaignForAll& command);

// Those who hold a seat or a place: holder.cc.
[[nodiscard]] Result<Answer> Decide(TransactionState& transaction, ElectionState& state,
                                    const Proclaim& command);
[[nodiscard]] Result<Answer> Decide(TransactionState& transaction, ElectionState& state,
                                    const Resign& command);

// Operators: operator.cc.
[[nodiscard]] Result<Answer> Decide(TransactionState& transaction, ElectionState& state,
                                    const Appoint& command);
[[nodiscard]] Result<Answer> Decide(TransactionState& transaction, ElectionState& state,
                                    const Depose& command);
[[nodiscard]] Result<Answer> Decide(TransactionState& transaction, ElectionState& state,
                                    const Pause& command);
[[nodiscard]] Result<Answer> Decide(TransactionState& transaction, ElectionState& state,
                                    const Configure& command);
[[nodiscard]] Result<Answer> Decide(TransactionState& transaction, ElectionState& state,
                                    const Delete& command);

}  // namespace tenure::law
