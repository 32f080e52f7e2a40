#include "server/network/origin.h"

#include <gtest/gtest.h>

namespace tenure::network {
namespace {

constexpr Origin kLoopbackV4{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127, 0, 0, 1};

TEST(OriginTest, AnAddressOfIPv4IsAnOrigin) {
  EXPECT_EQ(OriginOf("ipv4:127.0.0.1:7070"), kLoopbackV4);
  EXPECT_EQ(OriginOf(End{kLoopbackV4, 7070}), kLoopbackV4);
}

TEST(OriginTest, ANetworkOfIPv6IsAnOrigin) {
  const Origin network{0x20, 0x01, 0x0d, 0xb8, 0, 1, 0, 2};
  EXPECT_EQ(OriginOf("ipv6:%5B2001:db8:1:2::3%5D:7070"), network);
  EXPECT_EQ(OriginOf("ipv6:%5B2001:db8:1:2:ffff::%5D:1"), network);
  EXPECT_EQ(OriginOf("ipv6:%5Bfe80::1%25eth0%5D:1"), (Origin{0xfe, 0x80}));
}

TEST(OriginTest, PeersWithoutAnAddressShareOneOrigin) {
  for (const char* peer :
       {"", "unix:/run/socket", "ipv4:", "ipv4:1.2.3:4", "ipv6:%5B", "ipv6:%5Bx%5D:1"}) {
    EXPECT_EQ(OriginOf(peer), Origin()) << peer;
  }
}

}  // namespace
}  // namespace tenure::network
