// Whether this replica may trust what its database says: core/lineage.h decides, and this
// remembers.
//
// One thread joins and repairs, the change feed's; everybody else asks whether the history is open,
// and in which epoch. While it is not, nothing may be granted, renewed or shown.
#pragma once

#include <atomic>
#include <map>
#include <optional>
#include <random>
#include <string>

#include "base/mutex.h"
#include "core/lineage.h"
#include "metrics/metrics.h"
#include "server/engine/work/scheduler.h"
#include "storage/store.h"

namespace tenure::engine {

// What to do after commits were lost.
enum class OnLostCommits {
  kRecover,  // wait until nobody believes in a lost term, raise all terms, and go on
  kStop,     // wait for an operator who runs `tenured bump-terms`
};

class Lineage {
 public:
  // Only the database of the service `service_id` may be used. If it is empty, that of the first
  // service that is found; an emptied database in its place is used, too.
  Lineage(Store& store, const Scheduler& scheduler, Metrics& metrics, OnLostCommits on_lost,
          uint64_t seed, std::string service_id = {});

  // Looks at the history that the database shows now, begins an epoch if one is due, and stays on
  // the server that answered. Errors: kStoreUnavailable; also for the database of another service
  // than the wanted one, in which nothing is written. Not thread-safe, like TryToRepair.
  [[nodiscard]] Result<void> Join();
  // REQUIRES: not open. Raises the terms if it is this replica's turn, and time to do so. Errors:
  // kStoreUnavailable, kOverloaded.
  [[nodiscard]] Result<void> TryToRepair();

  // The rest is thread-safe.

  // The row of this replica in the table of homes is older than what it wrote there. Nothing is
  // served until the history has been joined again. Thread-safe.
  void HomeWentBack() { home_went_back_ = true; }
  [[nodiscard]] bool open() const { return open_; }
  // Nothing unless it is open.
  [[nodiscard]] std::optional<HistoryPoint> point() const;
  // Whether partitions that were read after `point` was taken continue its history.
  [[nodiscard]] static bool Fits(const HistoryPoint& point, const Partitions& partitions);
  // The server that answered last; nothing before the first did.
  [[nodiscard]] std::optional<ServerIdentity> server() const;
  // Why this database must not be used: it belongs to another service.
  [[nodiscard]] std::optional<Error> wrong_service() const;
  // How many times observers have had to start again: terms were raised, or the right database came
  // back after another service's.
  [[nodiscard]] uint64_t repairs() const { return repairs_; }
  void Saw(const Partitions& partitions);
  void Saw(const std::vector<PartitionOffset>& offsets, uint64_t epoch);
  void SawLease(Duration lease_ttl);
  // The key of the database that was joined.
  void SawSessionKey(const std::string& key);

 private:
  // Checks whether the homes on a server beat, and sets `somebody_lives_` once that is known.
  void Watch(const ServerIdentity& server);
  // Stays away from a database until it is the right one. Returns the error.
  Result<void> Refuse(const Error& wrong);
  // Why the database that is seen must not be used. Nothing if it may be.
  [[nodiscard]] std::optional<Error> WhyNot(const HistoryMemory& memory,
                                            const HistoryReading& seen) const;
  void Remember(const HistoryReading& reading, const Epoch& epoch);
  void Lose(const Assessment& assessment, const Epoch& epoch);
  // Logs who raised the terms, and why.
  void SayRaised(const Epoch& epoch);
  // Logs what is new about the server in use.
  void LogServer(const ServerIdentity& server);
  struct Turn {
    Duration wait;  // before the terms may be raised
    HistoryReading history;
  };
  // Takes, or keeps, the turn to repair. Nothing if it is another replica's, or repaired already.
  [[nodiscard]] Result<std::optional<Turn>> TakeTurn();
  // Errors: those of the store; kOverloaded if it is another replica's.
  [[nodiscard]] Result<void> KeepTurn();

  Store& store_;
  const Scheduler& scheduler_;
  Metrics& metrics_;
  const OnLostCommits on_lost_;
  const std::string service_id_;
  // The server on which this replica looks for a living home, and what it saw there first.
  struct Watched {
    uint64_t server;
    SteadyTime since;
    std::map<HomeId, uint64_t> beats;
  };
  std::optional<Watched> watched_;
  std::optional<bool> somebody_lives_;
  std::string refused_key_;  // of the last database that was another service's
  std::mt19937_64 random_;
  const uint64_t me_;
  SteadyTime lost_at_{};  // when this replica learned of the last loss
  std::string lost_why_;  // and what showed it

  std::atomic<bool> open_ = false;
  std::atomic<bool> home_went_back_ = false;
  std::atomic<uint64_t> repairs_ = 0;
  mutable Mutex mutex_;
  HistoryMemory memory_ TENURE_GUARDED_BY(mutex_);
  std::optional<Error> wrong_service_ TENURE_GUARDED_BY(mutex_);
  Duration longest_lease_ TENURE_GUARDED_BY(mutex_){0};
  std::optional<ServerIdentity> server_ TENURE_GUARDED_BY(mutex_);
};

// The history as the database shows it now; stays on the server that answered. For operators'
// commands: a replica takes a turn first.
[[nodiscard]] Result<HistoryReading> ReadHistory(Store& store);
// Begins an epoch in which all terms are higher than before, if the history is still the one in
// `raised`, which was seen before BumpTerms began. Errors: kStoreUnavailable; kOverloaded if
// another server, or another epoch, has taken its place meanwhile.
[[nodiscard]] Result<void> BeginRepairedEpoch(Store& store, const HistoryReading& raised);

}  // namespace tenure::engine
