// Counts each identity's open calls (Campaign, KeepAlive, Observe), so that none can crowd out
// others.
#pragma once

#include <grpcpp/grpcpp.h>

#include <memory>
#include <string>

#include "base/fair_share.h"
#include "base/mutex.h"
#include "core/error.h"
#include "server/access/access.h"

namespace tenure::access {

// The key under which resources are shared: the identity, or without a policy the address.
[[nodiscard]] std::string HolderOf(const Access::Caller& caller,
                                   const grpc::ServerContextBase& context);

// Thread-safe. Must outlive its places.
class OpenCalls {
 public:
  explicit OpenCalls(size_t max);

  // A place, held until it is destroyed. Without a policy, an address counts as an identity. The
  // last tenth of all places, and of an identity's limit, is reserved for KeepAlive: however many
  // other calls are open, an identity can take as many KeepAlive places as it leaves for others.
  // Errors: kLimitReached, if the identity has as many as its policy allows; kOverloaded, if it has
  // its share, or no place is left.
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
