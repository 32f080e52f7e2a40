// How long it takes to elect a new leader after the leader is killed, against how many wait: a
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
  std::vector<double> times_ms;  // one for each crash; empty if the point is left out
  std::string left_out = {};     // why
};

struct CrashFigure {
  std::vector<CrashPoint> points;

  // Whether every point of Tenure was measured. The others may be left out.
  [[nodiscard]] bool Complete() const;
};

// A line for each point, and under the table why others are left out.
[[nodiscard]] Sheet ToSheet(const CrashFigure& figure);
[[nodiscard]] nlohmann::ordered_json ToJson(const CrashFigure& figure);

}  // namespace tenure::bench
