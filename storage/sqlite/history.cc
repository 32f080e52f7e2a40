#include "storage/sqlite/sqlite_store.h"

#include <sqlite3.h>

#include <algorithm>

#include "core/limits.h"
#include "storage/rows.h"
#include "storage/session_key.h"
#include "storage/sqlite/sql.h"

namespace tenure::sqlite {
namespace {

std::optional<std::string> KnownSessionKey(Connection& connection) {
  return connection.First(query::kSessionKey, {}, [](const Row& row) { return Text(row, 0); });
}

}  // namespace

Result<HistoryReading> SqliteStore::AgreeOnHistory(uint64_t remembered,
                                                   const DecideOnHistory& decide) {
  std::optional<Error> refused;
  auto reading = Write([&](Connection& connection) {
    Transaction transaction(connection, query::kBegin);
    Partitions partitions;
    HistoryReading reading;
    reading.server = {
        .number = 1, .name = "SQLite " SQLITE_VERSION, .address = path_, .history = "SQLite"};
    connection.ForEach(query::kPartitions, {},
                       [&](const Row& row) { AddPartition(row, partitions); });
    reading.offsets = partitions.offsets;
    reading.latest = connection.First(query::kLatestEpoch, {}, ToEpoch);
    reading.remembered = connection.First(query::kFindEpoch, {Int(remembered)}, ToEpoch);
    reading.repaired = connection.Number(query::kLastRepaired);
    reading.now = clock_();
    reading.session_key = KnownSessionKey(connection).value_or("");
    const auto decided = decide(reading);
    if (!decided) {
      refused = decided.error();
      return reading;
    }
    if (const std::optional<Epoch>& epoch = *decided) {
      connection.Execute(
          query::kSaveEpoch,
          {Int(epoch->number), Int(epoch->token), epoch->server, int64_t{epoch->lossless},
           static_cast<int64_t>(epoch->state), Int(epoch->began_at), Int(epoch->repairer),
           Int(epoch->repair_until), Int(reading.now), int64_t{epoch->guards_write}});
      connection.Execute(query::kSavePartitionsEpoch, {Int(epoch->number)});
    } else if (reading.latest) {
      connection.Execute(query::kJoinEpoch, {Int(reading.now), Int(reading.latest->number)});
    }
    transaction.Commit();
    return reading;
  });
  if (refused) return tl::unexpected(*refused);
  return reading;
}

Result<Duration> SqliteStore::LongestLease() {
  return Read([](Connection& connection) {
    return Duration(static_cast<int64_t>(connection.Number(query::kLongestLease)));
  });
}

Result<uint64_t> SqliteStore::RaiseOrigin() {
  return Write([&](Connection& connection) {
    const auto now = static_cast<uint64_t>(Int(clock_()));
    const uint64_t raised = std::max(connection.Number(query::kOrigin) + kBumpMin, now);
    connection.Execute(query::kSaveOrigin, {Int(raised)});
    return raised;
  });
}

Result<std::string> SqliteStore::SessionKey() {
  const auto fresh = NewSessionKey();
  if (!fresh) return fresh;
  return Write([&](Connection& connection) {
    connection.Execute(query::kAddSessionKey, {*fresh});
    return KnownSessionKey(connection).value();
  });
}

std::optional<std::string> FindSessionKey(Connection& connection) {
  if (connection.Number(query::kHasSessionKey) == 0) return std::nullopt;
  return KnownSessionKey(connection);
}

Result<std::optional<std::string>> SqliteStore::FindSessionKey() {
  return Read([](Connection& connection) { return sqlite::FindSessionKey(connection); });
}

}  // namespace tenure::sqlite
