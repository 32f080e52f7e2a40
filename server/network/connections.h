// Tracks which connections are open, and whether one more may be.
//
// The new owner of a connection closes it without notice. So each is identified by its descriptor
// and the inode of its socket, and is gone when its descriptor is no longer that socket. Not
// thread-safe.
#pragma once

#include <sys/types.h>

#include <optional>
#include <unordered_map>

#include "base/fair_share.h"
#include "server/network/listening.h"
#include "server/network/origin.h"

namespace tenure::network {

struct ConnectionLimits {
  size_t max;  // in total
  // Per IPv4 address, or per IPv6 network (/64). Lower while more room must be left for others.
  size_t per_address_max;
};

enum class Refusal {
  kTooMany,             // in total
  kTooManyFromAddress,  // from this address
};

class Connections {
 public:
  // FairShare always leaves one, but all connections may be used.
  explicit Connections(const ConnectionLimits& limits)
      : limits_(limits), by_origin_({.max = limits.max + 1}) {}

  // Counts an open connection, unless there are too many.
  [[nodiscard]] std::optional<Refusal> Add(const Descriptor& connection, const End& peer);
  // Stops counting closed connections.
  void Sweep();

  [[nodiscard]] size_t open() const { return open_.size(); }

 private:
  struct Connection {
    ino_t socket;
    Origin origin;
  };

  void Forget(const Connection& connection);

  const ConnectionLimits limits_;
  std::unordered_map<int, Connection> open_;  // by descriptor
  FairShare<Origin> by_origin_;
};

}  // namespace tenure::network
