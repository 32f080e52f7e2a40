// What stands between the engines and the one database, from the engines down:
//   FaultyStore   (one for each replica, tests/support) fails, loses replies, kills
//   LateStore     makes some writes late
//   AuditedStore  has each transaction checked
//   MutantStore   plants an error
//   QuirkyStore   does what the port allows and SQLite does not
// Each delegates to the next, which must outlive it.
#pragma once

#include <functional>
#include <set>

#include "storage/store.h"
#include "tests/sim/world.h"

namespace tenure::sim {

class Auditor;

class Delegating : public Store {
 public:
  explicit Delegating(Store& next) : next_(next) {}

  Result<Committed> Transact(const LockSet& locks, const CommitRules& rules,
                             const Decide& decide) override {
    return next_.Transact(locks, rules, decide);
  }
  Result<std::map<ElectionName, ElectionView>> ReadElections(
      const std::vector<ElectionName>& names) override {
    return next_.ReadElections(names);
  }
  Result<std::vector<ElectionView>> ListElections(std::string_view prefix, std::string_view after,
                                                  size_t limit) override {
    return next_.ListElections(prefix, after, limit);
  }
  Result<std::map<PlaceKey, uint64_t>> ReadPositions(const std::vector<PlaceKey>& places) override {
    return next_.ReadPositions(places);
  }
  Result<std::vector<PlaceKey>> FilterWaiting(const std::vector<PlaceKey>& places) override {
    return next_.FilterWaiting(places);
  }
  Result<std::vector<Leadership>> ReadSeats(const SeatPage& page) override {
    return next_.ReadSeats(page);
  }
  Result<std::vector<Event>> ReadEvents(const ElectionName& election, Revision from,
                                        size_t limit) override {
    return next_.ReadEvents(election, from, limit);
  }
  Result<Partitions> ReadPartitions() override { return next_.ReadPartitions(); }
  Result<Attendance> ReadAttendance(HomeId home) override { return next_.ReadAttendance(home); }
  Result<std::vector<FeedEntry>> ReadFeed(int partition, uint64_t after, uint64_t until) override {
    return next_.ReadFeed(partition, after, until);
  }
  Result<DueWork> FindDueWork(size_t limit) override { return next_.FindDueWork(limit); }
  Result<std::vector<SessionId>> ListUnended(const SessionId& after, size_t limit) override {
    return next_.ListUnended(after, limit);
  }
  Result<std::vector<PlaceKey>> FindPlaces(const std::vector<SessionId>& sessions) override {
    return next_.FindPlaces(sessions);
  }
  Result<void> MarkSettled(const std::vector<SessionId>& sessions) override {
    return next_.MarkSettled(sessions);
  }
  Result<size_t> ForgetSessions(Duration age, size_t limit) override {
    return next_.ForgetSessions(age, limit);
  }
  Result<Trimmed> TrimHistory(const Retention& retention, const ElectionName& after,
                              size_t limit) override {
    return next_.TrimHistory(retention, after, limit);
  }
  Result<std::vector<QueueEntry>> ReadQueue(const ElectionName& election, size_t skip,
                                            size_t limit) override {
    return next_.ReadQueue(election, skip, limit);
  }
  Result<std::vector<TermRecord>> ReadTerms(const ElectionName& election, Term before,
                                            size_t limit) override {
    return next_.ReadTerms(election, before, limit);
  }
  Result<std::vector<AdminRecord>> ReadAdminChanges(const std::optional<ElectionName>& election,
                                                    uint64_t before, size_t limit) override {
    return next_.ReadAdminChanges(election, before, limit);
  }
  Result<std::vector<SessionView>> ReadSessions(std::string_view candidate_prefix,
                                                const SessionId& after, size_t limit) override {
    return next_.ReadSessions(candidate_prefix, after, limit);
  }
  Result<std::optional<SessionId>> FindSession(std::string_view handle) override {
    return next_.FindSession(handle);
  }
  Result<Statistics> ReadStatistics() override { return next_.ReadStatistics(); }
  Result<bool> BeginHome(const HomeRow& home) override { return next_.BeginHome(home); }
  Result<BeatReport> Beat(const BeatOrder& order) override { return next_.Beat(order); }
  Result<std::vector<NumberedDeparture>> ReadDepartures(HomeId home, uint64_t after,
                                                        size_t limit) override {
    return next_.ReadDepartures(home, after, limit);
  }
  Result<bool> DeclareDead(HomeId home, uint64_t beat) override {
    return next_.DeclareDead(home, beat);
  }
  Result<std::vector<Session>> ListKept(HomeId home, const SessionId& after,
                                        size_t limit) override {
    return next_.ListKept(home, after, limit);
  }
  Result<std::vector<SessionId>> ListOrphans(HomeId home, Duration lease_max,
                                             size_t limit) override {
    return next_.ListOrphans(home, lease_max, limit);
  }
  Result<HistoryReading> AgreeOnHistory(uint64_t remembered,
                                        const DecideOnHistory& decide) override {
    return next_.AgreeOnHistory(remembered, decide);
  }
  void StayOn(uint64_t server) override { next_.StayOn(server); }
  void LeaveServer() override { next_.LeaveServer(); }
  Result<Duration> LongestLease() override { return next_.LongestLease(); }
  Result<uint64_t> RaiseOrigin() override { return next_.RaiseOrigin(); }
  Result<std::string> SessionKey() override { return next_.SessionKey(); }
  StoreActivity Activity() const override { return next_.Activity(); }
  Result<void> Ping() override { return next_.Ping(); }
  Result<SchemaState> CheckSchema() override { return next_.CheckSchema(); }
  Result<ForeignTables> FindForeignTables() override { return next_.FindForeignTables(); }
  Result<std::optional<std::string>> FindSessionKey() override { return next_.FindSessionKey(); }
  Result<void> Migrate() override { return next_.Migrate(); }

