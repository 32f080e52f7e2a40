// A Prometheus that watches replicas, with Tenure's alerts: a process on loopback that scrapes and
// evaluates once a second.
#pragma once

#include <nlohmann/json.hpp>

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "tests/support/process.h"

namespace tenure::testing {

class Prometheus {
 public:
  using Moment = std::chrono::system_clock::time_point;
  using Json = nlohmann::json;
  using Answer = tl::expected<Json, std::string>;  // or Prometheus' own words about what is wrong

  // `targets` are HTTP addresses. Waits until each has been scraped.
  Prometheus(const std::vector<std::string>& targets, const std::filesystem::path& rules);

  // The series of an answer, with their values now, or at every second since then.
  [[nodiscard]] Answer Query(const std::string& query) const;
  [[nodiscard]] Answer QuerySince(Moment begin, const std::string& query) const;
  // The values that a label has in some series, in order.
  [[nodiscard]] std::vector<std::string> LabelValues(const std::string& series,
                                                     const std::string& label) const;
  // All rules, and the alerts of now, as the API gives them.
  [[nodiscard]] std::vector<Json> Rules() const;
  [[nodiscard]] std::vector<Json> Alerts() const;

 private:
  using Parameters = std::vector<std::pair<std::string, std::string>>;
  [[nodiscard]] Answer Get(const std::string& path, const Parameters& parameters = {}) const;

  TempDir folder_;
  const int port_;
  std::unique_ptr<Process> process_;
};

}  // namespace tenure::testing
