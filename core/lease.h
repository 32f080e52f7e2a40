// A holder's own view of its lease, on its own monotonic clock. Pure: `now` is an argument.
//
// The session's home counts a lease from the moment at which it took the renewal. The holder counts
// it from before it sent that renewal, and believes in it for a tenth less: so it stops before the
// service lets anyone else in, as long as the two clocks drift apart by less than a tenth.
#pragma once

#include <algorithm>
#include <chrono>

#include "core/types.h"

namespace tenure {

// A holder trusts all but 1/kBeliefDivisor of its lease.
inline constexpr int kBeliefDivisor = 10;

class Lease {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // A renewal that was sent at `sent_at` was answered. Answers may come in any order.
  void Renewed(Time sent_at, Duration lease_ttl) {
    lease_ttl_ = lease_ttl;
    renewed_at_ = std::max(renewed_at_, sent_at);
    const auto trusted = lease_ttl - lease_ttl / kBeliefDivisor;
    believed_until_ =
        std::max(believed_until_, sent_at + std::chrono::duration_cast<Time::duration>(trusted));
  }

  [[nodiscard]] bool BelievedAt(Time now) const { return now < believed_until_; }
  [[nodiscard]] Time believed_until() const { return believed_until_; }
  // When a renewal, and a second try of it, should have been answered.
  [[nodiscard]] Time overdue_at() const {
    return renewed_at_ + std::chrono::duration_cast<Time::duration>(lease_ttl_ / 2);
  }
  // When the service may let somebody else in, if nothing is renewed.
  [[nodiscard]] Time ends_at() const {
    return renewed_at_ + std::chrono::duration_cast<Time::duration>(lease_ttl_);
  }
  [[nodiscard]] Duration ttl() const { return lease_ttl_; }
  // How long to wait between two renewals: three fit into a lease.
  [[nodiscard]] Time::duration RenewalInterval() const {
    return std::chrono::duration_cast<Time::duration>(lease_ttl_ / kRenewalsPerLease);
  }

 private:
  static constexpr int kRenewalsPerLease = 3;

  Duration lease_ttl_{0};
  Time renewed_at_{};
  Time believed_until_{};
};

}  // namespace tenure
