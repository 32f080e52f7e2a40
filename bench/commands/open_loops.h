// The open loop of a run, on one system after another.
#pragma once

#include <optional>
#include <vector>

#include "bench/commands/contender.h"
#include "bench/commands/ledger.h"
#include "bench/works/closed_loop.h"

namespace tenure::bench {

// Cycles per second: half of etcd's rate with 32 in flight, in the rounds noted so far. Nothing if
// there are none.
[[nodiscard]] std::optional<double> OpenLoopRate(const Results& results);

// One round on one system. If the rate needs more cycles under way than planned, notes a remark and
// spoils its rows.
void NoteOpenLoop(Ledger& ledger, const Contender& contender, double cycles_per_second,
                  const Window& window);

}  // namespace tenure::bench
