// The calls of a client that are under way.
#pragma once

#include <grpcpp/support/status.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "core/lease.h"

namespace tenure {

// For one thread.
class OpenCalls {
 public:
  void Begin(uint64_t number, std::function<void()> cancel) { calls_[number] = std::move(cancel); }
  // The outcome of the call. A call cancelled for taking too long counts as unanswered.
  grpc::Status End(uint64_t number, const grpc::Status& status) {
    calls_.erase(number);
    const bool cut_off =
        overdue_.erase(number) > 0 && status.error_code() == grpc::StatusCode::CANCELLED;
    return cut_off ? grpc::Status(grpc::StatusCode::DEADLINE_EXCEEDED, "no answer") : status;
  }
  void Cancel(uint64_t number) { calls_.at(number)(); }
  void CancelAll() {
    for (const auto& [number, cancel] : calls_) cancel();
  }

  // From now on a hanging replica costs at most `patience`: new calls get no longer deadline, and
  // those under way are cancelled then.
  void Limit(Lease::Time now, Duration patience) {
    patience_ = patience;
    cancel_at_ = now + patience;
    for (const auto& [number, cancel] : calls_) overdue_.insert(number);
  }
  // The deadline for a call that would normally get `wanted`.
  [[nodiscard]] Duration Patience(Duration wanted) const { return std::min(wanted, patience_); }
  [[nodiscard]] Lease::Time cancel_at() const { return cancel_at_; }
  void CancelOverdue(Lease::Time now) {
    if (now < cancel_at_) return;
    cancel_at_ = Lease::Time::max();
    for (const uint64_t number : overdue_) {
      if (const auto call = calls_.find(number); call != calls_.end()) call->second();
    }
  }

 private:
  std::map<uint64_t, std::function<void()>> calls_;  // with the function that cancels each
  std::set<uint64_t> overdue_;                       // those under way when the limit was set
  Duration patience_ = Duration::max();
  Lease::Time cancel_at_ = Lease::Time::max();
};

}  // namespace tenure
