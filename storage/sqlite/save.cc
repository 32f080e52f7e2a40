#include "storage/sqlite/save.h"

#include <span>
#include <vector>

#include "storage/cells.h"
#include "storage/changes.h"
#include "storage/sqlite/sql.h"

namespace tenure::sqlite {
namespace {

// A row, from values with others before and after them.
std::vector<Value> RowOf(std::vector<Value> values, std::span<const Cell> cells, Values last = {}) {
  values.insert(values.end(), cells.begin(), cells.end());
  values.insert(values.end(), last);
  return values;
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
    for (const Event* event : events) {
      connection.Execute(query::kSaveEvent,
                         RowOf({}, CellsOf(*event), {int64_t{partition}, Int(offset)}));
    }
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
  for (const Election* election : changes.elections) {
    connection.Execute(query::kSaveElection, RowOf({election->name.bytes}, CellsOf(*election)));
  }
  for (const auto* sessions : {&changes.opened, &changes.sessions}) {
    for (const Session* session : *sessions) {
      connection.Execute(query::kSaveSession, CellsOf(*session));
    }
  }
  for (const ElectionName* name : changes.emptied) {
    connection.Execute(query::kEmptyQueue, {name->bytes});
    connection.Execute(query::kEmptyCoolDowns, {name->bytes});
  }
  for (const PlaceKey& place : changes.departed) {
    connection.Execute(query::kDeletePlace, {place.election.bytes, Bytes(place.session)});
  }
  for (const auto& [election, candidacy] : changes.candidacies) {
    connection.Execute(query::kSavePlace, RowOf({election->bytes}, CellsOf(*candidacy)));
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
