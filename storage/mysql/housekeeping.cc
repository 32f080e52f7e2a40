#include "storage/mysql/mysql_store.h"

#include <algorithm>
#include <chrono>

#include "storage/mysql/sql.h"
#include "storage/rows.h"
#include "storage/trimming.h"

namespace tenure::mysql {

namespace {

// Maximum time for one step of trimming, however slow the database is; the next step continues from
// there.
constexpr auto kTrimTimeMax = std::chrono::seconds(5);
constexpr Duration kWriterAgeMax = std::chrono::hours(24);

// The last statement returns the number of deleted sessions.
std::vector<std::string> Forgetting(Duration age, size_t limit) {
  std::vector<std::string> statements = query::ForgetHomes(kDeadHomesKeptFor, limit);
  statements.push_back(query::ForgetWriters(kWriterAgeMax, limit));
  statements.push_back(query::ForgetSessions(age, limit));
  statements.emplace_back(query::kRowCount);
  return statements;
}

}  // namespace

DueWork ToDueWork(const Rows& rows) {
  DueWork due;
  for (const Row& row : rows) {
    switch (static_cast<query::Due>(row.Unsigned(0))) {
      case query::Due::kNow: due.now = Time(row, 2); break;
      case query::Due::kNext: due.next = OptionalTime(row, 2); break;
      case query::Due::kUnsettled: due.unsettled.push_back(Id(row, 1)); break;
      case query::Due::kPartition: AddPartition(row, due.partitions, 3); break;
      case query::Due::kElection: due.elections.push_back({Text(row, 1)}); break;
    }
  }
  return due;
}

Result<DueWork> MySqlStore::FindDueWork(size_t limit) {
  return Read(query::FindDueWork(limit), ToDueWork);
}

Result<std::vector<PlaceKey>> MySqlStore::FindPlaces(const std::vector<SessionId>& sessions) {
  if (sessions.empty()) return std::vector<PlaceKey>();
  return Read(query::Places(sessions), [](const Rows& rows) { return ConvertAll(rows, ToPlace); });
}

Result<void> MySqlStore::MarkSettled(const std::vector<SessionId>& sessions) {
  if (sessions.empty()) return {};
  return runner_.Run(
      [&](Pool::Loan& loan) { loan.connection().Run({query::MarkSettled(sessions)}); });
}

Result<size_t> MySqlStore::ForgetSessions(Duration age, size_t limit) {
  return runner_.Run([&](Pool::Loan& loan) {
    const std::vector<Rows> results = loan.connection().Run(Forgetting(age, limit));
    return results.back().at(0).Unsigned(0);
  });
}

Result<Trimmed> MySqlStore::TrimHistory(const Retention& retention, const ElectionName& after,
                                        size_t limit) {
  return runner_.Run([&](Pool::Loan& loan) {
    Connection& connection = loan.connection();
    const bool first = after.bytes.empty();
    std::vector<std::string> statements = {query::kClock,
                                           query::OldestEvents(after, kElectionsPerTrim)};
    if (first) {
      const Duration age = std::max(retention.age_max, retention.age_min);
      statements.push_back(query::TrimAdminChanges(age, limit));
      statements.push_back(query::TrimCoolDowns(limit));
    }
    const std::vector<Rows> results = connection.Run(statements);
    const HistoryTrimmer trimmer(retention, Time(results[0].at(0), 0));

    return trimmer.Trim(
        ConvertAll(results[1], ToElectionHistory), after, limit,
        std::chrono::steady_clock::now() + kTrimTimeMax,
        [&](const ElectionName& name, Revision end, const HistoryTrimmer::Cut& cut) -> size_t {
          const Rows last = connection.Run({query::LastToTrim(name, end, cut)})[0];
          const std::vector<Rows> removed = connection.Run(
              {query::TrimEvents(name, {last.at(0).Unsigned(0)}, limit), query::kRowCount});
          return removed[1].at(0).Unsigned(0);
        });
  });
}

}  // namespace tenure::mysql
