// What a session may do with the seat or the place that it holds.
#include "core/law/steps.h"

namespace tenure::law {
namespace {

tl::unexpected<Error> NotLeader(const ElectionName& name) {
  return Fail(Reason::kNotLeader, "the session does not lead election '" + name.bytes + "'");
}

tl::unexpected<Error> NotLeaderInTerm(const Election& election, Term given) {
  return StaleTerm(election, "the session does not lead election '" + election.name.bytes +
                                 "' in term " + std::to_string(given.value) +
                                 "; the latest term is " + std::to_string(election.term.value));
}

}  // namespace

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

}  // namespace tenure::law
