// A store between the program and a real one, which can be made to fail, to roll back what was
// decided, to lose replies, to find elections and sessions locked, and to become another database.
//
// Thread-safe, if the faults are planted before the calls. The calls are known by their names:
// "Transact", "ReadFeed".
#pragma once

#include <array>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "storage/store.h"

namespace tenure::testing {

class FaultyStore final : public Store {
 public:
  using Hook = std::function<void(const std::string& call)>;

  explicit FaultyStore(Store& store) : store_(&store) {}

  // --- Faults ---

  // The next calls fail before they reach the store; those of one name only, if it is given.
  void FailNext(int calls, const std::string& name = "") { Plant(failures_, calls, name); }
  // The next transactions are decided, and then rolled back: their commits fail.
  void FailCommits(int transactions) { Plant(uncommitted_, transactions, "Transact"); }
  // The next calls do their work, and then fail as if their reply had been lost.
  void LoseReplies(int calls, const std::string& name = "") { Plant(lost_, calls, name); }
  // The database is away until it is healed.
  void FailAll() { FailNext(kForEver); }
  void Heal() {
    const std::lock_guard lock(mutex_);
    failures_.clear();
    uncommitted_.clear();
    lost_.clear();
  }
  // Another transaction holds the lock of the election, or of the session.
  void Lock(const ElectionName& name) {
    const std::lock_guard lock(mutex_);
    locked_.insert(name);
  }
  void LockSession(const SessionId& session) {
    const std::lock_guard lock(mutex_);
    locked_sessions_.insert(session);
  }
  void Unlock(const ElectionName& name) {
    const std::lock_guard lock(mutex_);
    locked_.erase(name);
  }
  void UnlockSession(const SessionId& session) {
    const std::lock_guard lock(mutex_);
    locked_sessions_.erase(session);
  }
  // Adds retries that did not happen.
  void CountRetries(RetryReason reason, uint64_t times) {
    const std::lock_guard lock(mutex_);
    retries_[static_cast<size_t>(reason)] += times;
  }
  // The database is another one from now on.
  void Become(Store& store) {
    const std::lock_guard lock(mutex_);
    store_ = &store;
  }
  // Changes what the server says of itself.
  void Describe(std::function<void(ServerIdentity&)> change) { describe_ = std::move(change); }
  // Called before each call, and after the store has answered it. Empty: no more.
  void Before(Hook hook) { before_ = std::move(hook); }
  void After(Hook hook) { after_ = std::move(hook); }

  // How often a call was made.
  [[nodiscard]] int Calls(const std::string& name) const {
    const std::lock_guard lock(mutex_);
    const auto found = calls_.find(name);
    return found == calls_.end() ? 0 : found->second;
  }

  // --- Store ---

