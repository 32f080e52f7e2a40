// How leaders of any scheme lose their seats, and how long it takes until the next one knows.
#pragma once

#include <chrono>
#include <string>

#include "bench/report/scheme_table.h"
#include "bench/works/contest.h"

namespace tenure::bench {

struct LossPlan {
  std::string label;
  size_t candidates;  // that wait
  size_t count;       // of crashes, resignations and depositions
};

// A holder is killed right after a renewal; one resigns; and one is deposed right after a renewal,
// and, if it was stopped, continued when the next one leads. Throws std::runtime_error if one of
// these does not end.
[[nodiscard]] SeatLosses MeasureSeatLosses(Venue& venue, const LossPlan& plan);

// Whether another candidate leads while a holder is stopped for this long.
[[nodiscard]] bool ReplacesAStoppedHolder(Venue& venue, const std::string& label,
                                          std::chrono::milliseconds duration);

}  // namespace tenure::bench
