// tenure-bench scale: how much one replica of Tenure holds, and what that costs.
#pragma once

#include <chrono>
#include <cstddef>

#include "bench/report/figures.h"
#include "bench/works/closed_loop.h"

namespace tenure::bench {

struct ScalePlan {
  size_t waiting;      // campaigns
  size_t waiting_few;  // the short queue that the long one is compared with
  size_t hand_overs;
  size_t observers;
  size_t observed_rounds;
  size_t sessions;
  size_t session_elections;
  std::chrono::milliseconds held;  // how long the sessions are kept alive
  std::chrono::milliseconds idle;  // how long statements are counted
  Window busy;
};

[[nodiscard]] ScalePlan FullScalePlan();
// A tenth of everything.
[[nodiscard]] ScalePlan QuickScalePlan();

// Each part runs on a new replica and a new database. Reports progress on standard error. Throws
// std::runtime_error if a part cannot be completed.
[[nodiscard]] Figures MeasureScale(const ScalePlan& plan);

}  // namespace tenure::bench