  Result<Committed> Transact(const LockSet& locks, const CommitRules& rules,
                             const Decide& decide) override {
    LockSet free = locks;
    std::set<ElectionName> busy;
    std::set<SessionId> busy_sessions;
    {
      const std::lock_guard lock(mutex_);
      for (const ElectionName& name : locked_) {
        if (free.elections.erase(name) > 0) busy.insert(name);
      }
      for (const SessionId& session : locked_sessions_) {
        if (std::erase(free.sessions, session) > 0) busy_sessions.insert(session);
      }
    }
    CommitRules held = rules;
    // Somebody else holds what it is about.
    if (!busy.empty() || !busy_sessions.empty()) held.remembered = nullptr;
    return Call<Committed>("Transact", [&](Store& store) -> Result<Committed> {
      const bool commit_fails = TakeFailingCommit();
      try {
        return store.Transact(free, held, [&](TransactionState& transaction) {
          transaction.busy.insert(busy.begin(), busy.end());
          transaction.busy_sessions.insert(busy_sessions.begin(), busy_sessions.end());
          decide(transaction);
          if (commit_fails) throw RolledBack();
        });
      } catch (const RolledBack&) {
        return Fail(Reason::kStoreUnavailable, "planted: the commit failed");
      }
    });
  }
  Result<std::map<ElectionName, ElectionView>> ReadElections(
      const std::vector<ElectionName>& names) override {
    return Call<std::map<ElectionName, ElectionView>>(
        "ReadElections", [&](Store& store) { return store.ReadElections(names); });
  }
  Result<std::vector<ElectionView>> ListElections(std::string_view prefix, std::string_view after,
                                                  size_t limit) override {
    return Call<std::vector<ElectionView>>(
        "ListElections", [&](Store& store) { return store.ListElections(prefix, after, limit); });
  }
  Result<std::map<PlaceKey, uint64_t>> ReadPositions(const std::vector<PlaceKey>& places) override {
    return Call<std::map<PlaceKey, uint64_t>>(
        "ReadPositions", [&](Store& store) { return store.ReadPositions(places); });
  }
  Result<std::vector<PlaceKey>> FilterWaiting(const std::vector<PlaceKey>& places) override {
    return Call<std::vector<PlaceKey>>("FilterWaiting",
                                       [&](Store& store) { return store.FilterWaiting(places); });
  }
  Result<std::vector<Leadership>> ReadSeats(const SeatPage& page) override {
    return Call<std::vector<Leadership>>("ReadSeats",
                                         [&](Store& store) { return store.ReadSeats(page); });
  }
  Result<std::vector<Event>> ReadEvents(const ElectionName& election, Revision from,
                                        size_t limit) override {
    return Call<std::vector<Event>>(
        "ReadEvents", [&](Store& store) { return store.ReadEvents(election, from, limit); });
  }
  Result<Partitions> ReadPartitions() override {
    return Call<Partitions>("ReadLanes", [&](Store& store) { return store.ReadPartitions(); });
  }
  Result<Attendance> ReadAttendance(HomeId home) override {
    return Call<Attendance>("ReadAttendance",
                            [&](Store& store) { return store.ReadAttendance(home); });
  }
  Result<std::vector<FeedEntry>> ReadFeed(int partition, uint64_t after, uint64_t until) override {
    return Call<std::vector<FeedEntry>>(
        "ReadFeed", [&](Store& store) { return store.ReadFeed(partition, after, until); });
  }
  Result<DueWork> FindDueWork(size_t limit) override {
    return Call<DueWork>("FindDueWork", [&](Store& store) { return store.FindDueWork(limit); });
  }
  Result<std::vector<SessionId>> ListUnended(const SessionId& after, size_t limit) override {
    return Call<std::vector<SessionId>>(
        "ListUnended", [&](Store& store) { return store.ListUnended(after, limit); });
  }
  Result<std::vector<PlaceKey>> FindPlaces(const std::vector<SessionId>& sessions) override {
    return Call<std::vector<PlaceKey>>("FindPlaces",
                                       [&](Store& store) { return store.FindPlaces(sessions); });
  }
  Result<void> MarkSettled(const std::vector<SessionId>& sessions) override {
    return Call<void>("MarkSettled", [&](Store& store) { return store.MarkSettled(sessions); });
  }
  Result<size_t> ForgetSessions(Duration age, size_t limit) override {
    return Call<size_t>("ForgetSessions",
                        [&](Store& store) { return store.ForgetSessions(age, limit); });
  }
  Result<Trimmed> TrimHistory(const Retention& retention, const ElectionName& after,
                              size_t limit) override {
    return Call<Trimmed>("TrimHistory",
                         [&](Store& store) { return store.TrimHistory(retention, after, limit); });
  }
  Result<std::vector<QueueEntry>> ReadQueue(const ElectionName& election, size_t skip,
                                            size_t limit) override {
    return Call<std::vector<QueueEntry>>(
        "ReadQueue", [&](Store& store) { return store.ReadQueue(election, skip, limit); });
  }
  Result<std::vector<TermRecord>> ReadTerms(const ElectionName& election, Term before,
                                            size_t limit) override {
    return Call<std::vector<TermRecord>>(
        "ReadTerms", [&](Store& store) { return store.ReadTerms(election, before, limit); });
  }
  Result<std::vector<AdminRecord>> ReadAdminChanges(const std::optional<ElectionName>& election,
                                                    uint64_t before, size_t limit) override {
    return Call<std::vector<AdminRecord>>("ReadAdminChanges", [&](Store& store) {
      return store.ReadAdminChanges(election, before, limit);
    });
  }
  Result<std::vector<SessionView>> ReadSessions(std::string_view candidate_prefix,
                                                const SessionId& after, size_t limit) override {
    return Call<std::vector<SessionView>>("ReadSessions", [&](Store& store) {
      return store.ReadSessions(candidate_prefix, after, limit);
    });
  }
  Result<std::optional<SessionId>> FindSession(std::string_view handle) override {
    return Call<std::optional<SessionId>>("FindSession",
                                          [&](Store& store) { return store.FindSession(handle); });
  }
  Result<Statistics> ReadStatistics() override {
    return Call<Statistics>("TakeCensus", [](Store& store) { return store.ReadStatistics(); });
  }
  Result<bool> BeginHome(const HomeRow& home) override {
    return Call<bool>("BeginHome", [&](Store& store) { return store.BeginHome(home); });
  }
  Result<BeatReport> Beat(const BeatOrder& order) override {
    return Call<BeatReport>("Beat", [&](Store& store) { return store.Beat(order); });
  }
  Result<std::vector<NumberedDeparture>> ReadDepartures(HomeId home, uint64_t after,
                                                        size_t limit) override {
    return Call<std::vector<NumberedDeparture>>(
        "ReadDepartures", [&](Store& store) { return store.ReadDepartures(home, after, limit); });
  }
  Result<bool> DeclareDead(HomeId home, uint64_t beat) override {
    return Call<bool>("DeclareDead", [&](Store& store) { return store.DeclareDead(home, beat); });
  }
  Result<std::vector<Session>> ListKept(HomeId home, const SessionId& after,
                                        size_t limit) override {
    return Call<std::vector<Session>>(
        "ListKept", [&](Store& store) { return store.ListKept(home, after, limit); });
  }
  Result<std::vector<SessionId>> ListOrphans(HomeId home, Duration lease_max,
                                             size_t limit) override {
    return Call<std::vector<SessionId>>(
        "ListOrphans", [&](Store& store) { return store.ListOrphans(home, lease_max, limit); });
  }
  Result<HistoryReading> AgreeOnHistory(uint64_t remembered,
                                        const DecideOnHistory& decide) override {
    const DecideOnHistory changed = [&](const HistoryReading& seen) {
      HistoryReading sight = seen;
      if (describe_) describe_(sight.server);
      return decide(sight);
    };
    return Call<HistoryReading>("AgreeOnHistory", [&](Store& store) {
      auto sight = store.AgreeOnHistory(remembered, changed);
      if (sight && describe_) describe_(sight->server);
      return sight;
    });
  }
  void StayOn(uint64_t server) override {
    const std::lock_guard lock(mutex_);
    store_->StayOn(server);
  }
  void LeaveServer() override {
    const std::lock_guard lock(mutex_);
    store_->LeaveServer();
  }
  Result<std::string> SessionKey() override {
    return Call<std::string>("SessionKey", [](Store& store) { return store.SessionKey(); });
  }
  Result<Duration> LongestLease() override {
    return Call<Duration>("LongestLease", [](Store& store) { return store.LongestLease(); });
  }
  Result<uint64_t> RaiseOrigin() override {
    return Call<uint64_t>("RaiseOrigin", [](Store& store) { return store.RaiseOrigin(); });
  }
  StoreActivity Activity() const override {
    const std::lock_guard lock(mutex_);
    StoreActivity activity = store_->Activity();
    for (size_t i = 0; i < kRetryReasons; ++i) activity.retries[i] += retries_[i];
    return activity;
  }
  Result<void> Ping() override {
    return Call<void>("Ping", [&](Store& store) { return store.Ping(); });
  }
  Result<SchemaState> CheckSchema() override {
    return Call<SchemaState>("CheckSchema", [&](Store& store) { return store.CheckSchema(); });
  }
  Result<ForeignTables> FindForeignTables() override {
    return Call<ForeignTables>("FindForeignTables",
                               [&](Store& store) { return store.FindForeignTables(); });
  }
  Result<std::optional<std::string>> FindSessionKey() override {
    return Call<std::optional<std::string>>("FindSessionKey",
                                            [](Store& store) { return store.FindSessionKey(); });
  }
  Result<void> Migrate() override {
    return Call<void>("Migrate", [&](Store& store) { return store.Migrate(); });
  }

