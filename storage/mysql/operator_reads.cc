#include "storage/mysql/mysql_store.h"

#include <map>
#include <utility>

#include "storage/changes.h"
#include "storage/mysql/sql.h"
#include "storage/rows.h"

namespace tenure::mysql {

Result<std::vector<QueueEntry>> MySqlStore::ReadQueue(const ElectionName& election, size_t skip,
                                                      size_t limit) {
  return Read(query::Queue(election, skip, limit), [](const Rows& rows) {
    return ConvertAll(rows, [](const Row& row) { return ToQueueEntry(row, 1); });
  });
}

Result<std::vector<TermRecord>> MySqlStore::ReadTerms(const ElectionName& election, Term before,
                                                      size_t limit) {
  return Read(query::Terms(election, before, limit),
              [](const Rows& rows) { return ConvertAll(rows, ToTermRecord); });
}

Result<std::vector<AdminRecord>> MySqlStore::ReadAdminChanges(
    const std::optional<ElectionName>& election, uint64_t before, size_t limit) {
  return Read(query::AdminChanges(election, before, limit),
              [](const Rows& rows) { return ConvertAll(rows, ToAdminRecord); });
}

Result<std::vector<SessionView>> MySqlStore::ReadSessions(std::string_view candidate_prefix,
                                                          const SessionId& after, size_t limit) {
  return runner_.Run([&](Pool::Loan& loan) {
    Connection& connection = loan.connection();
    std::vector<SessionView> sessions = ConvertAll(
        connection.Run({query::LiveSessions(candidate_prefix, after, limit)})[0], ToSessionView);
    if (sessions.empty()) return sessions;
    std::vector<SessionId> ids;
    std::map<SessionId, SessionView*> by_id;
    for (SessionView& view : sessions) {
      ids.push_back(view.session.id);
      by_id[view.session.id] = &view;
    }
    const std::vector<Rows> places =
        connection.Run({query::SessionsLead(ids), query::SessionsWait(ids)});
    for (const Row& row : places[0]) by_id.at(Id(row, 1))->leads.push_back(ToName(row));
    for (const Row& row : places[1]) by_id.at(Id(row, 1))->waits.push_back(ToName(row));
    return sessions;
  });
}

Result<std::optional<SessionId>> MySqlStore::FindSession(std::string_view handle) {
  const auto [first, last] = SessionIdsOf(handle);
  return Read(query::FindSession(first, last),
              [](const Rows& rows) { return First(ConvertAll(rows, ToId)); });
}

Result<Statistics> MySqlStore::ReadStatistics() {
  return Read(query::kCountAll, [](const Rows& rows) {
    const auto count = [&](size_t column) { return rows.at(0).Unsigned(column); };
    return Statistics{.elections = count(0) + count(1),
                      .led = count(0),
                      .leaderless = count(3) + count(4),
                      .vacant = count(2),
                      .candidates = count(5),
                      .sessions = count(6)};
  });
}

}  // namespace tenure::mysql
