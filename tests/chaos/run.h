// Chaos: candidates that contend, one fault after the other, and the checker's verdict.
#pragma once

#include <chrono>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "tests/chaos/vitals.h"
#include "tests/chaos/world.h"

namespace tenure::testing {

struct ChaosPlan {
  WorldPlan world;
  std::chrono::seconds duration{60};
  std::vector<std::string> only;    // faults of these names; empty: all
  std::vector<std::string> except;  // none of these
  // A soak: steady work, with one fault a minute. Compares the resources needed in the last minutes
  // with those needed after this time.
  std::optional<std::chrono::seconds> compared_after;
};

struct FaultSummary {
  std::string name;
  int times = 0;
  // Seats whose leaders keep them as long as they can: those held when the fault struck, and those
  // of them still held in the same term when it was healed.
  int seats = 0;
  int seats_kept = 0;
  std::chrono::milliseconds longest_vacancy{0};
};

struct ChaosOutcome {
  std::vector<FaultSummary> faults;
  uint64_t terms = 0;
  uint64_t readings = 0;
  uint64_t events = 0;
  uint64_t writes = 0;
  std::vector<std::string> violations;
  std::vector<Vitals::Course> needs;  // of a soak
  [[nodiscard]] bool good() const;
};

// Writes a line for each fault to `out`. Throws if the world does not recover.
ChaosOutcome RunChaos(const ChaosPlan& plan, std::ostream& out);
[[nodiscard]] std::string Describe(const ChaosOutcome& outcome);

}  // namespace tenure::testing
