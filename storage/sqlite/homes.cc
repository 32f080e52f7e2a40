#include "storage/rows.h"
#include "storage/sqlite/sql.h"
#include "storage/sqlite/sqlite_store.h"

namespace tenure::sqlite {

Result<bool> SqliteStore::BeginHome(const HomeRow& home) {
  return Write([&](Connection& connection) {
    connection.Execute(query::kBeginHome,
                       {Int(home.id), Int(home.beat), Int(home.departures), Int(home.good_for),
                        home.peer.id, home.peer.address, Int(clock_())});
    return connection.Changes() == 1;
  });
}

Result<BeatReport> SqliteStore::Beat(const BeatOrder& order) {
  return Write(
      [&](Connection& connection) {
        Transaction transaction(connection, query::kBegin);
        const int64_t me = Int(order.home);
        BeatReport report;
        connection.Execute(query::kNumberHome, {me, Int(order.number), Int(order.acknowledged)});
        report.beaten = connection.Changes() == 1;
        report.own = connection.First(query::kHome, {me}, ToHomeRow);
        report.living = connection.Collect(query::kLivingHomes, {me}, ToHomeRow);
        report.gone = connection.Collect(query::kGoneHomes, {},
                                         [](const Row& row) { return HomeId{row.Unsigned(0)}; });
        report.due = FindDueWorkIn(connection, order.due_max);
        transaction.Commit();
        return report;
      },
      Turns::For::kHomes);
}

Result<std::vector<NumberedDeparture>> SqliteStore::ReadDepartures(HomeId home, uint64_t after,
                                                                   size_t limit) {
  return Write(
      [&](Connection& connection) {
        connection.Execute(query::kForgetDepartures, {Int(home), Int(after)});
        return connection.Collect(query::kReadDepartures, {Int(home), Int(after), Int(limit)},
                                  ToNumberedDeparture);
      },
      Turns::For::kHomes);
}

Result<bool> SqliteStore::DeclareDead(HomeId home, uint64_t beat) {
  return Write([&](Connection& connection) {
    connection.Execute(query::kDeclareDead, {Int(home), Int(beat), Int(clock_())});
    return connection.Number(query::kIsDead, {Int(home)}) == 1;
  });
}

Result<std::vector<Session>> SqliteStore::ListKept(HomeId home, const SessionId& after,
                                                   size_t limit) {
  return Read([&](Connection& connection) {
    return connection.Collect(query::kKept, {Int(home), Bytes(after), Int(limit)}, ToSession);
  });
}

Result<std::vector<SessionId>> SqliteStore::ListOrphans(HomeId home, Duration lease_max,
                                                        size_t limit) {
  return Read([&](Connection& connection) {
    return connection.Collect(query::kOrphans, {Int(home), Int(lease_max), Int(limit)}, ToId);
  });
}

}  // namespace tenure::sqlite
