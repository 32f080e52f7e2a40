#include "server/network/connections.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

namespace tenure::network {
namespace {

using ::testing::Eq;
using ::testing::Optional;

End V4(uint8_t last) { return {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, last}, 1}; }
End V6(uint8_t network, uint8_t host) {
  return {{0x20, 1, 0, 0, 0, 0, 0, network, 0, 0, 0, 0, 0, 0, 0, host}, 1};
}

Descriptor NewSocket() { return Descriptor(socket(AF_INET, SOCK_STREAM, 0)); }

TEST(ConnectionsTest, ConnectionsBeyondTheLimitAreRefused) {
  Connections connections({2, 2});
  const Descriptor a = NewSocket(), b = NewSocket(), c = NewSocket();

  EXPECT_EQ(connections.Add(a, V4(1)), std::nullopt);
  EXPECT_EQ(connections.Add(b, V4(2)), std::nullopt);

  EXPECT_THAT(connections.Add(c, V4(3)), Optional(Refusal::kTooMany));
  EXPECT_EQ(connections.open(), 2u);
}

TEST(ConnectionsTest, OneAddressCannotTakeTheRoomOfOthers) {
  Connections connections({3, 1});
  const Descriptor a = NewSocket(), b = NewSocket(), c = NewSocket();

  EXPECT_EQ(connections.Add(a, V4(1)), std::nullopt);

  EXPECT_THAT(connections.Add(b, V4(1)), Optional(Refusal::kTooManyFromAddress));
  EXPECT_EQ(connections.Add(c, V4(2)), std::nullopt);
}

// Two addresses that take all they can get.
TEST(ConnectionsTest, RoomIsKeptForOtherAddresses) {
  constexpr size_t kMax = 90;
  Connections connections({kMax, kMax / 2});
  std::vector<Descriptor> sockets;
  const auto add = [&](const End& peer) {
    sockets.push_back(NewSocket());
    return connections.Add(sockets.back(), peer);
  };
  for (size_t i = 0; i < kMax; ++i) {
    (void)add(V4(1));
    (void)add(V4(2));
  }

  EXPECT_THAT(add(V4(1)), Optional(Refusal::kTooManyFromAddress));
  EXPECT_EQ(connections.open(), 2 * kMax / 3);
  for (uint8_t other = 3; other < 13; ++other) EXPECT_EQ(add(V4(other)), std::nullopt);
}

TEST(ConnectionsTest, OneAddressGetsItsLimit) {
  Connections connections({8, 4});
  std::vector<Descriptor> sockets;
  for (int i = 0; i < 4; ++i) {
    sockets.push_back(NewSocket());
    EXPECT_EQ(connections.Add(sockets.back(), V4(1)), std::nullopt);
  }

  const Descriptor next = NewSocket();
  EXPECT_THAT(connections.Add(next, V4(1)), Optional(Refusal::kTooManyFromAddress));
}

TEST(ConnectionsTest, ANetworkOfIPv6IsOneAddress) {
  Connections connections({3, 1});
  const Descriptor a = NewSocket(), b = NewSocket(), c = NewSocket();

  EXPECT_EQ(connections.Add(a, V6(1, 1)), std::nullopt);

  EXPECT_THAT(connections.Add(b, V6(1, 2)), Optional(Refusal::kTooManyFromAddress));
  EXPECT_EQ(connections.Add(c, V6(2, 1)), std::nullopt);
}

TEST(ConnectionsTest, AClosedConnectionMakesRoomAfterASweep) {
  Connections connections({2, 1});
  Descriptor a = NewSocket();
  const Descriptor b = NewSocket(), c = NewSocket();
  ASSERT_EQ(connections.Add(a, V4(1)), std::nullopt);
  ASSERT_EQ(connections.Add(b, V4(2)), std::nullopt);

  a.Reset();
  connections.Sweep();

  EXPECT_EQ(connections.open(), 1u);
  EXPECT_EQ(connections.Add(c, V4(1)), std::nullopt);
}

TEST(ConnectionsTest, AReusedDescriptorIsNotTheSameConnection) {
  Connections connections({2, 2});
  Descriptor a = NewSocket();
  const int number = a.number();
  ASSERT_EQ(connections.Add(a, V4(1)), std::nullopt);

  a.Reset();
  const Descriptor other = NewSocket();
  ASSERT_EQ(other.number(), number);  // the kernel reuses the lowest free number
  connections.Sweep();

  EXPECT_EQ(connections.open(), 0u);
}

TEST(ConnectionsTest, AReusedDescriptorIsCountedOnce) {
  Connections connections({1, 1});
  Descriptor a = NewSocket();
  const int number = a.number();
  ASSERT_EQ(connections.Add(a, V4(1)), std::nullopt);

  a.Reset();
  const Descriptor other = NewSocket();
  ASSERT_EQ(other.number(), number);

  EXPECT_EQ(connections.Add(other, V4(1)), std::nullopt) << "its address has room again, too";
  EXPECT_EQ(connections.open(), 1u);
}

}  // namespace
}  // namespace tenure::network
