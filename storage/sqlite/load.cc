#include "storage/sqlite/load.h"

#include <set>
#include <utility>

#include "storage/changes.h"
#include "storage/rows.h"
#include "storage/sqlite/sql.h"

namespace tenure::sqlite {
namespace {

std::map<std::string, DbTime> LoadCoolDowns(Connection& connection, const ElectionName& name,
                                            DbTime now) {
  std::map<std::string, DbTime> cool_downs;
  connection.ForEach(query::kLoadCoolDowns, {name.bytes, Int(now)},
                     [&](const Row& row) { cool_downs.emplace(Text(row, 0), Time(row, 1)); });
  return cool_downs;
}

ElectionState LoadElectionState(Connection& connection, const ElectionName& name,
                                const LockSet::Part& part, DbTime now) {
  ElectionState state;
  state.election.name = name;
  if (auto found = connection.First(query::kLoadElection, {name.bytes}, ToElection)) {
    state.election = *std::move(found);
    state.exists = !state.election.deleted;
  } else {
    state.election.term.value = state.election.revision.value = connection.Number(query::kOrigin);
  }
  if (part.past) {
    state.past = connection.First(query::kPast, {name.bytes}, ToPast).value_or(Past());
  }
  const Election& election = state.election;
  if (election.cooling_until > DbTime{}) state.cool_downs = LoadCoolDowns(connection, name, now);
  if (election.waiting == 0) return state;

  const size_t head_size = part.departures + 1;
  const auto add = [&](const Row& row) { state.queue.push_back(ToCandidacy(row)); };
  connection.ForEach(query::kLoadHead, {name.bytes, Int(now), Int(head_size)}, add);
  if (state.queue.size() == head_size) state.horizon = state.queue.back();
  for (const SessionId& session : part.sessions) {
    connection.ForEach(query::kLoadPlace, {name.bytes, Bytes(session)}, add);
  }
  std::set<std::string> named = part.candidates;
  if (election.appointment) named.insert(election.appointment->candidate);
  for (const std::string& candidate : named) {
    connection.ForEach(query::kLoadNamed, {name.bytes, candidate, Int(kNamedMax)}, add);
  }
  return state;
}

}  // namespace

TransactionState Load(Connection& connection, DbTime now, const LockSet& locks) {
  TransactionState transaction;
  transaction.now = now;
  std::set<SessionId> sessions(locks.sessions.begin(), locks.sessions.end());
  for (const auto& [name, part] : locks.elections) {
    ElectionState& state =
        transaction.elections.emplace(name, LoadElectionState(connection, name, part, now))
            .first->second;
    sessions.insert(part.sessions.begin(), part.sessions.end());
    if (state.election.leader) sessions.insert(state.election.leader->session);
    for (const Candidacy& candidacy : state.queue) sessions.insert(candidacy.session);
  }
  for (const SessionId& id : sessions) {
    connection.ForEach(query::kLoadSession, {Bytes(id)},
                       [&](const Row& row) { transaction.sessions.emplace(id, ToSession(row)); });
  }
  for (const std::string& identity : locks.identities) {
    connection.ForEach(query::kUsage, {identity}, [&](const Row& row) {
      transaction.usage[identity] = {row.Unsigned(0), row.Unsigned(1)};
    });
  }
  for (const std::string& creator : CreatorsIn(locks, transaction)) {
    transaction.usage[creator].elections = connection.Number(query::kCreated, {creator});
  }
  FinishLoading(transaction);
  return transaction;
}

}  // namespace tenure::sqlite
