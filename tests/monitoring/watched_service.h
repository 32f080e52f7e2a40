// A service as it is operated: three replicas on a MariaDB, and a Prometheus that watches them.
#pragma once

#include <array>
#include <chrono>
#include <string>

#include "tests/monitoring/prometheus.h"
#include "tests/support/database_server.h"
#include "tests/support/tenured.h"

namespace tenure::testing {

class WatchedService {
 public:
  WatchedService();

  [[nodiscard]] DatabaseServer& database() { return database_; }
  [[nodiscard]] const Prometheus& prometheus() const { return prometheus_; }
  // Any of them: all give the same answers.
  [[nodiscard]] Tenured& replica() { return replicas_[0]; }
  // The store that all of them share.
  [[nodiscard]] const std::string& store() const { return url_; }
  // All of them, for `--endpoint`.
  [[nodiscard]] std::string endpoints() const;

 private:
  DatabaseServer database_;
  const std::string url_ = database_.FreshDatabase("tenure");
  std::array<Tenured, 3> replicas_{Tenured(url_), Tenured(url_), Tenured(url_)};
  const Prometheus prometheus_;
};

}  // namespace tenure::testing
