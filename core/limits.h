// The bounds of the law. Each is part of the contract in `proto/tenure/v1/election.proto`.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "core/types.h"

namespace tenure {

inline constexpr size_t kNameBytesMax = 255;
inline constexpr size_t kValueBytesMax = 4096;
inline constexpr size_t kRequestIdBytesMin = 16;
inline constexpr size_t kRequestIdBytesMax = 64;
inline constexpr size_t kSessionsPerRenewalMax = 500;
inline constexpr size_t kSelectorsMax = 1000;

// What one server allows; `tenured`'s flags set them.
struct Limits {
  Duration lease_ttl_min = std::chrono::seconds(1);
  Duration lease_ttl_max = std::chrono::hours(24);
  Duration lease_ttl_default = std::chrono::seconds(10);
  uint64_t queue_max = 100'000;  // waiting candidates in one election
};

}  // namespace tenure
