// Scenario 18: elections used as locks. What they guard is not synchronised in any other way.
#include <array>
#include <atomic>
#include <thread>

#include "tests/rpc/service_fixture.h"

namespace tenure::testing {
namespace {

constexpr int kThreads = 8;
constexpr int kRoundsEach = 25;  // of each thread

// What one election guards.
class Guarded {
 public:
  // False if another thread is inside, too: then one of the two changes may be lost.
  bool Increment() {
    const bool alone = inside_.fetch_add(1) == 0;
    const int before = count_;
    std::this_thread::yield();
    count_ = before + 1;
    return (inside_.fetch_sub(1) == 1) && alone;
  }

  [[nodiscard]] int count() const { return count_; }

 private:
  int count_ = 0;
  std::atomic<int> inside_ = 0;  // keeps nobody out
};

class LockUseTest : public ServiceTest {
 protected:
  // REQUIRES: the session of the last call, if there was one. Returns the session.
  std::string IncrementOnce(int thread, int round, const std::string& session) {
    const size_t which = static_cast<size_t>((thread + round) % 2);
    const std::string election = which == 0 ? "a" : "b";
    Tenured& first = (thread + round / 2) % 2 == 0 ? A() : B();
    Tenured& second = round % 3 == 0 ? A() : B();
    WaitingCampaign campaign(first, {election, "thread " + std::to_string(thread), session});
    const v1::CampaignResponse& won = campaign.Response();
    EXPECT_TRUE(won.has_elected()) << won.ShortDebugString();

    EXPECT_TRUE(guarded_[which].Increment()) << "two lead election " << election;

    const auto resigned = Resign(second, won.session().session_id(), election);
    EXPECT_EQ(resigned.outcome(), v1::ResignResponse::OUTCOME_RESIGNED);
    EXPECT_EQ(resigned.term(), won.elected().term());
    return won.session().session_id();
  }

  std::array<Guarded, 2> guarded_;
};

INSTANTIATE_TEST_SUITE_P(Stores, LockUseTest,
                         ::testing::Values(StoreKind::kSqlite, StoreKind::kMariaDb), StoreKindName);

TEST_P(LockUseTest, UnsynchronisedIncrementsOfEightThreadsAreAllCounted) {
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([this, thread] {
      std::string session;
      for (int round = 0; round < kRoundsEach && !HasFailure(); ++round) {
        session = IncrementOnce(thread, round, session);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();

  EXPECT_EQ(guarded_[0].count(), kThreads * kRoundsEach / 2);
  EXPECT_EQ(guarded_[1].count(), kThreads * kRoundsEach / 2);
  EXPECT_EQ(Leader(B(), "a").term(), static_cast<uint64_t>(guarded_[0].count()));
  EXPECT_EQ(Leader(B(), "b").term(), static_cast<uint64_t>(guarded_[1].count()));
}

}  // namespace
}  // namespace tenure::testing
