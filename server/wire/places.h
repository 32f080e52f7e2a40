// Places for calls that last, shared fairly among addresses.
#pragma once

#include <chrono>
#include <memory>
#include <string_view>

#include "base/fair_share.h"
#include "base/mutex.h"
#include "server/network/origin.h"

namespace tenure::wire {

// Thread-safe. Must outlive its places.
class Places {
 public:
  explicit Places(size_t max) : share_({.max = max}) {}

  // A place, held until it is destroyed. `peer` is an address as gRPC writes it. Null if the
  // address already has its share.
  [[nodiscard]] std::shared_ptr<void> Take(std::string_view peer) {
    const network::Origin origin = network::OriginOf(peer);
    const MutexLock lock(mutex_);
    if (!share_.Take(origin, 1, std::chrono::steady_clock::now())) return nullptr;
    return {this, [this, origin](void*) {
              const MutexLock released(mutex_);
              share_.Release(origin, 1);
            }};
  }

 private:
  Mutex mutex_;
  FairShare<network::Origin> share_ TENURE_GUARDED_BY(mutex_);
};

}  // namespace tenure::wire
