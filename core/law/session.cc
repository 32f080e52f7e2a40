// How sessions end, and how they move from home to home.
#include "core/law/steps.h"

namespace tenure {

namespace law {

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

}  // namespace law

using namespace law;

Result<Session> EndSession(TransactionState& transaction, const SessionId& id, Cause cause,
                           const Principal& principal) {
  const auto session = FindUsable(transaction, id, principal);
  if (!session) return tl::unexpected(session.error());
  if ((*session)->Alive()) End(transaction, **session, cause);
  return **session;
}

Result<Session> DeposeSession(TransactionState& transaction, const SessionId& id,
                              const Author& author) {
  const bool was_alive = FindAlive(transaction, id, {}).has_value();
  const auto ended = EndSession(transaction, id, Cause::kDeposed);
  if (was_alive) {
    transaction.admin_changes.push_back(
        {{},
         AdminAction::kSessionEnded,
         {},
         transaction.now,
         "session " + id.Handle() + " of '" + ended->candidate + "'",
         author});
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

Error SessionEndedError(const Session& session) {
  const std::string cause(CauseName(session.ended));
  return {Reason::kSessionEnded,
          "session " + session.id.Handle() + " has ended: " + cause,
          {{"cause", cause}}};
}

}  // namespace tenure