 protected:
  Store& next_;
};

class AuditedStore final : public Delegating {
 public:
  AuditedStore(Store& next, World& world, Auditor& auditor)
      : Delegating(next), world_(world), auditor_(auditor) {}
  Result<Committed> Transact(const LockSet& locks, const CommitRules& rules,
                             const Decide& decide) override;
  Result<size_t> ForgetSessions(Duration age, size_t limit) override;
  Result<bool> DeclareDead(HomeId home, uint64_t beat) override;

 private:
  World& world_;
  Auditor& auditor_;
};

class MutantStore final : public Delegating {
 public:
  MutantStore(Store& next, World& world) : Delegating(next), world_(world) {}
  Result<Committed> Transact(const LockSet& locks, const CommitRules& rules,
                             const Decide& decide) override;
  Result<Attendance> ReadAttendance(HomeId home) override;
  Result<std::vector<FeedEntry>> ReadFeed(int partition, uint64_t after, uint64_t until) override;
  Result<DueWork> FindDueWork(size_t limit) override;
  Result<std::vector<PlaceKey>> FindPlaces(const std::vector<SessionId>& sessions) override;
  Result<BeatReport> Beat(const BeatOrder& order) override;
  Result<std::vector<NumberedDeparture>> ReadDepartures(HomeId home, uint64_t after,
                                                        size_t limit) override;
  Result<bool> DeclareDead(HomeId home, uint64_t beat) override;
  Result<std::vector<Session>> ListKept(HomeId home, const SessionId& after, size_t limit) override;
  Result<std::vector<SessionId>> ListOrphans(HomeId home, Duration lease_max,
                                             size_t limit) override;

 private:
  // Decides from what is remembered, though not all of it is compared.
  Result<Committed> TransactUnchecked(const LockSet& locks, CommitRules rules,
                                      const Decide& decide);
  // Decides, does not save, and says that it has.
  Result<Committed> PretendToCommit(const LockSet& locks, const CommitRules& rules,
                                    const Decide& decide);

  World& world_;
};

// Some writes of homes fail, and are made later: their connections broke while they hung.
class LateStore final : public Delegating {
 public:
  LateStore(Store& next, World& world) : Delegating(next), world_(world) {}
  Result<Committed> Transact(const LockSet& locks, const CommitRules& rules,
                             const Decide& decide) override;
  Result<BeatReport> Beat(const BeatOrder& order) override;
  Result<bool> DeclareDead(HomeId home, uint64_t beat) override;

 private:
  [[nodiscard]] bool IsLate();
  [[nodiscard]] bool EndsAreLate();
  // Answers that it failed.
  [[nodiscard]] Error Later(std::function<void()> write);

  World& world_;
  engine::SteadyTime ends_late_until_{};
};

class QuirkyStore final : public Delegating {
 public:
  QuirkyStore(Store& next, World& world) : Delegating(next), world_(world) {}
  Result<Committed> Transact(const LockSet& locks, const CommitRules& rules,
                             const Decide& decide) override;

 private:
  World& world_;
};

}  // namespace tenure::sim
