// tenure-bench homegrown: Tenure beside schemes that teams write themselves, on one MariaDB.
#pragma once

#include <chrono>
#include <cstddef>
#include <vector>

#include "bench/report/scheme_table.h"

namespace tenure::bench {

// How many candidates are spread among how many elections.
struct SchemeShape {
  size_t candidates;
  size_t elections;
  bool losses;  // also measure how leaders lose their seats, in one election
};

struct HomegrownPlan {
  std::vector<SchemeShape> shapes;
  std::vector<std::chrono::seconds> leases;  // of Tenure
  std::chrono::milliseconds window;          // how long the leaders hold their seats
  size_t losses;                             // number of crashes, resignations and depositions
};

[[nodiscard]] HomegrownPlan FullHomegrownPlan();
// The smallest and the largest shape, and each kind of loss once.
[[nodiscard]] HomegrownPlan QuickHomegrownPlan();

// Each scheme has its own database on one server. Reports progress on standard error. Throws
// std::runtime_error if a part cannot be completed.
[[nodiscard]] SchemeTable MeasureHomegrown(const HomegrownPlan& plan);

}  // namespace tenure::bench
