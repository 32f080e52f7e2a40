// One simulated run: everything that its seed says, on one thread, from an empty database to the
// moment when all trouble has ended and everybody has had a turn.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "tests/sim/mutation.h"
#include "tests/sim/plan.h"

namespace tenure::sim {

struct Outcome {
  Plan plan;
  std::optional<std::string> violation;
  std::vector<std::string> last_lines;  // of the trace

  // What happened, to see that something did.
  uint64_t steps = 0;
  uint64_t transactions = 0;
  uint64_t terms = 0;
  uint64_t undecided = 0;    // seats that the law could not fill at once
  uint64_t from_memory = 0;  // transactions that were decided so, and committed
  uint64_t refused = 0;      // that had to be decided again, since what was remembered had changed
  uint64_t orders = 0;       // of operators, that took effect
  uint64_t overtaken = 0;    // times that a client was seen to believe in a term that others ended
  uint64_t writes = 0;       // that the fenced resource took
  uint64_t kills = 0;
  double simulated_seconds = 0;
};

// The same plan gives the same run, line by line. `trace_to`: one line for each event, as it
// happens.
[[nodiscard]] Outcome Simulate(const Plan& plan, const Mutation& mutation = NoMutation(),
                               std::ostream* trace_to = nullptr);

// The report of a run that went wrong.
[[nodiscard]] std::string Report(const Outcome& outcome);

}  // namespace tenure::sim
