#include "storage/mysql/mysql_store.h"

#include <utility>

#include "storage/mysql/sql.h"
#include "storage/rows.h"

namespace tenure::mysql {
namespace {

// Throws kUnfit if the server cannot be written to.
void TakePartition(const Row& row, Partitions& partitions) {
  AddPartition(row, partitions);
  Connection::CheckWritable(row[3]);
}

Partitions ToPartitions(const Rows& rows) {
  Partitions partitions;
  for (const Row& row : rows) TakePartition(row, partitions);
  return partitions;
}

// Throws kUnfit if the server cannot be written to.
std::vector<ElectionView> ToViews(Connection& connection, const Rows& rows) {
  for (const Row& row : rows) Connection::CheckWritable(row[kViewColumns]);
  if (rows.empty()) connection.CheckWritable();
  return ConvertAll(rows, ToView);
}

}  // namespace

Result<std::map<ElectionName, ElectionView>> MySqlStore::ReadElections(
    const std::vector<ElectionName>& names) {
  if (names.empty()) return std::map<ElectionName, ElectionView>();
  return runner_.Run([&](Pool::Loan& loan) {
    std::map<ElectionName, ElectionView> views;
    const Rows rows = loan.connection().Run({query::ViewElections(names)})[0];
    for (ElectionView& view : ToViews(loan.connection(), rows)) {
      views.emplace(view.election.name, std::move(view));
    }
    return views;
  });
}

Result<std::vector<ElectionView>> MySqlStore::ListElections(std::string_view prefix,
                                                            std::string_view after, size_t limit) {
  return runner_.Run([&](Pool::Loan& loan) {
    const Rows rows = loan.connection().Run({query::ListElections(prefix, after, limit)})[0];
    return ToViews(loan.connection(), rows);
  });
}

Result<std::map<PlaceKey, uint64_t>> MySqlStore::ReadPositions(
    const std::vector<PlaceKey>& places) {
  if (places.empty()) return std::map<PlaceKey, uint64_t>();
  return Read(query::Positions(places), [](const Rows& rows) {
    std::map<PlaceKey, uint64_t> positions;
    for (const Row& row : rows) positions[ToPlace(row)] = row.Unsigned(2);
    return positions;
  });
}

Result<std::vector<PlaceKey>> MySqlStore::FilterWaiting(const std::vector<PlaceKey>& places) {
  if (places.empty()) return std::vector<PlaceKey>();
  return Read(query::LoadPlaces(places),
              [](const Rows& rows) { return ConvertAll(rows, ToPlace); });
}

Result<std::vector<Leadership>> MySqlStore::ReadSeats(const SeatPage& page) {
  if (page.sessions.empty()) return std::vector<Leadership>();
  return Read(query::Seats(page), [](const Rows& rows) {
    return ConvertAll(rows, [](const Row& row) { return LeadershipOf(ToElection(row)).value(); });
  });
}

Result<std::vector<Event>> MySqlStore::ReadEvents(const ElectionName& election, Revision from,
                                                  size_t limit) {
  return Read(query::Events(election, from, limit),
              [](const Rows& rows) { return ConvertAll(rows, ToEvent); });
}

Result<Partitions> MySqlStore::ReadPartitions() { return Read(query::kPartitions, ToPartitions); }

Result<Attendance> MySqlStore::ReadAttendance(HomeId home) {
  return runner_.Run([&](Pool::Loan& loan) {
    const Rows rows =
        loan.connection().Run({query::Attendance(home, Attendance::kUnsettledMax)})[0];
    Attendance attendance;
    for (const Row& row : rows) {
      switch (row.Unsigned(query::kKindColumn)) {
        case query::kPartitionRow: TakePartition(row, attendance.partitions); break;
        case query::kHomeRow: attendance.own = ToHomeRow(row); break;
        default: attendance.unsettled.insert(Id(row, query::kUnsettledColumn));
      }
    }
    return attendance;
  });
}

Result<std::vector<FeedEntry>> MySqlStore::ReadFeed(int partition, uint64_t after, uint64_t until) {
  return Read(query::Feed(partition, after, until),
              [](const Rows& rows) { return ConvertAll(rows, ToFeedEntry); });
}

}  // namespace tenure::mysql
