// A store that hands each call to another one, which must outlive it. Stores that do something to
// calls on their way derive from it.
#pragma once

#include <functional>
#include <optional>
#include <utility>

#include "storage/store.h"

namespace tenure::testing {

class DelegatingStore : public Store {
 public:
  explicit DelegatingStore(Store& next) : next_(next) {}

  Result<Committed> Transact(const LockSet& locks, const CommitRules& rules,
                             const Decide& decide) override {
    return Pass("Transact", &Store::Transact, locks, rules, decide);
  }
  Result<std::map<ElectionName, ElectionView>> ReadElections(
      const std::vector<ElectionName>& names) override {
    return Pass("ReadElections", &Store::ReadElections, names);
  }
  Result<std::vector<ElectionView>> ListElections(std::string_view prefix, std::string_view after,
                                                  size_t limit) override {
    return Pass("ListElections", &Store::ListElections, prefix, after, limit);
  }
  Result<std::map<PlaceKey, uint64_t>> ReadPositions(const std::vector<PlaceKey>& places) override {
    return Pass("ReadPositions", &Store::ReadPositions, places);
  }
  Result<std::vector<PlaceKey>> FilterWaiting(const std::vector<PlaceKey>& places) override {
    return Pass("FilterWaiting", &Store::FilterWaiting, places);
  }
  Result<std::vector<Leadership>> ReadSeats(const SeatPage& page) override {
    return Pass("ReadSeats", &Store::ReadSeats, page);
  }
  Result<std::vector<Event>> ReadEvents(const ElectionName& election, Revision from,
                                        size_t limit) override {
    return Pass("ReadEvents", &Store::ReadEvents, election, from, limit);
  }
  Result<Partitions> ReadPartitions() override {
    return Pass("ReadPartitions", &Store::ReadPartitions);
  }
  Result<Attendance> ReadAttendance(HomeId home) override {
    return Pass("ReadAttendance", &Store::ReadAttendance, home);
  }
  Result<std::vector<FeedEntry>> ReadFeed(int partition, uint64_t after, uint64_t until) override {
    return Pass("ReadFeed", &Store::ReadFeed, partition, after, until);
  }
  Result<DueWork> FindDueWork(size_t limit) override {
    return Pass("FindDueWork", &Store::FindDueWork, limit);
  }
  Result<std::vector<PlaceKey>> FindPlaces(const std::vector<SessionId>& sessions) override {
    return Pass("FindPlaces", &Store::FindPlaces, sessions);
  }
  Result<void> MarkSettled(const std::vector<SessionId>& sessions) override {
    return Pass("MarkSettled", &Store::MarkSettled, sessions);
  }
  Result<size_t> ForgetSessions(Duration age, size_t limit) override {
    return Pass("ForgetSessions", &Store::ForgetSessions, age, limit);
  }
  Result<Trimmed> TrimHistory(const Retention& retention, const ElectionName& after,
                              size_t limit) override {
    return Pass("TrimHistory", &Store::TrimHistory, retention, after, limit);
  }
  Result<std::vector<QueueEntry>> ReadQueue(const ElectionName& election, size_t skip,
                                            size_t limit) override {
    return Pass("ReadQueue", &Store::ReadQueue, election, skip, limit);
  }
  Result<std::vector<TermRecord>> ReadTerms(const ElectionName& election, Term before,
                                            size_t limit) override {
    return Pass("ReadTerms", &Store::ReadTerms, election, before, limit);
  }
  Result<std::vector<AdminRecord>> ReadAdminChanges(const std::optional<ElectionName>& election,
                                                    uint64_t before, size_t limit) override {
    return Pass("ReadAdminChanges", &Store::ReadAdminChanges, election, before, limit);
  }
  Result<std::vector<SessionView>> ReadSessions(std::string_view candidate_prefix,
                                                const SessionId& after, size_t limit) override {
    return Pass("ReadSessions", &Store::ReadSessions, candidate_prefix, after, limit);
  }
  Result<std::optional<SessionId>> FindSession(std::string_view handle) override {
    return Pass("FindSession", &Store::FindSession, handle);
  }
  Result<Statistics> ReadStatistics() override {
    return Pass("ReadStatistics", &Store::ReadStatistics);
  }
  Result<bool> BeginHome(const HomeRow& home) override {
    return Pass("BeginHome", &Store::BeginHome, home);
  }
  Result<BeatReport> Beat(const BeatOrder& order) override {
    return Pass("Beat", &Store::Beat, order);
  }
  Result<std::vector<NumberedDeparture>> ReadDepartures(HomeId home, uint64_t after,
                                                        size_t limit) override {
    return Pass("ReadDepartures", &Store::ReadDepartures, home, after, limit);
  }
  Result<bool> DeclareDead(HomeId home, uint64_t beat) override {
    return Pass("DeclareDead", &Store::DeclareDead, home, beat);
  }
  Result<std::vector<Session>> ListKept(HomeId home, const SessionId& after,
                                        size_t limit) override {
    return Pass("ListKept", &Store::ListKept, home, after, limit);
  }
  Result<std::vector<SessionId>> ListOrphans(HomeId home, Duration lease_max,
                                             size_t limit) override {
    return Pass("ListOrphans", &Store::ListOrphans, home, lease_max, limit);
  }
  Result<HistoryReading> AgreeOnHistory(uint64_t remembered,
                                        const DecideOnHistory& decide) override {
    return Pass("AgreeOnHistory", &Store::AgreeOnHistory, remembered, decide);
  }
  void StayOn(uint64_t server) override { next().StayOn(server); }
  void LeaveServer() override { next().LeaveServer(); }
  Result<Duration> LongestLease() override { return Pass("LongestLease", &Store::LongestLease); }
  Result<uint64_t> RaiseOrigin() override { return Pass("RaiseOrigin", &Store::RaiseOrigin); }
  Result<std::string> SessionKey() override { return Pass("SessionKey", &Store::SessionKey); }
  StoreActivity Activity() const override { return next().Activity(); }
  Result<void> Ping() override { return Pass("Ping", &Store::Ping); }
  Result<SchemaState> CheckSchema() override { return Pass("CheckSchema", &Store::CheckSchema); }
  Result<ForeignTables> FindForeignTables() override {
    return Pass("FindForeignTables", &Store::FindForeignTables);
  }
  Result<std::optional<std::string>> FindSessionKey() override {
    return Pass("FindSessionKey", &Store::FindSessionKey);
  }
  Result<void> Migrate() override { return Pass("Migrate", &Store::Migrate); }

 protected:
  [[nodiscard]] virtual Store& next() const { return next_; }
  // Runs the work of each call that answers with a Result, on `next`. An error: instead of the
  // answer.
  virtual std::optional<Error> Around(const char* /*call*/,
                                      const std::function<void(Store&)>& work) {
    work(next());
    return std::nullopt;
  }
  // One call, by its name and its work on a store.
  template <typename Work>
  auto Do(const char* call, Work work) {
    std::optional<decltype(work(next_))> answer;
    const auto error = Around(call, [&](Store& store) { answer.emplace(work(store)); });
    if (error) answer.emplace(tl::unexpected(*error));
    return *std::move(answer);
  }

  Store& next_;

 private:
  template <typename Answer, typename Port, typename... Parameters, typename... Arguments>
  Answer Pass(const char* name, Answer (Port::*call)(Parameters...),
              const Arguments&... arguments) {
    return Do(name, [&](Store& store) { return (store.*call)(arguments...); });
  }
};

}  // namespace tenure::testing
