// Where a connection comes from.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "server/network/listening.h"

namespace tenure::network {

// The part of an address that its owner cannot choose: an IPv4 address, mapped to IPv6, or the /64
// of an IPv6 address.
using Origin = std::array<uint8_t, 16>;

[[nodiscard]] Origin OriginOf(const End& peer);
// Of an address as gRPC writes it: "ipv4:127.0.0.1:7070" or "ipv6:%5B::1%5D:7070". All others share
// one origin.
[[nodiscard]] Origin OriginOf(std::string_view peer);

}  // namespace tenure::network
