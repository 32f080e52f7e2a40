#include "tests/support/link.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <mutex>
#include <string>

#include "tests/support/loopback.h"
#include "tests/support/process.h"

namespace tenure::testing {
namespace {

// A client and a server, with a link between them.
class LinkTest : public ::testing::Test {
 protected:
  LinkTest() {
    client_ = loopback::ConnectTo(link_.port());
    server_ = loopback::Accept(listener_);
  }
  ~LinkTest() override {
    for (const int descriptor : {client_, server_, listener_}) close(descriptor);
  }

  static std::string Received(int connection, size_t size) {
    std::string bytes;
    while (bytes.size() < size) {
      const std::string more = loopback::Receive(connection);
      if (more.empty()) break;
      bytes += more;
    }
    return bytes;
  }
  // Nothing is there yet.
  static bool IsSilent(int connection) {
    char byte = 0;
    return recv(connection, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0;
  }

  std::string Seen() {
    const std::lock_guard lock(mutex_);
    return seen_;
  }

  const int listener_ = loopback::Listen();
  std::mutex mutex_;
  std::string seen_;  // guarded by mutex_
  Link link_{loopback::PortOf(listener_),
             [this](uint64_t, bool from_server, std::string_view bytes) {
               const std::lock_guard lock(mutex_);
               seen_ += (from_server ? "<" : ">") + std::string(bytes);
             }};
  int client_ = -1;
  int server_ = -1;
};

TEST_F(LinkTest, BytesAreShownBeforeTheyArrive) {
  loopback::SendAll(client_, "ask");
  EXPECT_EQ(Received(server_, 3), "ask");
  loopback::SendAll(server_, "answer");
  EXPECT_EQ(Received(client_, 6), "answer");

  EXPECT_EQ(Seen(), ">ask<answer");
}

TEST_F(LinkTest, ADeafLinkSendsTheServerNothingAndBreaksAfterwards) {
  link_.Become(Link::State::kDeaf);
  loopback::SendAll(client_, "lost");
  loopback::SendAll(server_, "told");
  EXPECT_EQ(Received(client_, 4), "told");
  EXPECT_TRUE(Eventually([this] { return Seen().find(">lost") != std::string::npos; }));

  link_.Become(Link::State::kWhole);

  EXPECT_EQ(Received(server_, 1), "");
}

TEST_F(LinkTest, NothingArrivesAfterAGap) {
  link_.Become(Link::State::kDeaf);
  loopback::SendAll(client_, "lost");
  EXPECT_TRUE(Eventually([this] { return Seen().find(">lost") != std::string::npos; }));

  link_.Become(Link::State::kMute);  // which the server would hear through
  loopback::SendAll(client_, "later");
  EXPECT_TRUE(Eventually([this] { return Seen().find(">later") != std::string::npos; }));
  link_.Become(Link::State::kWhole);

  EXPECT_EQ(Received(server_, 5), "");
}

TEST_F(LinkTest, ALossBreaksTheConnectionsWhateverStatesFollow) {
  loopback::SendAll(client_, "ask");
  EXPECT_EQ(Received(server_, 3), "ask");

  link_.Become(Link::State::kDeaf);
  link_.Become(Link::State::kHeld);
  link_.Become(Link::State::kWhole);

  EXPECT_EQ(Received(client_, 1), "");
}

TEST_F(LinkTest, HeldBytesArriveWhenTheLinkIsWholeAgain) {
  link_.Become(Link::State::kHeld);
  loopback::SendAll(server_, "held");
  loopback::SendAll(client_, "ask");
  EXPECT_EQ(Received(server_, 3), "ask");
  EXPECT_TRUE(IsSilent(client_));

  link_.Become(Link::State::kWhole);

  EXPECT_EQ(Received(client_, 4), "held");
}

TEST_F(LinkTest, AHoldingLinkCanBeDestroyed) {
  link_.Become(Link::State::kHeld);
  loopback::SendAll(server_, "held");
  loopback::SendAll(client_, "ask");
  EXPECT_EQ(Received(server_, 3), "ask");
}

}  // namespace
}  // namespace tenure::testing