 private:
  static constexpr int kForEver = 1'000'000'000;

  using Faults = std::map<std::string, int>;  // by the name of the call; empty: any

  struct RolledBack {};

  void Plant(Faults& faults, int calls, const std::string& name) {
    const std::lock_guard lock(mutex_);
    faults[name] = calls;
  }
  // REQUIRES: the lock.
  static bool Take(Faults& faults, const std::string& name) {
    for (const std::string& key : {name, std::string()}) {
      const auto found = faults.find(key);
      if (found == faults.end() || found->second == 0) continue;
      --found->second;
      return true;
    }
    return false;
  }

  bool TakeFailingCommit() {
    const std::lock_guard lock(mutex_);
    return Take(uncommitted_, "Transact");
  }

  template <typename T, typename Delegate>
  Result<T> Call(const std::string& name, Delegate delegate) {
    // Copied: a hook may replace itself.
    if (const Hook hook = before_) hook(name);
    Store* store = nullptr;
    bool lose = false;
    {
      const std::lock_guard lock(mutex_);
      ++calls_[name];
      if (Take(failures_, name)) return Fail(Reason::kStoreUnavailable, "planted: " + name);
      lose = Take(lost_, name);
      store = store_;
    }
    Result<T> answer = delegate(*store);
    if (const Hook hook = after_) hook(name);
    if (lose) return Fail(Reason::kStoreUnavailable, "planted: the reply was lost: " + name);
    return answer;
  }

  std::function<void(ServerIdentity&)> describe_;
  Hook before_;
  Hook after_;
  mutable std::mutex mutex_;
  Store* store_;                                   // guarded by mutex_
  Faults failures_;                                // guarded by mutex_
  Faults uncommitted_;                             // guarded by mutex_
  Faults lost_;                                    // guarded by mutex_
  std::set<ElectionName> locked_;                  // guarded by mutex_
  std::set<SessionId> locked_sessions_;            // guarded by mutex_
  std::map<std::string, int> calls_;               // guarded by mutex_
  std::array<uint64_t, kRetryReasons> retries_{};  // guarded by mutex_
};

}  // namespace tenure::testing
