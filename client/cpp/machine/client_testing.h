// What the unit tests of the client library share.
#pragma once

#include <chrono>

#include "core/lease.h"

namespace tenure {

// When a test begins.
inline constexpr Lease::Time kStart{std::chrono::hours(1)};

}  // namespace tenure
