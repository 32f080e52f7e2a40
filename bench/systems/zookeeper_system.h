// ZooKeeper, through its C client and the election recipe of its documentation: each candidate has
// an ephemeral sequential node, and watches only the one before its own.
#pragma once

#include "bench/systems/system.h"

namespace tenure::bench {

class ZooKeeperSystem : public System {
 public:
  explicit ZooKeeperSystem(std::string endpoint);

  // Each candidate has its own connection: a ZooKeeper session is a connection.
  std::unique_ptr<Candidate> NewCandidate(const CandidateOptions& options) override;
  uint64_t CountStanding(const std::string& election) override;

 private:
  const std::string endpoint_;
};

}  // namespace tenure::bench
