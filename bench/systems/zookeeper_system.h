// ZooKeeper, through its C client and the recipe for elections that its documentation gives: each
// candidate has an ephemeral sequential node, and watches only the one before its own.
#pragma once

#include "bench/systems/system.h"

namespace tenure::bench {

class ZooKeeperSystem : public System {
 public:
  explicit ZooKeeperSystem(std::string endpoint);

  // Each has a connection of its own: a session of ZooKeeper is a connection.
  std::unique_ptr<Candidate> NewCandidate(const CandidateOptions& options) override;
  uint64_t CountStanding(const std::string& election) override;

 private:
  const std::string endpoint_;
};

}  // namespace tenure::bench
