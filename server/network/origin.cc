#include "server/network/origin.h"

#include <arpa/inet.h>

#include <algorithm>
#include <string>

namespace tenure::network {

Origin OriginOf(const End& peer) {
  constexpr std::array<uint8_t, 12> kMapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  Origin origin = peer.address;
  const bool v4 = std::equal(kMapped.begin(), kMapped.end(), origin.begin());
  if (!v4) std::fill(origin.begin() + origin.size() / 2, origin.end(), 0);
  return origin;
}

Origin OriginOf(std::string_view peer) {
  constexpr std::string_view kV4 = "ipv4:", kV6 = "ipv6:%5B", kV6End = "%5D";
  End end;
  std::string address;
  if (peer.starts_with(kV4)) {
    address = "::ffff:" + std::string(peer.substr(kV4.size(), peer.rfind(':') - kV4.size()));
  } else if (peer.starts_with(kV6)) {
    address = peer.substr(kV6.size(), peer.find(kV6End) - kV6.size());
    address = address.substr(0, address.find('%'));  // without its zone
  }
  if (inet_pton(AF_INET6, address.c_str(), end.address.data()) != 1) return {};
  return OriginOf(end);
}

}  // namespace tenure::network
