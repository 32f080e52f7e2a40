// One replica: a process with a real engine, which is killed and started again.
//
// Everything that is open in the process belongs to it, and dies with it.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "metrics/metrics.h"
#include "server/engine/engine.h"
#include "tests/sim/auditor.h"
#include "tests/sim/process.h"
#include "tests/sim/world.h"
#include "tests/support/faulty_store.h"

namespace tenure::sim {

// Something open in a replica: a call, a stream, a connection.
class Resident {
 public:
  virtual ~Resident() = default;
  // It is released: it finished, or its process is gone.
  virtual void Leave() = 0;
  // The process is gone: the other ends of its connections will notice.
  virtual void Abort() {}

  bool finished = false;  // may be released
};

class Replica {
 public:
  Replica(World& world, const Auditor& auditor, Store& database, int number);
  ~Replica() { Kill("the end"); }

  [[nodiscard]] bool up() const { return process_ != nullptr && process_->serving; }
  [[nodiscard]] int number() const { return number_; }
  // Of the present process; a later one has another.
  [[nodiscard]] int incarnation() const { return incarnation_; }
  // REQUIRES: up().
  [[nodiscard]] engine::Engine& engine() { return process_->engine; }
  // Nothing while there is no process.
  [[nodiscard]] testing::ManualScheduler* scheduler() {
    return process_ == nullptr ? nullptr : &process_->scheduler;
  }

  // A new process. It begins to serve when it reaches the database. `image`: of the machine that it
  // is a copy of.
  void Start(const std::optional<Image>& image = std::nullopt);
  // The image of its machine; nothing if it is down, shutting down, or not a living home.
  [[nodiscard]] std::optional<Image> TakeImage();
  // kill -9.
  void Kill(const std::string& why);
  // Runs one task of the process; it may be its last one.
  void RunOne();
  // Runs what the engine does for a call that arrives now. It may be its last.
  void Enter(const std::function<void(engine::Engine&)>& work);

  // Receives each commit to announce to other replicas. To be called before it is started.
  void WhenCommitted(std::function<void(PartitionOffset)> committed) {
    committed_ = std::move(committed);
  }

  // The database is out of reach until healed.
  void CutOff() {
    if (process_) process_->store.FailAll();
  }
  void Heal() {
    if (process_) process_->store.Heal();
  }
  // A user's transaction holds the row of an election.
  void Lock(const ElectionName& name) {
    if (process_) process_->store.Lock(name);
  }
  void Unlock(const ElectionName& name) {
    if (process_) process_->store.Unlock(name);
  }

  // All threads for a kind of work are busy.
  void Stall(engine::Work work) {
    if (process_) process_->scheduler.Hold(work);
  }
  void Flow(engine::Work work) {
    if (process_) process_->scheduler.Release(work);
  }

  // The process is stopped (SIGSTOP), and its clocks go on.
  void Freeze();
  void Thaw();
  [[nodiscard]] bool frozen() const { return frozen_; }
  // When it was last stopped.
  [[nodiscard]] engine::SteadyTime stopped_at() const { return frozen_at_; }
  // Something arrives here. In a process that is stopped it waits.
  void Arrive(std::function<void()> arrival);

  // REQUIRES: up().
  void TakeIn(const std::shared_ptr<Resident>& resident) {
    process_->residents.emplace(++residents_, resident);
  }
  // Whether it runs on a copied machine, or a copy of its machine was made.
  [[nodiscard]] bool shares_home() const {
    return process_ != nullptr && (process_->copied || process_->own.shares_home());
  }
  // Its sessions are handed over to other replicas. It renews none any more. REQUIRES: up().
  void HandOver();
  // It takes no calls any more, and those that wait are answered. REQUIRES: up().
  void Drain();
  // Whether it has begun to shut down.
  [[nodiscard]] bool leaving() const { return process_ != nullptr && process_->leaving; }

  // Whether its hub has received everything that is in the store.
  [[nodiscard]] bool KnowsAll() const;

 private:
  struct Process {
    Process(World& world, Store& database, engine::EngineOptions options,
            const std::optional<Image>& image);

    const uint64_t seed;
    testing::ManualScheduler scheduler;
    ProcessScheduler clocks;
    ProcessStore own;
    testing::FaultyStore store;
    Metrics metrics;
    engine::Engine engine;
    std::map<uint64_t, std::shared_ptr<Resident>> residents;
    bool serving = false;
    bool leaving = false;
    bool copied = false;
  };
  // Watches every election, and checks that the hub reports each change once and in order.
  class Listener;

  void TryToServe();
  void PlantFault(const std::string& call);
  void MayDie(const std::string& when, const std::string& call);
  // The process is stopped before a call of the store is sent, or before its answer is read.
  void MayStop(const std::string& when, const std::string& call);
  void ReleaseFinished();
  // Tasks take their time.
  void BeBusy();

  World& world_;
  const Auditor& auditor_;
  Store& database_;
  const int number_;
  std::function<void(PartitionOffset)> committed_;
  int incarnation_ = 0;
  uint64_t residents_ = 0;
  std::unique_ptr<Process> process_;
  std::shared_ptr<Listener> listener_;
  bool frozen_ = false;
  engine::SteadyTime frozen_at_;
  bool in_call_ = false;                         // frozen in the middle of a task
  std::optional<std::string> to_die_;            // as soon as it is back from there
  std::vector<std::function<void()>> arrivals_;  // while it is frozen
};

}  // namespace tenure::sim
