// tenure-bench overload: what happens to healthy leaders, and to calls, while a replica of Tenure
// gets far more calls than it can answer.
#pragma once

#include <chrono>
#include <optional>

#include "bench/report/figures.h"

namespace tenure::bench {

struct OverloadPlan {
  std::chrono::seconds probe;  // for each number of calls in flight, to find the saturating one
  std::chrono::seconds storm;
  std::optional<size_t> in_flight;  // instead of ten times the saturating number
};

[[nodiscard]] OverloadPlan FullOverloadPlan();
[[nodiscard]] OverloadPlan QuickOverloadPlan();

// Reports progress on standard error. Throws std::runtime_error if it cannot be completed.
[[nodiscard]] Figures MeasureOverload(const OverloadPlan& plan);

}  // namespace tenure::bench
