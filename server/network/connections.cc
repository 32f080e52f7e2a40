#include "server/network/connections.h"

#include <sys/stat.h>

namespace tenure::network {
namespace {

// Nothing if the descriptor is not a socket.
std::optional<ino_t> SocketOf(int descriptor) {
  struct stat status {};
  if (fstat(descriptor, &status) != 0 || !S_ISSOCK(status.st_mode)) return std::nullopt;
  return status.st_ino;
}

}  // namespace

std::optional<Refusal> Connections::Add(const Descriptor& connection, const End& peer) {
  // The kernel may have reused the descriptor of a connection that was closed since.
  const auto former = open_.find(connection.number());
  if (former != open_.end()) {
    Forget(former->second);
    open_.erase(former);
  }
  if (open_.size() >= limits_.max) return Refusal::kTooMany;
  const Origin origin = OriginOf(peer);
  if (by_origin_.held(origin) >= limits_.per_address_max || !by_origin_.Take(origin, 1, {})) {
    return Refusal::kTooManyFromAddress;
  }
  open_[connection.number()] = {SocketOf(connection.number()).value_or(0), origin};
  return std::nullopt;
}

void Connections::Sweep() {
  std::erase_if(open_, [this](const auto& entry) {
    const auto& [descriptor, connection] = entry;
    if (SocketOf(descriptor) == connection.socket) return false;
    Forget(connection);
    return true;
  });
}

void Connections::Forget(const Connection& connection) { by_origin_.Release(connection.origin, 1); }

}  // namespace tenure::network
