// tenure-bench overload: what becomes of healthy leaders, and of the calls, while a replica of
// Tenure is asked for much more than it can do.
#pragma once

#include <chrono>
#include <optional>

#include "bench/report/figures.h"

namespace tenure::bench {

struct OverloadPlan {
  std::chrono::seconds probe;  // of each number in flight, to find what the machine can answer
  std::chrono::seconds storm;
  std::optional<size_t> in_flight;  // in place of ten times what saturates
};

[[nodiscard]] OverloadPlan FullOverloadPlan();
[[nodiscard]] OverloadPlan QuickOverloadPlan();

// Tells its progress on standard error. Throws std::runtime_error if it cannot be run to its end.
[[nodiscard]] Figures MeasureOverload(const OverloadPlan& plan);

}  // namespace tenure::bench
