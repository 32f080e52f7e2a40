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

#include "tests/sim/world.h"
#include "tests/support/delegating_store.h"

namespace tenure::sim {

class Auditor;

using testing::DelegatingStore;

class AuditedStore final : public DelegatingStore {
 public:
  AuditedStore(Store& next, World& world, Auditor& auditor)
      : DelegatingStore(next), world_(world), auditor_(auditor) {}
  Result<Committed> Transact(const LockSet& locks, const CommitRules& rules,
                             const Decide& decide) override;
  Result<size_t> ForgetSessions(Duration age, size_t limit) override;
  Result<bool> DeclareDead(HomeId home, uint64_t beat) override;

 private:
  World& world_;
  Auditor& auditor_;
};

class MutantStore final : public DelegatingStore {
 public:
  MutantStore(Store& next, World& world) : DelegatingStore(next), world_(world) {}
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
class LateStore final : public DelegatingStore {
 public:
  LateStore(Store& next, World& world) : DelegatingStore(next), world_(world) {}
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

class QuirkyStore final : public DelegatingStore {
 public:
  QuirkyStore(Store& next, World& world) : DelegatingStore(next), world_(world) {}
  Result<Committed> Transact(const LockSet& locks, const CommitRules& rules,
                             const Decide& decide) override;

 private:
  World& world_;
};

}  // namespace tenure::sim
