// The works that are compared. Each is written once, over the interface of a system.
//
// All use elections of their own, named after `label`, and leave nobody standing.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bench/systems/system.h"
#include "bench/works/closed_loop.h"

namespace tenure::bench {

// The replicas of one service, or just one: its clients are spread over them.
using Replicas = std::vector<System*>;

// Candidates that each campaign in an election of their own, are elected, and resign.
[[nodiscard]] Throughput MeasureCycles(const Replicas& replicas, const std::string& label,
                                       size_t in_flight, const Window& window);

// The same go on while `work` is done. Throws std::runtime_error if one fails.
void WhileCycling(const Replicas& replicas, const std::string& label, size_t in_flight,
                  const std::function<void()>& work);

// Leaders of elections of their own, that ask who leads it.
[[nodiscard]] Throughput MeasureReads(const Replicas& replicas, const std::string& label,
                                      size_t in_flight, const Window& window);

// The same leaders, that renew their leases.
[[nodiscard]] Throughput MeasureKeepAlives(const Replicas& replicas, const std::string& label,
                                           size_t in_flight, const Window& window);

struct HandOverPlan {
  size_t waiting;  // the minimum number that waits whenever a leader resigns
  size_t count;    // hand-overs
  bool elsewhere;  // count only those to a client of another replica than the leader's
  // Leaders do not renew, so it is longer than the preparation takes.
  std::chrono::seconds lease{60};
};

// In one election, each leader resigns as soon as it learns that it leads. The times in ms, from
// before the resignation is sent until the next one knows.
[[nodiscard]] std::vector<double> MeasureHandOvers(const Replicas& replicas,
                                                   const std::string& label,
                                                   const HandOverPlan& plan);

}  // namespace tenure::bench
