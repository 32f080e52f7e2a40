#include "server/network/acceptor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>

#include "server/network/network_testing.h"

namespace tenure::network {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;

// Keeps what it takes over.
class AcceptorTest : public ::testing::Test {
 protected:
  void Open(const ConnectionLimits& limits) {
    auto listeners = Listen("127.0.0.1:0", "test");
    ASSERT_TRUE(listeners);
    port_ = PortOf(listeners->front());
    acceptor_ = std::make_unique<Acceptor>(
        *std::move(listeners), limits,
        AcceptorOwner{.take = [this](Descriptor taken) { Take(std::move(taken)); },
                      .refused = [this](Refusal refusal) { Refused(refusal); }},
        [this] { return now_.load(); });
  }
  void Take(Descriptor taken) {
    const std::lock_guard lock(mutex_);
    if (reacts_) SendAll(taken, "a greeting");
    taken_.push_back(std::move(taken));
    changed_.notify_all();
  }
  void Refused(Refusal refusal) {
    const std::lock_guard lock(mutex_);
    refusals_.push_back(refusal);
    changed_.notify_all();
  }
  void WaitForTaken(size_t count) {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(changed_.wait_for(lock, 30s, [&] { return taken_.size() == count; }));
  }
  std::vector<Refusal> WaitForRefusals(size_t count) {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(changed_.wait_for(lock, 30s, [&] { return refusals_.size() >= count; }));
    return refusals_;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Descriptor> taken_;  // guarded by mutex_
  std::vector<Refusal> refusals_;  // guarded by mutex_
  std::atomic<bool> reacts_ = false;
  std::atomic<std::chrono::steady_clock::time_point> now_{};
  int port_ = 0;
  std::unique_ptr<Acceptor> acceptor_;
};

TEST_F(AcceptorTest, AConnectionBeyondTheLimitIsClosedAtOnce) {
  Open({1, 1});
  const Descriptor first = ConnectToPort(port_);
  WaitForTaken(1);

  const Descriptor second = ConnectToPort(port_);

  EXPECT_EQ(ReadToEnd(second), "");
  EXPECT_THAT(WaitForRefusals(1), ElementsAre(Refusal::kTooMany));
}

// A refusal sweeps closed connections, at most every 50 ms.
TEST_F(AcceptorTest, AClosedConnectionMakesRoom) {
  Open({1, 1});
  const Descriptor first = ConnectToPort(port_);
  WaitForTaken(1);
  {
    const std::lock_guard lock(mutex_);
    taken_.clear();
  }

  EXPECT_EQ(ReadToEnd(ConnectToPort(port_)), "");
  WaitForRefusals(1);
  now_ = now_.load() + 50ms;
  const Descriptor next = ConnectToPort(port_);

  WaitForTaken(1);
  EXPECT_THAT(WaitForRefusals(1), ElementsAre(Refusal::kTooMany));
}

// A process that has used up its descriptors accepts again once some are free.
TEST_F(AcceptorTest, WithoutDescriptorsItRefusesAndThenRecovers) {
  rlimit before{};
  getrlimit(RLIMIT_NOFILE, &before);
  rlimit low{64, before.rlim_max};
  Open({1'000, 1'000});
  std::vector<Descriptor> clients;
  for (int i = 0; i < 100; ++i) clients.push_back(ConnectToPort(port_));
  WaitForTaken(100);
  setrlimit(RLIMIT_NOFILE, &low);
  // This client needs a descriptor, too: frees a number below 64.
  clients.front().Reset();
  const Descriptor refused = ConnectToPort(port_);
  const std::string nothing = refused.valid() ? ReadToEnd(refused) : "";
  setrlimit(RLIMIT_NOFILE, &before);

  EXPECT_EQ(nothing, "");
  WaitForRefusals(1);
  const Descriptor next = ConnectToPort(port_);
  WaitForTaken(101);
}

TEST_F(AcceptorTest, ItKnowsWhetherItsOwnerReacts) {
  Open({10, 10});

  reacts_ = true;
  EXPECT_TRUE(acceptor_->Reacts(30s));
  reacts_ = false;
  EXPECT_FALSE(acceptor_->Reacts(1ms));
}

TEST_F(AcceptorTest, ItsOwnProbeGetsThroughWhenThereAreTooMany) {
  Open({1, 1});
  const Descriptor first = ConnectToPort(port_);
  WaitForTaken(1);
  reacts_ = true;

  EXPECT_TRUE(acceptor_->Reacts(30s));

  WaitForTaken(2);
  EXPECT_TRUE(refusals_.empty());
}

}  // namespace
}  // namespace tenure::network
