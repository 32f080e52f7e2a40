// A dashboard of the chart, as Grafana shows it: with a value for each variable, chosen from what
// Prometheus knows.
#pragma once

#include <nlohmann/json.hpp>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "tests/monitoring/prometheus.h"

namespace tenure::testing {

struct Panel {
  nlohmann::json source;                  // as it is in the file
  std::string title = {};                 // with the dashboard's
  std::vector<std::string> queries = {};  // without variables
  bool instant = false;                   // shows values of now, and not over time
};

class Dashboard {
 public:
  explicit Dashboard(const std::filesystem::path& file);

  using Values = std::map<std::string, std::string, std::greater<>>;  // longer names come first

  // For each variable the first of its values, or all if it may have all.
  [[nodiscard]] Values Choose(const Prometheus& prometheus) const;
  // All but headings.
  [[nodiscard]] std::vector<Panel> Panels(const Prometheus& prometheus) const;
  [[nodiscard]] const nlohmann::json& source() const { return source_; }

 private:
  const nlohmann::json source_;
};

// All that the chart has.
[[nodiscard]] std::vector<Dashboard> Dashboards();

}  // namespace tenure::testing
