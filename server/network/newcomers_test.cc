#include "server/network/newcomers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace tenure::network {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr char kPeer[] = "ipv4:10.0.0.1:1", kSamePeer[] = "ipv4:10.0.0.1:2",
               kOther[] = "ipv4:10.0.0.2:1";

class NewcomersTest : public ::testing::Test {
 protected:
  std::vector<Newcomer> refused_;
  Newcomers::Clock::time_point now_ = Newcomers::Clock::time_point() + 1h;
  Newcomers newcomers_{true,
                       [this](Newcomer it) { refused_.push_back(it); },
                       {.handshakes = {.max = 4, .forgiven_per_s = 1, .forgiven_in_all_per_s = 1},
                        .calls = {.max = 4, .forgiven_per_s = 1, .forgiven_in_all_per_s = 1},
                        .message_bytes = {.max = 100}},
                       [this] { return now_; }};
};

TEST_F(NewcomersTest, HandshakesAreSharedAmongAddresses) {
  const auto first = newcomers_.BeginHandshake(kPeer),
             second = newcomers_.BeginHandshake(kSamePeer);
  EXPECT_EQ(newcomers_.Count().handshakes, 2u);

  EXPECT_EQ(newcomers_.BeginHandshake(kPeer), nullptr);
  EXPECT_THAT(refused_, ElementsAre(Newcomer::kHandshake));
  EXPECT_NE(newcomers_.BeginHandshake(kOther), nullptr);
}

TEST(NewcomersWithoutTlsTest, HandshakesAreNotCounted) {
  Newcomers newcomers(false, [](Newcomer) {}, {.handshakes = {.max = 1}});
  const auto first = newcomers.BeginHandshake(kPeer), second = newcomers.BeginHandshake(kPeer);

  EXPECT_NE(second, nullptr);
  EXPECT_EQ(newcomers.Count().handshakes, 0u);
}

TEST_F(NewcomersTest, ASuccessfulHandshakeNoLongerCounts) {
  for (int i = 0; i < 10; ++i) {
    const auto handshake = newcomers_.BeginHandshake(kPeer);
    ASSERT_NE(handshake, nullptr);
    handshake->Succeeded();
  }
  EXPECT_EQ(newcomers_.Count().handshakes, 0u);
}

TEST_F(NewcomersTest, AFailedHandshakeCountsForAWhile) {
  for (int i = 0; i < 2; ++i) ASSERT_NE(newcomers_.BeginHandshake(kPeer), nullptr);
  EXPECT_EQ(newcomers_.Count().handshakes, 0u);
  EXPECT_EQ(newcomers_.BeginHandshake(kPeer), nullptr);

  now_ += 1s;
  EXPECT_NE(newcomers_.BeginHandshake(kPeer), nullptr);
}

TEST_F(NewcomersTest, CallsWithoutAMessageAreSharedAmongAddresses) {
  const auto peer = newcomers_.BeginConnection(kPeer);
  const auto same = newcomers_.BeginConnection(kSamePeer);
  const auto other = newcomers_.BeginConnection(kOther);
  ASSERT_TRUE(peer->BeginCall());
  ASSERT_TRUE(same->BeginCall());
  EXPECT_EQ(newcomers_.Count().calls, 2u);

  EXPECT_FALSE(peer->BeginCall());
  EXPECT_FALSE(same->BeginCall());
  EXPECT_THAT(refused_, ElementsAre(Newcomer::kCall, Newcomer::kCall));
  EXPECT_TRUE(other->BeginCall());
}

TEST_F(NewcomersTest, ACallThatSentAMessageNoLongerCounts) {
  const auto peer = newcomers_.BeginConnection(kPeer);
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(peer->BeginCall());
    peer->FirstMessage();
    EXPECT_EQ(newcomers_.Count().calls, 0u);
  }
  for (int i = 0; i < 10; ++i) peer->EndCall(true);
  EXPECT_EQ(newcomers_.Count().calls, 0u);
  EXPECT_THAT(refused_, IsEmpty());
}

// As when a peer closes its connection, and reconnects.
TEST_F(NewcomersTest, ACallThatEndsWithoutAMessageCountsForAWhile) {
  for (int i = 0; i < 2; ++i) {
    const auto peer = newcomers_.BeginConnection(kPeer);
    ASSERT_TRUE(peer->BeginCall());
    peer->EndCall(false);
  }
  EXPECT_EQ(newcomers_.Count().calls, 0u);
  EXPECT_FALSE(newcomers_.BeginConnection(kSamePeer)->BeginCall());

  now_ += 1s;
  EXPECT_TRUE(newcomers_.BeginConnection(kSamePeer)->BeginCall());
}

TEST_F(NewcomersTest, AConnectionInUseIsServedWhateverOthersDoAtItsAddress) {
  const auto used = newcomers_.BeginConnection(kPeer);
  for (int i = 0; i < 200; ++i) {
    ASSERT_TRUE(used->BeginCall());
    used->FirstMessage();
  }
  const auto attacker = newcomers_.BeginConnection(kSamePeer);
  while (attacker->BeginCall()) continue;
  refused_.clear();

  for (int i = 0; i < 20; ++i) {
    EXPECT_TRUE(used->BeginCall());
    used->FirstMessage();
  }
  // Each of these uses up the credit of a call that sent a message, and the total is limited.
  for (int i = 0; i < 6; ++i) EXPECT_TRUE(used->BeginCall());
  EXPECT_FALSE(used->BeginCall());
  EXPECT_THAT(refused_, ElementsAre(Newcomer::kCall));
}

TEST_F(NewcomersTest, LargeMessagesAreSharedByBytes) {
  const auto peer = newcomers_.BeginConnection(kPeer);
  const auto other = newcomers_.BeginConnection(kOther);
  EXPECT_FALSE(peer->BeginMessage(51));
  ASSERT_TRUE(peer->BeginMessage(40));
  EXPECT_EQ(newcomers_.Count().message_bytes, 40u);
  EXPECT_FALSE(other->BeginMessage(61));
  EXPECT_THAT(refused_, ElementsAre(Newcomer::kMessage, Newcomer::kMessage));

  peer->EndMessage(40);
  EXPECT_TRUE(other->BeginMessage(50));
}

TEST(NewcomersLifeTest, HandshakesAndConnectionsMayOutliveIt) {
  auto newcomers = std::make_unique<Newcomers>(true, [](Newcomer) {});
  const auto connection = newcomers->BeginConnection(kPeer);
  ASSERT_TRUE(connection->BeginCall());
  const auto handshake = newcomers->BeginHandshake(kPeer);
  newcomers.reset();

  connection->EndCall(false);
  handshake->Succeeded();
}

}  // namespace
}  // namespace tenure::network
