// An operator: looks at elections and gives orders, at any replica, through a network that loses
// requests and replies. It repeats an order that was not answered, at another replica, and some
// that were. When all trouble has ended, it puts the elections in order.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "tests/sim/auditor.h"
#include "tests/sim/network.h"
#include "tests/sim/world.h"

namespace tenure::sim {

class Operator {
 public:
  Operator(World& world, Network& network, const Auditor& auditor, int number);

  void Start() { Rest(); }

 private:
  void Rest();
  void Look(const ElectionName& name,
            std::function<void(const std::optional<Election>& seen)> then);
  void Decide(const ElectionName& name, const std::optional<Election>& seen);
  void PutInOrder();
  // A random command of each kind.
  [[nodiscard]] Appoint ChooseAppoint(const Election& seen);
  [[nodiscard]] Depose ChooseDepose(const Election& seen);
  [[nodiscard]] Configure ChooseConfigure(const ElectionName& name);

  template <typename It>
  void Give(It command, const std::string& what);
  void EndSession(const SessionId& session);
  void PurgeAll();
  void Send(size_t number, int tries_left);
  void OnAnswer(size_t number, int tries_left, const Result<Answer>& answer);
  [[nodiscard]] Command WithMutation(const Command& command) const;
  // What the operators' service does with an order.
  void Serve(size_t number, Replica& replica, Respond<Answer> respond) const;

  [[nodiscard]] int AnyReplica() {
    return static_cast<int>(world_.random.Below(static_cast<uint64_t>(world_.plan.replicas)));
  }

  World& world_;
  Network& network_;
  const Auditor& auditor_;
  const std::string name_;
};

}  // namespace tenure::sim
