// Counts the calls that wait or stream (Campaign, KeepAlive, Observe), by identity, so that none
// takes the places of others.
#pragma once

#include <grpcpp/grpcpp.h>

#include <memory>
#include <string>

#include "core/error.h"
#include "core/fair_share.h"
#include "core/mutex.h"
#include "server/access/access.h"

namespace tenure::access {

// Who has what is shared: the identity, or without a policy the address.
[[nodiscard]] std::string HolderOf(const Access::Caller& caller,
                                   const grpc::ServerContextBase& context);

// Thread-safe. Must outlive the places that it gives.
class OpenCalls {
 public:
  explicit OpenCalls(size_t max) : max_(max), share_({.max = max}) {}

  // A place, held until it is destroyed. Without a policy, an address counts as an identity. The
  // last tenth of all places, and of an identity's, is for KeepAlive. Errors: kLimitReached, if the
  // identity has as many as its policy allows; kOverloaded, if it has its share of what there is.
  [[nodiscard]] Result<std::shared_ptr<void>> Take(const Access::Caller& caller,
                                                   const grpc::ServerContextBase& context,
                                                   bool keeps_alive = false);

 private:
  const size_t max_;
  Mutex mutex_;
  FairShare<std::string> share_ TENURE_GUARDED_BY(mutex_);
};

}  // namespace tenure::access
