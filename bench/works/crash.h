// The time after the leader's process is killed. Leaders run in separate processes, so that their
// connections break as in a crash.
#pragma once

#include <string>
#include <vector>

#include "bench/report/results.h"
#include "bench/systems/system.h"

namespace tenure::bench {

[[nodiscard]] std::unique_ptr<System> Connect(Column system, const std::string& endpoint);

struct CrashPlan {
  Column system;
  std::string endpoint;
  std::string label;
  std::chrono::seconds lease{2};
  size_t waiting = 800;
  size_t count = 1;  // number of crashes
};

// Kills leaders right after a renewal, when their leases are longest. Returns the times in ms until
// the next candidate learns that it leads.
[[nodiscard]] std::vector<double> MeasureCrashes(const CrashPlan& plan);

// Such a leader: stands, reports when it is elected, and renews every third of its lease until it
// is killed.
struct LeaderOptions {
  Column system;
  std::string endpoint;
  std::string election;
  std::string name;
  std::chrono::seconds lease;
};
[[noreturn]] void RunLeader(const LeaderOptions& options);

}  // namespace tenure::bench
