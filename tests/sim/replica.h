// One replica: a process with a real engine, which is killed and started again.
//
// What calls leave in the process (watchers, parked calls) belongs to it, and dies with it.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "metrics/metrics.h"
#include "server/engine.h"
#include "tests/sim/auditor.h"
#include "tests/sim/world.h"
#include "tests/support/faulty_store.h"

namespace tenure::sim {

// A call, a stream or an observer, in a replica. What the hub tells it is kept until the task that
// told it has run: the hub has no order among its watchers, and a simulation needs one.
class Resident : public Watcher {
 public:
  void OnEvent(const std::shared_ptr<const Event>& event) final {
    told_.push_back([this, event] { HearEvent(*event); });
  }
  void OnSessionEnded(const Session& session) final {
    told_.push_back([this, session] { HearSessionEnded(session); });
  }
  void OnReset() final {
    told_.push_back([this] { HearReset(); });
  }
  void OnDrain() final {}

  void Hear() {
    auto told = std::exchange(told_, {});
    for (const auto& hear : told) hear();
  }
  // The process is gone: whoever is at the other end of the connection will notice.
  virtual void Abort() {}

  WatchHub::Membership membership;
  bool finished = false;  // may be released

 private:
  virtual void HearEvent(const Event& event) { (void)event; }
  virtual void HearSessionEnded(const Session& session) { (void)session; }
  virtual void HearReset() {}

  std::vector<std::function<void()>> told_;
};

class Replica {
 public:
  Replica(World& world, const Auditor& auditor, Store& database, int number);
  ~Replica() { Kill("the end"); }

  [[nodiscard]] bool up() const { return process_ != nullptr && process_->serving; }
  [[nodiscard]] int number() const { return number_; }
  // Of this process; a later one has another.
  [[nodiscard]] int incarnation() const { return incarnation_; }
  // REQUIRES: up().
  [[nodiscard]] Engine& engine() { return process_->engine; }
  // Nothing while there is no process.
  [[nodiscard]] testing::ManualScheduler* scheduler() {
    return process_ == nullptr ? nullptr : &process_->scheduler;
  }

  // A new process. It begins to serve when it reaches the database.
  void Start();
  // kill -9.
  void Kill(const std::string& why);
  // Runs one task of the process; it may be its last one.
  void RunOne();
  // Runs what the engine does for a call that arrives now. It may be its last.
  void Enter(const std::function<void(Engine&)>& work);

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
  void Stall(Work work) {
    if (process_) process_->scheduler.Hold(work);
  }
  void Flow(Work work) {
    if (process_) process_->scheduler.Release(work);
  }

  // REQUIRES: up(). Joins the hub.
  void TakeIn(const std::shared_ptr<Resident>& resident, const std::vector<Watch>& watches);

  // Whether its observer was told of everything that is in the store.
  [[nodiscard]] bool KnowsAll() const;

 private:
  struct Process {
    Process(World& world, Store& database, EngineOptions options);

    testing::ManualScheduler scheduler;
    testing::FaultyStore store;
    Metrics metrics;
    Engine engine;
    std::map<uint64_t, std::shared_ptr<Resident>> residents;
    bool serving = false;
  };
  // Watches every election, and checks that it is told of each change once and in order.
  class Observer;

  void TryToServe();
  void PlantFault(const std::string& call);
  void MayDie(const std::string& when, const std::string& call);
  void LetHear();
  // Tasks take their time.
  void BeBusy();

  World& world_;
  const Auditor& auditor_;
  Store& database_;
  const int number_;
  int incarnation_ = 0;
  uint64_t residents_ = 0;
  std::unique_ptr<Process> process_;
  std::shared_ptr<Observer> observer_;
};

}  // namespace tenure::sim
