// The class behind OpenMySqlStore. Its parts: transactions (load.cc, save.cc), reads.cc,
// operator_reads.cc, housekeeping.cc, history.cc, and the schema (migrator.cc).
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "storage/mysql/runner.h"
#include "storage/store.h"

namespace tenure::mysql {

// What FindDueWork has answered.
[[nodiscard]] DueWork ToDueWork(const Rows& rows);

// The key, if there is one. Throws MySqlError.
[[nodiscard]] std::optional<std::string> FindSessionKey(Connection& connection);

class MySqlStore final : public Store {
 public:
  explicit MySqlStore(Config config) : runner_(std::move(config)) {}

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
  void StayOn(uint64_t server) override;
  void LeaveServer() override;
  Result<Duration> LongestLease() override;
  Result<uint64_t> RaiseOrigin() override;
  Result<std::string> SessionKey() override;
  StoreActivity Activity() const override;
  Result<void> Ping() override;
  Result<SchemaState> CheckSchema() override;
  Result<ForeignTables> FindForeignTables() override;
  Result<std::optional<std::string>> FindSessionKey() override;
  Result<void> Migrate() override;

 private:
  // Converts what one statement is answered.
  template <typename Convert>
  auto Read(const std::string& statement, Convert convert)
      -> Result<std::invoke_result_t<Convert, const Rows&>> {
    return runner_.Run(
        [&](Pool::Loan& loan) { return convert(loan.connection().Run({statement})[0]); });
  }

  Runner runner_;
};

}  // namespace tenure::mysql
