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

TEST(ConnectionsTest, ThereAreNoMoreThanTheLimit) {
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

TEST(ConnectionsTest, ANetworkOfIPv6IsOneAddress) {
  Connections connections({3, 1});
  const Descriptor a = NewSocket(), b = NewSocket(), c = NewSocket();

  EXPECT_EQ(connections.Add(a, V6(1, 1)), std::nullopt);

  EXPECT_THAT(connections.Add(b, V6(1, 2)), Optional(Refusal::kTooManyFromAddress));
  EXPECT_EQ(connections.Add(c, V6(2, 1)), std::nullopt);
}

TEST(ConnectionsTest, WhatIsClosedMakesRoomOnceThatIsSeen) {
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

TEST(ConnectionsTest, ADescriptorThatIsAnotherSocketNowIsNotTheSameConnection) {
  Connections connections({2, 2});
  Descriptor a = NewSocket();
  const int number = a.number();
  ASSERT_EQ(connections.Add(a, V4(1)), std::nullopt);

  a.Reset();
  const Descriptor other = NewSocket();
  ASSERT_EQ(other.number(), number);  // the kernel gives the lowest that is free
  connections.Sweep();

  EXPECT_EQ(connections.open(), 0u);
}

TEST(ConnectionsTest, ADescriptorThatIsGivenAgainIsCountedOnce) {
  Connections connections({1, 1});
  Descriptor a = NewSocket();
  const int number = a.number();
  ASSERT_EQ(connections.Add(a, V4(1)), std::nullopt);

  a.Reset();
  const Descriptor other = NewSocket();
  ASSERT_EQ(other.number(), number);

  EXPECT_EQ(connections.Add(other, V4(2)), std::nullopt);
  EXPECT_EQ(connections.open(), 1u);
}

}  // namespace
}  // namespace tenure::network
