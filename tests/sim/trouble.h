// Makes things go wrong from outside, as the plan says: kills replicas, cuts them off from
// the database, stops clients, locks rows, and sets the database's clock. When it ends, it repairs
// everything that it has broken. It may begin again.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "tests/sim/client.h"
#include "tests/sim/network.h"
#include "tests/sim/world.h"

namespace tenure::sim {

class Trouble {
 public:
  Trouble(World& world, Replicas& replicas, std::vector<std::unique_ptr<Client>>& clients)
      : world_(world), replicas_(replicas), clients_(clients) {}

  void Begin();
  void End();
  // How far the database's clock was set back, all in all: delays and cool-downs may last longer by
  // this time.
  [[nodiscard]] Duration clock_went_back() const { return clock_went_back_; }

 private:
  // Again and again, until the end.
  void Every(Duration mean, std::function<void()> trouble);
  void KeepReplicasUp();
  void ShutDown(Replica& replica);
  void WaitForHandOver(Replica& replica, int incarnation, engine::SteadyTime until);
  void Copy(Replica& original, Replica& copy);
  void StepClock();
  void BlackOut();
  void EndBlackout();
  [[nodiscard]] Replica& AnyReplica();

  World& world_;
  Replicas& replicas_;
  std::vector<std::unique_ptr<Client>>& clients_;
  Duration clock_went_back_{0};
  int round_ = 0;
};

}  // namespace tenure::sim
