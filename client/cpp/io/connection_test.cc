#include "client/cpp/io/connection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <thread>

namespace tenure {
namespace {

using namespace std::chrono_literals;

TEST(ConnectionTest, ReplicasAreUsedInTurn) {
  Connection connection("127.0.0.1:1,127.0.0.1:2,127.0.0.1:3");
  std::set<std::string> used;

  for (int i = 0; i < 3; ++i) {
    used.insert(connection.endpoint());
    connection.MoveOn();
  }

  EXPECT_EQ(used.size(), 3u);
  EXPECT_TRUE(used.contains(connection.endpoint()));
}

TEST(ConnectionTest, EmptyEndpointsAreSkipped) {
  Connection connection(",127.0.0.1:1,,");

  connection.MoveOn();

  EXPECT_EQ(connection.endpoint(), "127.0.0.1:1");
}

TEST(ConnectionTest, AConnectionInProgressIsKept) {
  Connection connection("127.0.0.1:1");
  const auto before = connection.stub();

  connection.Reconnect();
  connection.MoveOn();

  EXPECT_EQ(connection.stub(), before);
}

TEST(ConnectionTest, AConnectionEndsAfterItsLastCall) {
  auto connection = std::make_unique<Connection>("127.0.0.1:1");
  auto first = connection->Mark();
  auto last = connection->Mark();
  bool ended = false;

  first.reset();
  std::thread call([&] {
    ended = true;
    last.reset();
  });
  connection.reset();

  EXPECT_TRUE(ended);
  call.join();
}

TEST(BackoffTest, TheBackoffGrowsToItsMaximumAndStaysThere) {
  Connection connection("127.0.0.1:1");

  const auto first = connection.Backoff();
  EXPECT_GE(first, 10ms);
  EXPECT_LE(first, 20ms);
  for (int i = 0; i < 100; ++i) EXPECT_LE(connection.Backoff(), 500ms);
  EXPECT_GE(connection.Backoff(), 250ms);
}

TEST(BackoffTest, TheBackoffStartsAgainAfterASuccess) {
  Connection connection("127.0.0.1:1");
  for (int i = 0; i < 100; ++i) (void)connection.Backoff();

  connection.Succeeded();

  EXPECT_LE(connection.Backoff(), 20ms);
}

}  // namespace
}  // namespace tenure
