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
inline constexpr size_t kObservedMax = 10'000;  // elections on one stream
inline constexpr size_t kPrefixesMax = 64;      // different ones, on one stream
// Leaves room to name each observed election in addition to the prefixes.
inline constexpr size_t kSelectorsMax = kObservedMax + 1'000;
inline constexpr size_t kElectionsPerCampaignMax = 32;
inline constexpr size_t kReasonBytesMax = 255;
inline constexpr size_t kCoolDownsMax = 100;  // of one election
inline constexpr Duration kAdminDurationMax = std::chrono::hours(24);
inline constexpr uint64_t kAdminQueueMax = 1'000'000;
// An election that was used more recently is not purged. By then all its events have been
// published, even by replicas that were stopped for hours.
inline constexpr Duration kUnusedMin = std::chrono::hours(24);
// The minimum by which numbers are raised after commits were lost.
inline constexpr uint64_t kBumpMin = 1'000'000;

// What one server allows; `tenured`'s flags set them.
struct Limits {
  Duration lease_ttl_min = std::chrono::seconds(1);
  Duration lease_ttl_max = std::chrono::hours(24);
  Duration lease_ttl_default = std::chrono::seconds(10);
  uint64_t queue_max = 100'000;  // waiting candidates in one election
  bool adaptive_leases = true;
};

}  // namespace tenure
