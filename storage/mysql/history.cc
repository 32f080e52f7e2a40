#include "storage/mysql/mysql_store.h"

#include "storage/mysql/sql.h"
#include "storage/rows.h"
#include "storage/session_key.h"

namespace tenure::mysql {
namespace {

std::optional<std::string> KnownSessionKey(const Rows& rows) {
  return First(ConvertAll(rows, [](const Row& row) { return Text(row, 0); }));
}

}  // namespace

Result<HistoryReading> MySqlStore::AgreeOnHistory(uint64_t remembered,
                                                  const DecideOnHistory& decide) {
  std::optional<Error> refused;
  auto reading = runner_.RunAnywhere([&](Pool::Loan& loan) {
    refused.reset();
    Connection& connection = loan.connection();
    connection.AskAgain();
    const std::vector<Rows> results = connection.Run(
        {query::kBegin, query::kLockPartitions, query::LatestEpoch(), query::FindEpoch(remembered),
         query::kLastRepaired, query::kClock, query::kSessionKey});
    const Server& server = connection.server();
    HistoryReading reading;
    reading.server = {loan.slot().choice,
                      server.name,
                      connection.address().host + ":" + std::to_string(connection.address().port),
                      server.history,
                      server.lossless,
                      server.many_writers,
                      server.warnings};
    for (const Row& row : results[1]) reading.offsets.at(row.Unsigned(0)) = row.Unsigned(1);
    reading.latest = First(ConvertAll(results[2], ToEpoch));
    reading.remembered = First(ConvertAll(results[3], ToEpoch));
    reading.repaired = results[4].at(0).Unsigned(0);
    reading.now = Time(results[5].at(0), 0);
    reading.session_key = KnownSessionKey(results[6]).value_or("");
    const auto decided = decide(reading);
    if (!decided) {
      refused = decided.error();
      connection.Run({query::kRollback});
      return reading;
    }
    const std::optional<Epoch>& epoch = *decided;
    std::vector<std::string> statements;
    if (epoch) statements = query::SaveEpoch(*epoch);
    if (!epoch && reading.latest) statements.push_back(query::JoinEpoch(reading.latest->number));
    statements.emplace_back(query::kCommit);
    connection.Run(statements);
    return reading;
  });
  if (refused) return tl::unexpected(*refused);
  return reading;
}

Result<Duration> MySqlStore::LongestLease() {
  return runner_.Run([](Pool::Loan& loan) {
    return Span(loan.connection().Run({query::kLongestLease})[0].at(0), 0);
  });
}

Result<uint64_t> MySqlStore::RaiseOrigin() {
  return runner_.Run([&](Pool::Loan& loan) {
    const auto results = loan.connection().Run({query::RaiseOrigin(), query::kOrigin});
    return results.at(1).at(0).Unsigned(0);
  });
}

Result<std::string> MySqlStore::SessionKey() {
  const auto fresh = NewSessionKey();
  if (!fresh) return fresh;
  return runner_.Run([&](Pool::Loan& loan) {
    Connection& connection = loan.connection();
    const auto known = KnownSessionKey(connection.Run({query::kSessionKey})[0]);
    if (known) return *known;
    return Text(connection.Run({query::AddSessionKey(*fresh), query::kSessionKey})[1].at(0), 0);
  });
}

std::optional<std::string> FindSessionKey(Connection& connection) {
  try {
    return KnownSessionKey(connection.Run({query::kSessionKey})[0]);
  } catch (const MySqlError& error) {
    if (error.code != query::kNoSuchTable) throw;
    return std::nullopt;
  }
}

Result<std::optional<std::string>> MySqlStore::FindSessionKey() {
  return runner_.RunAnywhere(
      [](Pool::Loan& loan) { return mysql::FindSessionKey(loan.connection()); });
}

}  // namespace tenure::mysql
