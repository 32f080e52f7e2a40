#include "storage/mysql/mysql_store.h"
#include "storage/mysql/sql.h"
#include "storage/rows.h"

namespace tenure::mysql {

Result<bool> MySqlStore::BeginHome(const HomeRow& home) {
  return runner_.Run(
      [&](Pool::Loan& loan) { return loan.connection().Change(query::BeginHome(home)) == 1; });
}

namespace {

BeatReport SendBeat(Connection& connection, const BeatOrder& order) {
  const std::vector<Rows> results = connection.Run(
      {query::Beat(order), query::HomesAfterBeat(order.home), query::FindDueWork(order.due_max)});
  BeatReport report;
  for (const Row& row : results[1]) {
    const HomeRow home = ToHomeRow(row);
    if (row.Unsigned(2) == query::kGone) {
      report.gone.push_back(home.id);
    } else if (home.id == order.home) {
      report.own = home;
      report.beaten = row.Unsigned(query::kBeatenColumn) == 1;
    } else {
      report.living.push_back(home);
    }
  }
  report.due = ToDueWork(results[2]);
  return report;
}

}  // namespace

Result<BeatReport> MySqlStore::Beat(const BeatOrder& order) {
  return runner_.Run([&](Pool::Loan& loan) {
    try {
      return SendBeat(loan.connection(), order);
    } catch (const MySqlError& error) {
      if (error.kind != MySqlError::Kind::kAway) throw;
      // The beat may have been made. If it were sent again, its number would be there already, as
      // if a copy of this replica had sent it.
      throw MySqlError(MySqlError::Kind::kInDoubt, error.code, error.what());
    }
  });
}

Result<std::vector<NumberedDeparture>> MySqlStore::ReadDepartures(HomeId home, uint64_t after,
                                                                  size_t limit) {
  return runner_.Run([&](Pool::Loan& loan) {
    const std::vector<Rows> results = loan.connection().Run(
        {query::ForgetDepartures(home, after), query::ReadDepartures(home, after, limit)});
    return ConvertAll(results[1], ToNumberedDeparture);
  });
}

Result<bool> MySqlStore::DeclareDead(HomeId home, uint64_t beat) {
  return runner_.Run([&](Pool::Loan& loan) {
    const std::vector<Rows> results =
        loan.connection().Run({query::DeclareDead(home, beat), query::FindHome(home)});
    const auto row = First(ConvertAll(results[1], ToHomeRow));
    return row && row->dead;
  });
}

Result<std::vector<Session>> MySqlStore::ListKept(HomeId home, const SessionId& after,
                                                  size_t limit) {
  return Read(query::KeptSessions(home, after, limit),
              [](const Rows& rows) { return ConvertAll(rows, ToSession); });
}

Result<std::vector<SessionId>> MySqlStore::ListOrphans(HomeId home, Duration lease_max,
                                                       size_t limit) {
  return Read(query::Orphans(home, lease_max, limit),
              [](const Rows& rows) { return ConvertAll(rows, ToId); });
}

}  // namespace tenure::mysql
