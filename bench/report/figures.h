// Figures of works that only Tenure does: what was measured, and the maximum allowed.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "bench/report/sheet.h"

namespace tenure::bench {

struct Figure {
  std::string what;
  std::string unit;
  double value;
  std::optional<double> at_most = {};  // the goal

  [[nodiscard]] bool Met() const { return !at_most || value <= *at_most; }
};

struct Figures {
  std::vector<Figure> list;
  std::vector<std::string> remarks;  // for people: what the figures do not show

  [[nodiscard]] bool AllMet() const;
};

[[nodiscard]] Sheet ToSheet(const Figures& figures);
[[nodiscard]] nlohmann::ordered_json ToJson(const Figures& figures);

}  // namespace tenure::bench
