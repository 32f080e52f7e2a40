// The open loop of a run, on each system in turn.
#pragma once

#include <optional>
#include <vector>

#include "bench/commands/contender.h"
#include "bench/commands/ledger.h"
#include "bench/works/closed_loop.h"

namespace tenure::bench {

// Cycles per second: half of what etcd does with 32 in flight, by the rounds that are noted.
// Nothing if there are none.
[[nodiscard]] std::optional<double> OpenLoopRate(const Results& results);

// One round on one system. If it could not keep so few cycles under way as planned, this is
// remarked, and its rows are spoiled.
void NoteOpenLoop(Ledger& ledger, const Contender& contender, double cycles_per_second,
                  const Window& window);

}  // namespace tenure::bench
