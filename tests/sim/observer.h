// A client that observes all elections on one stream, whichever replica serves it, and resumes
// where it was when the stream breaks. It checks that it gets each change once and in order.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/sim/auditor.h"
#include "tests/sim/network.h"
#include "tests/sim/stream.h"
#include "tests/sim/world.h"

namespace tenure::sim {

class Observer {
 public:
  Observer(World& world, Network& network, const Auditor& auditor, int number)
      : world_(world), network_(network), auditor_(auditor), name_("o" + std::to_string(number)) {}

  void Start() { Open(); }
  // Whether it has received everything.
  [[nodiscard]] bool KnowsAll() const;
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  void Open();
  void ReopenLater();
  [[nodiscard]] std::vector<calls::Selector> Selectors();
  void OnMessage(const calls::ObserveMessage& message);
  void Hear(const std::shared_ptr<const Event>& event);
  void Hear(const calls::Snapshot& snapshot);
  void Hear(const calls::Progress&) {}

  World& world_;
  Network& network_;
  const Auditor& auditor_;
  const std::string name_;
  std::map<ElectionName, Revision> heard_;
  std::shared_ptr<ObserveStream> stream_;
  uint64_t streams_ = 0;
};

}  // namespace tenure::sim
