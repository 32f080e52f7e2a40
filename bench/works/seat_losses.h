// How leaders of any scheme lose their seats, and how long it takes until the next one knows.
#pragma once

#include <chrono>
#include <string>

#include "bench/report/scheme_table.h"
#include "bench/works/contest.h"

namespace tenure::bench {

struct LossPlan {
  std::string label;
  size_t candidates;  // waiting candidates
  size_t count;       // number of crashes, resignations and depositions
};

// Kills a holder right after a renewal; makes one resign; and deposes one right after a renewal (a
// stopped one continues when the next candidate leads). Throws std::runtime_error if a holder does
// not end.
[[nodiscard]] SeatLosses MeasureSeatLosses(Venue& venue, const LossPlan& plan);

// Whether another candidate leads while a holder is stopped for this long.
[[nodiscard]] bool ReplacesAStoppedHolder(Venue& venue, const std::string& label,
                                          std::chrono::milliseconds duration);

}  // namespace tenure::bench
