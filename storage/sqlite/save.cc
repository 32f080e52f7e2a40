#include "storage/sqlite/save.h"

#include <vector>

#include "storage/changes.h"
#include "storage/sqlite/sql.h"

namespace tenure::sqlite {
namespace {

void SaveSession(Connection& connection, const Session& session) {
  connection.Execute(
      query::kSaveSession,
      {Bytes(session.id), session.candidate, Int(session.lease_ttl),
       static_cast<int64_t>(session.ended), Int(session.ended_at), Int(session.opened_at),
       Int(session.lease_ttl_asked), Int(session.lease_ttl_since), session.identity,
       Int(session.home), Int(session.moves), int64_t{session.ended == Cause::kNone ? 0 : 1}});
}

void SaveElection(Connection& connection, const Election& election) {
  const auto& leader = election.leader;
  const Settings& settings = election.settings;
  const auto& appointment = election.appointment;
  const auto& vacancy = election.vacancy;
  const auto null = std::monostate();
  const auto time_or_null = [&](const std::optional<DbTime>& time) {
    return time ? Value(Int(*time)) : null;
  };
  connection.Execute(query::kSaveElection,
                     {election.name.bytes,
                      Int(election.term.value),
                      Int(election.revision.value),
                      Int(election.next_ticket.value),
                      Int(election.waiting),
                      leader ? Value(Bytes(leader->session)) : null,
                      leader ? Value(leader->candidate) : null,
                      leader ? Value(Int(leader->lease_ttl)) : null,
                      leader ? Value(leader->value) : null,
                      leader ? Value(Int(leader->elected_at)) : null,
                      leader ? Value(Int(leader->call_id.value)) : null,
                      Int(settings.lock_delay),
                      Int(settings.min_hold),
                      Int(settings.lease_ttl_default),
                      Int(settings.lease_ttl_max),
                      Int(settings.queue_max),
                      int64_t{election.paused},
                      int64_t{election.deleted},
                      Int(election.vacant_until),
                      appointment ? Value(appointment->candidate) : null,
                      appointment ? time_or_null(appointment->until) : null,
                      Int(election.cooling_until),
                      time_or_null(election.wake_at),
                      Int(election.history_from.value),
                      vacancy ? Value(static_cast<int64_t>(vacancy->cause)) : null,
                      vacancy ? Value(Int(vacancy->since)) : null,
                      election.creator});
}

void SaveEvent(Connection& connection, const Event& event, int partition, uint64_t offset) {
  const Leader& leader = event.leader;
  connection.Execute(
      query::kSaveEvent,
      {event.election.bytes, Int(event.revision.value), static_cast<int64_t>(event.type),
       static_cast<int64_t>(event.cause), Int(event.term.value), Bytes(leader.session),
       leader.candidate, Int(leader.lease_ttl), leader.value, Int(leader.elected_at), Int(event.at),
       event.successor, int64_t{partition}, Int(offset)});
}

std::vector<PartitionOffset> SaveEvents(Connection& connection, const TransactionState& decided,
                                        const std::optional<HistoryPoint>& point) {
  std::vector<PartitionOffset> committed;
  for (const auto& [partition, events] : EventsByPartition(decided)) {
    uint64_t offset = 0;
    uint64_t epoch = 0;
    connection.ForEach(query::kPartition, {int64_t{partition}}, [&](const Row& row) {
      offset = row.Unsigned(0) + 1;
      epoch = row.Unsigned(1);
    });
    if (point && (epoch != point->epoch || offset <= point->seen[static_cast<size_t>(partition)])) {
      throw SQLite::Exception("the database's history is not the one that this replica knows");
    }
    connection.Execute(query::kAdvancePartition, {int64_t{partition}});
    for (const Event* event : events) SaveEvent(connection, *event, partition, offset);
    committed.push_back({partition, offset});
  }
  return committed;
}

void SaveDeparture(Connection& connection, const Departure& departure) {
  connection.Execute(query::kDepart, {Int(departure.home)});
  if (connection.Changes() == 0) return;  // the home is dead
  connection.Execute(query::kSaveDeparture,
                     {Int(departure.home), Bytes(departure.session), Int(departure.moves)});
}

void CheckHome(Connection& connection, const HomeWitness& witness) {
  const int64_t home = Int(witness.home);
  const int64_t acknowledged = Int(witness.acknowledged);
  bool stands = false;
  if (witness.number) {
    connection.Execute(query::kNumberHome, {home, Int(*witness.number), acknowledged});
    stands = connection.Changes() == 1;
  } else {
    stands = connection.Number(query::kHomeStands, {home, acknowledged}) == 1;
  }
  if (!stands) throw SQLite::Exception(kHomeDoesNotStand);
}

}  // namespace

std::vector<PartitionOffset> Save(Connection& connection, const TransactionState& loaded,
                                  const TransactionState& decided, const CommitRules& rules) {
  const Changes changes = Compare(loaded, decided);
  for (const Election* election : changes.elections) SaveElection(connection, *election);
  for (const Session* session : changes.opened) SaveSession(connection, *session);
  for (const Session* session : changes.sessions) SaveSession(connection, *session);
  for (const ElectionName* name : changes.emptied) {
    connection.Execute(query::kEmptyQueue, {name->bytes});
    connection.Execute(query::kEmptyCoolDowns, {name->bytes});
  }
  for (const PlaceKey& place : changes.departed) {
    connection.Execute(query::kDeletePlace, {place.election.bytes, Bytes(place.session)});
  }
  for (const auto& [election, candidacy] : changes.candidacies) {
    connection.Execute(
        query::kSavePlace,
        {election->bytes, Bytes(candidacy->session), Int(candidacy->ticket.value),
         int64_t{~candidacy->priority}, candidacy->value, Int(candidacy->call_id.value),
         candidacy->candidate, int64_t{candidacy->asked_again}});
  }
  for (const CoolDown& cool_down : changes.cool_downs) {
    connection.Execute(query::kSaveCoolDown,
                       {cool_down.election->bytes, *cool_down.candidate, Int(cool_down.until)});
  }
  for (const AdminChange& change : decided.admin_changes) {
    connection.Execute(
        query::kSaveAdminChange,
        {change.election.bytes, static_cast<int64_t>(change.action), Int(change.term.value),
         Int(change.at), change.detail, change.author.identity, change.author.reason});
  }
  if (decided.origin_min > connection.Number(query::kOrigin)) {
    connection.Execute(query::kSaveOrigin, {Int(decided.origin_min)});
  }
  for (const ElectionName* name : changes.purged) {
    for (const char* statement : query::kPurge) connection.Execute(statement, {name->bytes});
  }
  for (const auto& [election, before] : changes.forgotten) {
    connection.Execute(query::kForgetEvents, {election->bytes, Int(before.value)});
  }
  for (const Departure& departure : decided.departures) SaveDeparture(connection, departure);
  if (rules.witness) CheckHome(connection, *rules.witness);
  return SaveEvents(connection, decided, rules.point);
}

}  // namespace tenure::sqlite
