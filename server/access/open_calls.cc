#include "server/access/open_calls.h"

#include <chrono>
#include <utility>

#include "server/network/origin.h"

namespace tenure::access {
namespace {

constexpr size_t kKeptForRenewals = 10;  // one place of this number

// Of `max` places.
size_t PlacesFor(bool keeps_alive, size_t max) {
  return keeps_alive ? max : max - max / kKeptForRenewals;
}

}  // namespace

std::string HolderOf(const Access::Caller& caller, const grpc::ServerContextBase& context) {
  if (caller != nullptr) return caller->name;
  const network::Origin origin = network::OriginOf(context.peer());
  return {origin.begin(), origin.end()};
}

Result<std::shared_ptr<void>> OpenCalls::Take(const Access::Caller& caller,
                                              const grpc::ServerContextBase& context,
                                              bool keeps_alive) {
  std::string holder = HolderOf(caller, context);
  const MutexLock lock(mutex_);
  if (caller != nullptr &&
      share_.held(holder) >= PlacesFor(keeps_alive, caller->limits.open_calls)) {
    return Fail(Reason::kLimitReached, "identity '" + caller->name + "' is at its limit of " +
                                           std::to_string(caller->limits.open_calls) +
                                           " open calls on a replica");
  }
  const bool room = share_.held() < PlacesFor(keeps_alive, max_);
  if (!room || !share_.Take(holder, 1, std::chrono::steady_clock::now())) {
    return Fail(Reason::kOverloaded,
                "this replica has too many open calls, or too many of this identity or address");
  }
  return std::shared_ptr<void>(this, [this, holder = std::move(holder)](void*) {
    const MutexLock released(mutex_);
    share_.GiveBack(holder, 1);
  });
}

}  // namespace tenure::access
