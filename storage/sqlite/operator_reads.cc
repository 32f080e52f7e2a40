#include "storage/sqlite/sqlite_store.h"

#include "storage/changes.h"
#include "storage/rows.h"
#include "storage/sqlite/sql.h"

namespace tenure::sqlite {

namespace {

// Maximum number of elections that are listed for one session.
constexpr int64_t kPlacesOfSessionMax = 1000;

}  // namespace

Result<std::vector<QueueEntry>> SqliteStore::ReadQueue(const ElectionName& election, size_t skip,
                                                       size_t limit) {
  return Read([&](Connection& connection) {
    return connection.Collect(query::kQueue, {election.bytes, Int(clock_()), Int(skip), Int(limit)},
                              [](const Row& row) { return ToQueueEntry(row); });
  });
}

Result<std::vector<TermRecord>> SqliteStore::ReadTerms(const ElectionName& election, Term before,
                                                       size_t limit) {
  return Read([&](Connection& connection) {
    return connection.Collect(query::kTerms, {election.bytes, Int(before.value), Int(limit)},
                              ToTermRecord);
  });
}

Result<std::vector<AdminRecord>> SqliteStore::ReadAdminChanges(
    const std::optional<ElectionName>& election, uint64_t before, size_t limit) {
  return Read([&](Connection& connection) {
    return election
               ? connection.Collect(query::kAdminChangesOf,
                                    {Int(before), election->bytes, Int(limit)}, ToAdminRecord)
               : connection.Collect(query::kAdminChanges, {Int(before), Int(limit)}, ToAdminRecord);
  });
}

Result<std::vector<SessionView>> SqliteStore::ReadSessions(std::string_view candidate_prefix,
                                                           const SessionId& after, size_t limit) {
  return Read([&](Connection& connection) {
    const std::string end = PrefixEnd(candidate_prefix);
    auto sessions = connection.Collect(
        query::kLiveSessions, {candidate_prefix, Int(clock_()), end, Bytes(after), Int(limit)},
        ToSessionView);
    for (SessionView& view : sessions) {
      const std::string_view id = Bytes(view.session.id);
      view.leads = connection.Collect(query::kSessionLeads, {id, kPlacesOfSessionMax}, ToName);
      view.waits = connection.Collect(query::kSessionWaits, {id, kPlacesOfSessionMax}, ToName);
    }
    return sessions;
  });
}

Result<std::optional<SessionId>> SqliteStore::FindSession(std::string_view handle) {
  return Read([&](Connection& connection) {
    const auto [first, last] = SessionIdsOf(handle);
    return connection.First(query::kFindSession, {Bytes(first), Bytes(last)}, ToId);
  });
}

Result<Statistics> SqliteStore::ReadStatistics() {
  return Read([&](Connection& connection) {
    Statistics statistics;
    connection.ForEach(query::kCountEmpty, {}, [&](const Row& row) {
      statistics = {
          .elections = row.Unsigned(0), .leaderless = row.Unsigned(2), .vacant = row.Unsigned(1)};
    });
    statistics.led = connection.Number(query::kCountLed);
    statistics.elections += statistics.led;
    statistics.leaderless += connection.Number(query::kCountLapsed);
    statistics.candidates = connection.Number(query::kCountCandidates);
    statistics.sessions = connection.Number(query::kCountSessions);
    return statistics;
  });
}

}  // namespace tenure::sqlite
