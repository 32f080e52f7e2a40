#include "server/access/open_calls.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "server/network/origin.h"

namespace tenure::access {
namespace {

constexpr size_t kKeptForRenewals = 10;  // one place in this many

// How many of `max` places calls other than KeepAlive may take. One is kept if there are two.
size_t PlacesForOthers(size_t max) {
  return max < 2 ? max : max - std::max<size_t>(1, max / kKeptForRenewals);
}

}  // namespace

std::string HolderOf(const Access::Caller& caller, const grpc::ServerContextBase& context) {
  if (caller != nullptr) return caller->name;
  const network::Origin origin = network::OriginOf(context.peer());
  return {origin.begin(), origin.end()};
}

OpenCalls::OpenCalls(size_t max)
    : max_(max), keep_alives_({.max = max}), others_({.max = PlacesForOthers(max)}) {}

Result<std::shared_ptr<void>> OpenCalls::Take(const Access::Caller& caller,
                                              const grpc::ServerContextBase& context,
                                              bool keeps_alive) {
  std::string holder = HolderOf(caller, context);
  const MutexLock lock(mutex_);
  if (caller != nullptr) {
    const size_t limit = caller->limits.open_calls;
    const size_t others = others_.held(holder);
    const bool room = others + keep_alives_.held(holder) < limit &&
                      (keeps_alive || others < PlacesForOthers(limit));
    if (!room) {
      return Fail(Reason::kLimitReached,
                  "identity '" + caller->name +
                      "' has as many open calls on this replica as its limit "
                      "of " +
                      std::to_string(limit) + " allows");
    }
  }
  Share& share = keeps_alive ? keep_alives_ : others_;
  const bool room = keep_alives_.held() + others_.held() < max_;
  if (!room || !share.Take(holder, 1, std::chrono::steady_clock::now())) {
    return Fail(Reason::kOverloaded,
                "this replica has too many open calls, or too many of this identity or address");
  }
  return std::shared_ptr<void>(this, [this, &share, holder = std::move(holder)](void*) {
    const MutexLock released(mutex_);
    share.Release(holder, 1);
  });
}

}  // namespace tenure::access
