#include "storage/sqlite/sqlite_store.h"

#include <algorithm>
#include <chrono>

#include "storage/rows.h"
#include "storage/sqlite/sql.h"
#include "storage/trimming.h"

namespace tenure::sqlite {

DueWork SqliteStore::FindDueWorkIn(Connection& connection, size_t limit) const {
  DueWork due;
  due.now = clock_();
  connection.ForEach(query::kPartitions, {},
                     [&](const Row& row) { AddPartition(row, due.partitions); });
  due.unsettled = connection.Collect(query::kUnsettled, {Int(limit)}, ToId);
  due.elections = connection.Collect(query::kDueElections, {Int(due.now), Int(limit)}, ToName);
  connection.ForEach(query::kNextDue, {Int(due.now)},
                     [&](const Row& row) { due.next = OptionalTime(row, 0); });
  return due;
}

Result<DueWork> SqliteStore::FindDueWork(size_t limit) {
  return Read([&](Connection& connection) { return FindDueWorkIn(connection, limit); });
}

Result<std::vector<PlaceKey>> SqliteStore::FindPlaces(const std::vector<SessionId>& sessions) {
  return Read([&](Connection& connection) {
    std::vector<PlaceKey> places;
    for (const SessionId& id : sessions) {
      connection.ForEach(query::kPlaces, {Bytes(id)}, [&](const Row& row) {
        places.push_back({ToName(row), id});
      });
    }
    return places;
  });
}

Result<void> SqliteStore::MarkSettled(const std::vector<SessionId>& sessions) {
  return Write([&](Connection& connection) {
    Transaction transaction(connection, query::kBegin);
    for (const SessionId& id : sessions) connection.Execute(query::kMarkSettled, {Bytes(id)});
    transaction.Commit();
  });
}

Result<size_t> SqliteStore::ForgetSessions(Duration age, size_t limit) {
  return Write([&](Connection& connection) {
    connection.Execute(query::kForgetDepartedOfTheDead);
    connection.Execute(query::kForgetHomes, {Int(clock_().since_epoch - kDeadHomesKeptFor)});
    connection.Execute(query::kForgetSessions, {Int(clock_().since_epoch - age), Int(limit)});
    return connection.Changes();
  });
}

Result<Trimmed> SqliteStore::TrimHistory(const Retention& retention, const ElectionName& after,
                                         size_t limit) {
  return Write([&](Connection& connection) {
    Transaction transaction(connection, query::kBegin);
    const DbTime now = clock_();
    if (after.bytes.empty()) {
      const Duration age = std::max(retention.age_max, retention.age_min);
      connection.Execute(query::kTrimAdminChanges, {Int(now.since_epoch - age), Int(limit)});
      connection.Execute(query::kTrimCoolDowns, {Int(now)});
    }
    const auto next = connection.Collect(query::kOldestEvents,
                                         {after.bytes, Int(kElectionsPerTrim)}, ToElectionHistory);
    const Trimmed trimmed =
        HistoryTrimmer(retention, now)
            .Trim(next, after, limit, std::chrono::steady_clock::time_point::max(),
                  [&](const ElectionName& name, Revision end, const HistoryTrimmer::Cut& cut) {
                    connection.Execute(query::kTrimEvents,
                                       {name.bytes, Int(end.value), Int(cut.below.value),
                                        Int(cut.before), Int(cut.protected_from), Int(limit)});
                    return connection.Changes();
                  });
    transaction.Commit();
    return trimmed;
  });
}

}  // namespace tenure::sqlite
