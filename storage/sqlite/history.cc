#include "storage/sqlite/store.h"

#include <sqlite3.h>

#include <algorithm>

#include "core/limits.h"
#include "storage/rows.h"
#include "storage/sqlite/sql.h"

namespace tenure::sqlite {

Result<HistorySight> SqliteStore::AgreeOnHistory(
    uint64_t remembered, const std::function<std::optional<Epoch>(const HistorySight&)>& decide) {
  return Guarded([&] {
    Transaction transaction(connection_, query::kBegin);
    Partitions partitions;
    HistorySight sight;
    sight.server = {.number = 1, .name = "SQLite " SQLITE_VERSION, .history = "SQLite"};
    connection_.ForEach(query::kPartitions, {},
                        [&](const Row& row) { AddPartition(row, partitions); });
    sight.offsets = partitions.offsets;
    sight.latest = connection_.First(query::kLatestEpoch, {}, ToEpoch);
    sight.remembered = connection_.First(query::kFindEpoch, {Int(remembered)}, ToEpoch);
    sight.repaired = connection_.Number(query::kLastRepaired);
    sight.longest_lease = Duration(static_cast<int64_t>(connection_.Number(query::kLongestLease)));
    sight.now = clock_();
    if (const std::optional<Epoch> epoch = decide(sight)) {
      connection_.Execute(
          query::kSaveEpoch,
          {Int(epoch->number), Int(epoch->token), epoch->server, int64_t{epoch->lossless},
           static_cast<int64_t>(epoch->state), Int(epoch->began_at), Int(epoch->repairer),
           Int(epoch->repair_until), Int(sight.now), int64_t{epoch->guards_write}});
      connection_.Execute(query::kSavePartitionsEpoch, {Int(epoch->number)});
    } else if (sight.latest) {
      connection_.Execute(query::kJoinEpoch, {Int(sight.now), Int(sight.latest->number)});
    }
    transaction.Commit();
    return sight;
  });
}

Result<uint64_t> SqliteStore::ReadOrigin() {
  return Guarded([&] { return connection_.Number(query::kOrigin); });
}

Result<uint64_t> SqliteStore::RaiseOrigin() {
  return Guarded([&] {
    const auto now = static_cast<uint64_t>(Int(clock_()));
    const uint64_t raised = std::max(connection_.Number(query::kOrigin) + kBumpMin, now);
    connection_.Execute(query::kSaveOrigin, {Int(raised)});
    return raised;
  });
}

}  // namespace tenure::sqlite
