// The class behind OpenSqliteStore. Its parts: transactions (load.cc, save.cc), reads.cc,
// operator_reads.cc, housekeeping.cc and history.cc.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "storage/sqlite/open.h"
#include "storage/sqlite/shared_connection.h"
#include "storage/sqlite/sql.h"
#include "storage/sqlite/turns.h"
#include "storage/store.h"

namespace tenure::sqlite {

// The key, if there is one.
[[nodiscard]] std::optional<std::string> FindSessionKey(Connection& connection);

class SqliteStore final : public Store {
 public:
  SqliteStore(const std::string& path, DbClock clock)
      : path_(path), clock_(std::move(clock)), writer_(path) {
    if (path != kInMemory) reader_.emplace(path, writer_);
  }

  Result<Committed> Transact(const LockSet& locks, const CommitRules& rules,
                             const Decide& decide) override;
  Result<std::map<ElectionName, ElectionView>> ReadElections(
      const std::vector<ElectionName>& names) override;
  Result<std::vector<ElectionView>> ListElections(std::string_view prefix, std::string_view after,
                                                  size_t limit) override;
  Result<std::map<PlaceKey, uint64_t>> ReadPositions(const std::vector<PlaceKey>& places) override;
  Result<std::vector<PlaceKey>> FilterWaiting(const std::vector<PlaceKey>& places) override;
  Result<std::vector<Leadership>> ReadSeats(const SeatPage& page) override;
  Result<std::vector<Event>> ReadEvents(const ElectionName& election, Revision from,
                                        size_t limit) override;
  Result<Partitions> ReadPartitions() override;
  Result<Attendance> ReadAttendance(HomeId home) override;
  Result<std::vector<FeedEntry>> ReadFeed(int partition, uint64_t after, uint64_t until) override;
  Result<DueWork> FindDueWork(size_t limit) override;
  Result<std::vector<PlaceKey>> FindPlaces(const std::vector<SessionId>& sessions) override;
  Result<void> MarkSettled(const std::vector<SessionId>& sessions) override;
  Result<size_t> ForgetSessions(Duration age, size_t limit) override;
  Result<Trimmed> TrimHistory(const Retention& retention, const ElectionName& after,
                              size_t limit) override;
  Result<std::vector<QueueEntry>> ReadQueue(const ElectionName& election, size_t skip,
                                            size_t limit) override;
  Result<std::vector<TermRecord>> ReadTerms(const ElectionName& election, Term before,
                                            size_t limit) override;
  Result<std::vector<AdminRecord>> ReadAdminChanges(const std::optional<ElectionName>& election,
                                                    uint64_t before, size_t limit) override;
  Result<std::vector<SessionView>> ReadSessions(std::string_view candidate_prefix,
                                                const SessionId& after, size_t limit) override;
  Result<std::optional<SessionId>> FindSession(std::string_view handle) override;
  Result<Statistics> ReadStatistics() override;
  Result<bool> BeginHome(const HomeRow& home) override;
  Result<BeatReport> Beat(const BeatOrder& order) override;
  Result<std::vector<NumberedDeparture>> ReadDepartures(HomeId home, uint64_t after,
                                                        size_t limit) override;
  Result<bool> DeclareDead(HomeId home, uint64_t beat) override;
  Result<std::vector<Session>> ListKept(HomeId home, const SessionId& after, size_t limit) override;
  Result<std::vector<SessionId>> ListOrphans(HomeId home, Duration lease_max,
                                             size_t limit) override;
  Result<HistoryReading> AgreeOnHistory(uint64_t remembered,
                                        const DecideOnHistory& decide) override;
  Result<Duration> LongestLease() override;
  Result<uint64_t> RaiseOrigin() override;
  Result<std::string> SessionKey() override;
  void StayOn(uint64_t) override;
  void LeaveServer() override;
  StoreActivity Activity() const override;
  Result<void> Ping() override;
  Result<SchemaState> CheckSchema() override;
  Result<ForeignTables> FindForeignTables() override;
  Result<std::optional<std::string>> FindSessionKey() override;
  Result<void> Migrate() override;

 private:
  [[nodiscard]] DueWork FindDueWorkIn(Connection& connection, size_t limit) const;
  // Runs `work` when it is its turn to write.
  template <typename Work>
  auto Write(Work work, Turns::For whom = Turns::For::kOthers) {
    return writer_.Use(whom, std::move(work));
  }
  // Runs `work` on one snapshot: what was committed before its turn began. No writer waits for it.
  template <typename Work>
  auto Read(Work work) {
    SharedConnection& connection = reader_ ? *reader_ : writer_;
    return connection.Use(Turns::For::kOthers, [&work](Connection& reading) {
      Transaction snapshot(reading, query::kBeginRead);
      auto read = work(reading);
      snapshot.Commit();
      return read;
    });
  }

  const std::string path_;
  const DbClock clock_;
  SharedConnection writer_;
  std::optional<SharedConnection> reader_;  // a database in memory has only one connection
};

}  // namespace tenure::sqlite
