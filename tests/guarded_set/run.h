// The guarded set: four processes add to one set in an application's own table, each while it
// believes that it leads, by reading the set and writing it back with one element more. The
// leader is stopped at random for longer than its lease. What it read before, it writes afterwards,
// over all that its successor has added meanwhile: unless a fence refuses it.
//
// In the spirit of Jepsen's test of etcd's locks (etcd-io/etcd#11456).
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

namespace tenure::testing {

struct GuardedSetPlan {
  uint64_t inserts = 10'000;  // that have to be acknowledged
  bool fenced = true;
  uint64_t seed = 1;  // of the pauses and delays; their effect depends on the machine
};

struct GuardedSetOutcome {
  uint64_t acknowledged = 0;  // inserts whose COMMIT succeeded
  uint64_t pauses = 0;        // of the leader
  uint64_t terms = 0;
  uint64_t refused = 0;  // transactions, by the fence
  uint64_t failed = 0;   // transactions, for any other reason
  uint64_t lost = 0;     // of those acknowledged
};

// Runs it, on a database server and two replicas of its own, with the program `guarded_set` of this
// build as the workers. Throws std::runtime_error if it cannot complete the run.
[[nodiscard]] GuardedSetOutcome RunGuardedSet(const GuardedSetPlan& plan);

// One line for people.
[[nodiscard]] std::string Describe(const GuardedSetPlan& plan, const GuardedSetOutcome& outcome);

// How many of the acknowledged elements are missing from `members`, the set as its table has it.
[[nodiscard]] uint64_t CountLost(const std::set<uint64_t>& acknowledged, std::string_view members);

}  // namespace tenure::testing
