// Counts the calls that wait or stream (Campaign, KeepAlive, Observe), by identity, so that none
// takes the places of others.
#pragma once

#include <grpcpp/grpcpp.h>

#include <memory>
#include <string>

#include "base/fair_share.h"
#include "base/mutex.h"
#include "core/error.h"
#include "server/access/access.h"

namespace tenure::access {

// Who has what is shared: the identity, or without a policy the address.
[[nodiscard]] std::string HolderOf(const Access::Caller& caller,
                                   const grpc::ServerContextBase& context);

// Thread-safe. Must outlive the places that it gives.
class OpenCalls {
 public:
  explicit OpenCalls(size_t max);

  // A place, held until it is destroyed. Without a policy, an address counts as an identity. The
  // last tenth of all places, and of an identity's, is for KeepAlive: whatever else is open, an
  // identity gets as many of those as it leaves for others. Errors: kLimitReached, if the identity
  // has as many as its policy allows; kOverloaded, if it has its share of what there is.
  [[nodiscard]] Result<std::shared_ptr<void>> Take(const Access::Caller& caller,
                                                   const grpc::ServerContextBase& context,
                                                   bool keeps_alive = false);

 private:
  using Share = FairShare<std::string>;

  const size_t max_;
  Mutex mutex_;
  Share keep_alives_ TENURE_GUARDED_BY(mutex_);
  Share others_ TENURE_GUARDED_BY(mutex_);  // of all but the last tenth
};

}  // namespace tenure::access
