#include "core/law/adaptive_lease.h"

#include <algorithm>

namespace tenure {
namespace {

constexpr int kGrowth = 2;
constexpr int kGrowthMax = 8;
constexpr int kCalmLeases = 30;

}  // namespace

Duration LongerLease(const Session& lost, Duration asked, Duration max) {
  const Duration lease_ttl = LeaseAfterCalm(lost, lost.ended_at - lost.lease_ttl_since);
  return std::max(asked, std::min({lease_ttl * kGrowth, asked * kGrowthMax, max}));
}

Duration LeaseAfterCalm(const Session& session, Duration calm) {
  Duration lease_ttl = session.lease_ttl;
  // A row of an early schema does not say what was asked for.
  if (session.lease_ttl_asked <= Duration::zero()) return lease_ttl;
  while (lease_ttl > session.lease_ttl_asked && calm >= lease_ttl * kCalmLeases) {
    calm -= lease_ttl * kCalmLeases;
    lease_ttl = std::max(lease_ttl / kGrowth, session.lease_ttl_asked);
  }
  return lease_ttl;
}

}  // namespace tenure
