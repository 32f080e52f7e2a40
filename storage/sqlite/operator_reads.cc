#include "storage/sqlite/store.h"

#include "storage/changes.h"
#include "storage/rows.h"
#include "storage/sqlite/sql.h"

namespace tenure::sqlite {

namespace {

// Elections that are told of one session.
constexpr int64_t kPlacesMax = 1000;

}  // namespace

Result<std::vector<QueueEntry>> SqliteStore::ReadQueue(const ElectionName& election, size_t skip,
                                                       size_t limit) {
  return Guarded([&] {
    return connection_.Collect(query::kQueue,
                               {election.bytes, Int(clock_()), Int(skip), Int(limit)},
                               [](const Row& row) { return ToQueueEntry(row); });
  });
}

Result<std::vector<TermRecord>> SqliteStore::ReadTerms(const ElectionName& election, Term before,
                                                       size_t limit) {
  return Guarded([&] {
    return connection_.Collect(query::kTerms, {election.bytes, Int(before.value), Int(limit)},
                               ToTermRecord);
  });
}

Result<std::vector<AdminRecord>> SqliteStore::ReadAdminChanges(
    const std::optional<ElectionName>& election, uint64_t before, size_t limit) {
  return Guarded([&] {
    return election ? connection_.Collect(query::kAdminChangesOf,
                                          {Int(before), election->bytes, Int(limit)}, ToAdminRecord)
                    : connection_.Collect(query::kAdminChanges, {Int(before), Int(limit)},
                                          ToAdminRecord);
  });
}

Result<std::vector<SessionView>> SqliteStore::ReadSessions(std::string_view candidate_prefix,
                                                           const SessionId& after, size_t limit) {
  return Guarded([&] {
    const std::string end = PrefixEnd(candidate_prefix);
    auto sessions = connection_.Collect(
        query::kLiveSessions, {Int(clock_()), candidate_prefix, end, Bytes(after), Int(limit)},
        ToSessionView);
    for (SessionView& view : sessions) {
      const std::string_view id = Bytes(view.session.id);
      view.leads = connection_.Collect(query::kSessionLeads, {id, kPlacesMax}, ToName);
      view.waits = connection_.Collect(query::kSessionWaits, {id, kPlacesMax}, ToName);
    }
    return sessions;
  });
}

Result<std::optional<SessionId>> SqliteStore::FindSession(std::string_view handle) {
  return Guarded([&] {
    const auto [first, last] = SessionIdsOf(handle);
    return connection_.First(query::kFindSession, {Bytes(first), Bytes(last)}, ToId);
  });
}

Result<Statistics> SqliteStore::ReadStatistics() {
  return Guarded([&] {
    Transaction transaction(connection_, query::kBeginRead);
    const int64_t now = Int(clock_());
    Statistics statistics;
    connection_.ForEach(query::kCountEmpty, {}, [&](const Row& row) {
      statistics = {
          .elections = row.Unsigned(0), .leaderless = row.Unsigned(2), .vacant = row.Unsigned(1)};
    });
    statistics.elections += connection_.Number(query::kCountLed);
    statistics.leaderless += connection_.Number(query::kCountLapsed, {now});
    statistics.candidates = connection_.Number(query::kCountCandidates);
    statistics.sessions = connection_.Number(query::kCountSessions, {now});
    return statistics;
  });
}

}  // namespace tenure::sqlite
