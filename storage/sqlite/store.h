// The class behind OpenSqliteStore. Its parts: transactions (load.cc, save.cc), reads.cc,
// operator_reads.cc, housekeeping.cc and history.cc.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/mutex.h"
#include "storage/sqlite/connection.h"
#include "storage/sqlite/sqlite_store.h"
#include "storage/store.h"

namespace tenure::sqlite {

class SqliteStore final : public Store {
 public:
  SqliteStore(const std::string& path, DbClock clock)
      : clock_(std::move(clock)), connection_(path) {}

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
  Result<Attendance> ReadAttendance(const std::vector<SessionId>& sessions) override;
  Result<std::vector<FeedEntry>> ReadFeed(int partition, uint64_t after, uint64_t until) override;
  Result<DueWork> FindDueWork(size_t limit) override;
  Result<std::vector<SessionId>> ListUnended(const SessionId& after, size_t limit) override;
  Result<std::vector<PlaceKey>> FindPlaces(const std::vector<SessionId>& sessions) override;
  Result<void> MarkSettled(const std::vector<SessionId>& sessions) override;
  Result<size_t> ForgetSessions(Duration age, size_t limit) override;
  Result<Trimmed> TrimHistory(const Retention& retention, const ElectionName& after,
                              size_t limit) override;
  Result<std::vector<Peer>> Announce(const Peer& self, Duration age, size_t limit) override;
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
  Result<HistorySight> AgreeOnHistory(
      uint64_t remembered,
      const std::function<std::optional<Epoch>(const HistorySight&)>& decide) override;
  Result<uint64_t> ReadOrigin() override;
  Result<uint64_t> RaiseOrigin() override;
  Result<std::string> SessionKey() override;
  void StayOn(uint64_t) override;
  StoreActivity Activity() const override;
  Result<void> Ping() override;
  Result<SchemaState> CheckSchema() override;
  Result<void> Migrate() override;

 private:
  // Says that the connection is in use, for so long.
  class InUse {
   public:
    explicit InUse(std::atomic<bool>& flag) : flag_(flag) { flag_ = true; }
    ~InUse() { flag_ = false; }
    InUse(const InUse&) = delete;
    InUse& operator=(const InUse&) = delete;

   private:
    std::atomic<bool>& flag_;
  };

  // Runs `work` alone, and turns SQLite's exceptions into values.
  template <typename Work>
  auto Guarded(Work work) -> Result<std::invoke_result_t<Work, Connection&>> {
    const MutexLock lock(mutex_);
    const InUse in_use(busy_);
    try {
      if constexpr (std::is_void_v<std::invoke_result_t<Work, Connection&>>) {
        work(connection_);
        return {};
      } else {
        return work(connection_);
      }
    } catch (const SQLite::Exception& error) {
      return Fail(Reason::kStoreUnavailable, std::string("SQLite: ") + error.what());
    } catch (const std::out_of_range&) {
      return Fail(Reason::kStoreUnavailable, "SQLite: the tables hold data that no tenured wrote");
    }
  }

  const DbClock clock_;
  Mutex mutex_;
  std::atomic<bool> busy_ = false;
  Connection connection_ TENURE_GUARDED_BY(mutex_);
};

}  // namespace tenure::sqlite
