// tenure-bench figure: crashes of the leader, with ever more candidates that wait.
#pragma once

#include <set>
#include <string>

#include "bench/report/crash_figure.h"

namespace tenure::bench {

struct FigurePlan {
  std::string etcd;  // its program
  std::set<Column> systems;
  std::vector<size_t> waiting;
  size_t crashes;  // at each point
};

[[nodiscard]] FigurePlan FullFigurePlan();
[[nodiscard]] FigurePlan QuickFigurePlan();

// Each point has servers of its own, without data. Reports its progress on standard error. A system
// that cannot hold this number of candidates lacks a point, and the figure says why.
[[nodiscard]] CrashFigure MeasureCrashFigure(const FigurePlan& plan);

}  // namespace tenure::bench
