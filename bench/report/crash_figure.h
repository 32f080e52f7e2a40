// The time from the crash of the leader to the next leader, by the number of waiting candidates: a
// series of points for each system.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "bench/report/results.h"
#include "bench/report/sheet.h"

namespace tenure::bench {

struct CrashPoint {
  Column system;
  size_t waiting;
  std::vector<double> times_ms;  // one for each crash; empty if the point is omitted
  std::string left_out = {};     // why the point is omitted
};

struct CrashFigure {
  std::vector<CrashPoint> points;

  // Whether every point of Tenure was measured. Points of the others may be omitted.
  [[nodiscard]] bool Complete() const;
};

// A line for each point; under the table, why points are omitted.
[[nodiscard]] Sheet ToSheet(const CrashFigure& figure);
[[nodiscard]] nlohmann::ordered_json ToJson(const CrashFigure& figure);

}  // namespace tenure::bench
