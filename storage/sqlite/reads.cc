#include "storage/sqlite/sqlite_store.h"

#include "storage/rows.h"
#include "storage/sqlite/sql.h"

namespace tenure::sqlite {
namespace {

Partitions PartitionsOf(Connection& connection) {
  Partitions partitions;
  connection.ForEach(query::kPartitions, {},
                     [&](const Row& row) { AddPartition(row, partitions); });
  return partitions;
}

}  // namespace

Result<std::map<ElectionName, ElectionView>> SqliteStore::ReadElections(
    const std::vector<ElectionName>& names) {
  return Read([&](Connection& connection) {
    const int64_t now = Int(clock_());
    std::map<ElectionName, ElectionView> views;
    for (const ElectionName& name : names) {
      connection.ForEach(query::kViewElection, {name.bytes, now},
                         [&](const Row& row) { views.emplace(name, ToView(row)); });
    }
    return views;
  });
}

Result<std::vector<ElectionView>> SqliteStore::ListElections(std::string_view prefix,
                                                             std::string_view after, size_t limit) {
  return Read([&](Connection& connection) {
    const std::string end = PrefixEnd(prefix);
    return connection.Collect(query::kListElections,
                              {prefix, Int(clock_()), end, after, Int(limit)}, ToView);
  });
}

Result<std::map<PlaceKey, uint64_t>> SqliteStore::ReadPositions(
    const std::vector<PlaceKey>& places) {
  return Read([&](Connection& connection) {
    std::map<PlaceKey, uint64_t> positions;
    for (const PlaceKey& place : places) {
      const uint64_t position =
          connection.Number(query::kPosition, {place.election.bytes, Bytes(place.session)});
      if (position > 0) positions.emplace(place, position);
    }
    return positions;
  });
}

Result<std::vector<PlaceKey>> SqliteStore::FilterWaiting(const std::vector<PlaceKey>& places) {
  return Read([&](Connection& connection) {
    std::vector<PlaceKey> waiting;
    for (const PlaceKey& place : places) {
      connection.ForEach(query::kLoadPlace, {place.election.bytes, Bytes(place.session)},
                         [&](const Row&) { waiting.push_back(place); });
    }
    return waiting;
  });
}

Result<std::vector<Leadership>> SqliteStore::ReadSeats(const SeatPage& page) {
  return Read([&](Connection& connection) {
    std::vector<Leadership> seats;
    ElectionName after = page.after;
    for (const SessionId& session : page.sessions) {
      const size_t room = page.limit - seats.size();
      connection.ForEach(
          query::kSeats, {Bytes(session), after.bytes, Int(room)},
          [&](const Row& row) { seats.push_back(LeadershipOf(ToElection(row)).value()); });
      after = {};
    }
    return seats;
  });
}

Result<std::vector<Event>> SqliteStore::ReadEvents(const ElectionName& election, Revision from,
                                                   size_t limit) {
  return Read([&](Connection& connection) {
    return connection.Collect(query::kEvents, {election.bytes, Int(from.value), Int(limit)},
                              ToEvent);
  });
}

Result<Partitions> SqliteStore::ReadPartitions() {
  return Read([&](Connection& connection) { return PartitionsOf(connection); });
}

Result<Attendance> SqliteStore::ReadAttendance(HomeId home) {
  return Read([&](Connection& connection) {
    Attendance attendance;
    connection.ForEach(query::kUnsettled, {Int(Attendance::kUnsettledMax)},
                       [&](const Row& row) { attendance.unsettled.insert(ToId(row)); });
    attendance.partitions = PartitionsOf(connection);
    attendance.own = connection.First(query::kHome, {Int(home)}, ToHomeRow);
    return attendance;
  });
}

Result<std::vector<FeedEntry>> SqliteStore::ReadFeed(int partition, uint64_t after,
                                                     uint64_t until) {
  return Read([&](Connection& connection) {
    return connection.Collect(query::kFeed, {int64_t{partition}, Int(after), Int(until)},
                              ToFeedEntry);
  });
}

}  // namespace tenure::sqlite
