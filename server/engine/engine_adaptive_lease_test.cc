// A longer lease shrinks again, and every answer names the lease that its home counts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/engine/engine_testing.h"

namespace tenure::engine {
namespace {

using namespace tenure::testing;
using namespace std::chrono_literals;

class AdaptiveLeaseTest : public ::testing::Test {
 protected:
  AdaptiveLeaseTest() {
    EXPECT_TRUE(a_.Do(Stand("orders", "a")));
    world_.Advance(2 * kLease);
    EXPECT_EQ(Answered(StandAgain()).lease_ttl, 2 * kLease);
  }

  // The candidate lost its session "a", and opens "a/2".
  static Campaign StandAgain() {
    Campaign campaign = Stand("orders", "a/2");
    campaign.opening->candidate = "a";
    campaign.opening->previous = Id("a");
    return campaign;
  }
  Session Answered(const Campaign& campaign) {
    return std::get<CampaignAnswer>(a_.Do(campaign).value()).session;
  }
  void RenewFor(SteadyTime::duration duration) {
    constexpr auto kPause = 3s;
    for (SteadyTime::duration passed{0}; passed < duration; passed += kPause) {
      world_.Advance(kPause);
      ASSERT_TRUE(a_.Renew(Id("a/2")));
    }
  }

  World world_;
  Replica& a_ = world_.Start();
};

TEST_F(AdaptiveLeaseTest, ARenewalAndACampaignAnswerTheShorterLeaseAfterACalmTime) {
  RenewFor(30 * 2 * kLease);

  EXPECT_EQ(a_.Renew(Id("a/2")).value().lease_ttl, kLease);
  EXPECT_EQ(Answered(StandAgain()).lease_ttl, kLease);
}

TEST_F(AdaptiveLeaseTest, TheShorterLeaseIsNotWritten) {
  const int transactions = a_.store.Calls("Transact");

  RenewFor(30 * 2 * kLease);

  EXPECT_EQ(a_.store.Calls("Transact"), transactions);
}

}  // namespace
}  // namespace tenure::engine
