// The works that are compared. Each is written once, over the interface of a system.
//
// All use their own elections, named after `label`, and leave nobody standing.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bench/systems/system.h"
#include "bench/works/closed_loop.h"

namespace tenure::bench {

// The replicas of one service, or just one: clients are spread over them.
using Replicas = std::vector<System*>;

// Candidates that each campaign in their own election, are elected, and resign.
[[nodiscard]] Throughput MeasureCycles(const Replicas& replicas, const std::string& label,
                                       size_t in_flight, const Window& window);

// The same, while `work` runs. Throws std::runtime_error if one fails.
void WhileCycling(const Replicas& replicas, const std::string& label, size_t in_flight,
                  const std::function<void()>& work);

// Leaders of their own elections, which ask who leads.
[[nodiscard]] Throughput MeasureReads(const Replicas& replicas, const std::string& label,
                                      size_t in_flight, const Window& window);

// The same leaders, which renew their leases.
[[nodiscard]] Throughput MeasureKeepAlives(const Replicas& replicas, const std::string& label,
                                           size_t in_flight, const Window& window);

struct HandOverPlan {
  size_t waiting;  // the minimum number that waits when a leader resigns
  size_t count;    // number of hand-overs
  bool elsewhere;  // count only hand-overs to a client of another replica
  // Leaders do not renew, so it must be longer than the preparation.
  std::chrono::seconds lease{60};
};

// In one election, each leader resigns as soon as it learns that it leads. Returns the times in ms
// from just before the resignation is sent until the next leader knows.
[[nodiscard]] std::vector<double> MeasureHandOvers(const Replicas& replicas,
                                                   const std::string& label,
                                                   const HandOverPlan& plan);

}  // namespace tenure::bench
