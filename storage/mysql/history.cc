#include "storage/mysql/store.h"

#include "storage/mysql/sql.h"
#include "storage/rows.h"
#include "storage/session_key.h"

namespace tenure::mysql {

Result<HistorySight> MySqlStore::AgreeOnHistory(
    uint64_t remembered, const std::function<std::optional<Epoch>(const HistorySight&)>& decide) {
  return runner_.RunAnywhere([&](Pool::Loan& loan) {
    Connection& connection = loan.connection();
    connection.AskAgain();
    const std::vector<Rows> results = connection.Run(
        {query::kBegin, query::kLockPartitions, query::LatestEpoch(), query::FindEpoch(remembered),
         query::kLastRepaired, query::kLongestLease, query::kClock});
    const Server& server = connection.server();
    HistorySight sight;
    sight.server = {loan.slot().choice,
                    server.name,
                    connection.address().host + ":" + std::to_string(connection.address().port),
                    server.history,
                    server.lossless,
                    server.many_writers,
                    server.warnings};
    for (const Row& row : results[1]) sight.offsets.at(row.Unsigned(0)) = row.Unsigned(1);
    sight.latest = First(ConvertAll(results[2], ToEpoch));
    sight.remembered = First(ConvertAll(results[3], ToEpoch));
    sight.repaired = results[4].at(0).Unsigned(0);
    sight.longest_lease = Span(results[5].at(0), 0);
    sight.now = Time(results[6].at(0), 0);
    const std::optional<Epoch> epoch = decide(sight);
    std::vector<std::string> statements;
    if (epoch) statements = query::SaveEpoch(*epoch);
    if (!epoch && sight.latest) statements.push_back(query::JoinEpoch(sight.latest->number));
    statements.emplace_back(query::kCommit);
    connection.Run(statements);
    return sight;
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
    const Rows known = connection.Run({query::kSessionKey})[0];
    if (!known.empty()) return Text(known[0], 0);
    return Text(connection.Run({query::AddSessionKey(*fresh), query::kSessionKey})[1].at(0), 0);
  });
}

}  // namespace tenure::mysql
