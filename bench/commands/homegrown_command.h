// tenure-bench homegrown: Tenure beside what teams write themselves, on one MariaDB.
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
  std::chrono::milliseconds window;          // in which the leaders hold their seats
  size_t losses;                             // crashes, resignations and depositions of each
};

[[nodiscard]] HomegrownPlan FullHomegrownPlan();
// The smallest and the largest shape, and each loss once.
[[nodiscard]] HomegrownPlan QuickHomegrownPlan();

// Each scheme has a database of its own on one server. Writes its progress to standard error.
// Throws std::runtime_error if a part cannot be completed.
[[nodiscard]] SchemeTable MeasureHomegrown(const HomegrownPlan& plan);

}  // namespace tenure::bench
