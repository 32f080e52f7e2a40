#pragma once

#include <chrono>

namespace tenure::engine {

// This process's monotonic clock. Never decides about the end of a session; see ServiceTime.
using SteadyTime = std::chrono::steady_clock::time_point;

}  // namespace tenure::engine
