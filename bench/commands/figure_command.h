// tenure-bench figure: crashes of the leader, with more and more waiting candidates.
#pragma once

#include <set>
#include <string>

#include "bench/report/crash_figure.h"

namespace tenure::bench {

struct FigurePlan {
  std::string etcd;  // path of the program
  std::set<Column> systems;
  std::vector<size_t> waiting;
  size_t crashes;  // at each point
};

[[nodiscard]] FigurePlan FullFigurePlan();
[[nodiscard]] FigurePlan QuickFigurePlan();

// Each point has its own servers, without data. Reports progress on standard error. If a system
// cannot hold this number of candidates, it has no point there, and the figure says why.
[[nodiscard]] CrashFigure MeasureCrashFigure(const FigurePlan& plan);

}  // namespace tenure::bench
