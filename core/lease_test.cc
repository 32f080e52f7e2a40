#include "core/lease.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tenure {
namespace {

using namespace std::chrono_literals;

constexpr Lease::Time kSent{std::chrono::hours(1)};

TEST(LeaseTest, ALeaseIsNotBelievedBeforeItsFirstRenewal) {
  const Lease lease;

  EXPECT_FALSE(lease.BelievedAt(kSent));
}

TEST(LeaseTest, ALeaseIsBelievedForNineTenthsFromBeforeTheSending) {
  Lease lease;

  lease.Renewed(kSent, 10s);

  EXPECT_EQ(lease.believed_until(), kSent + 9s);
  EXPECT_TRUE(lease.BelievedAt(kSent));
  EXPECT_TRUE(lease.BelievedAt(kSent + 9s - 1ns));
  EXPECT_FALSE(lease.BelievedAt(kSent + 9s));
}

TEST(LeaseTest, ALaterRenewalExtendsTheLease) {
  Lease lease;
  lease.Renewed(kSent, 10s);

  lease.Renewed(kSent + 3s, 10s);

  EXPECT_EQ(lease.believed_until(), kSent + 12s);
}

TEST(LeaseTest, ALateAnswerDoesNotShortenTheLease) {
  Lease lease;
  lease.Renewed(kSent + 3s, 10s);

  lease.Renewed(kSent, 10s);

  EXPECT_EQ(lease.believed_until(), kSent + 12s);
}

TEST(LeaseTest, ALateAnswerDoesNotReviveAnEndedLease) {
  Lease lease;

  lease.Renewed(kSent, 10s);

  EXPECT_FALSE(lease.BelievedAt(kSent + 11s));
}

TEST(LeaseTest, ALeaseIsRenewedThreeTimes) {
  Lease lease;

  lease.Renewed(kSent, 9s);

  EXPECT_EQ(lease.RenewalInterval(), 3s);
}

class LeaseOfAnyLengthTest : public ::testing::TestWithParam<Duration> {};

INSTANTIATE_TEST_SUITE_P(Lengths, LeaseOfAnyLengthTest,
                         ::testing::Values(1ms, 7ms, 999ms, 1s, 3333ms, 10s, 24h, 24h * 365 * 100));

TEST_P(LeaseOfAnyLengthTest, ItEndsForItsHolderAfterNineTenthsAtMost) {
  Lease lease;

  lease.Renewed(kSent, GetParam());

  EXPECT_LE((lease.believed_until() - kSent) / 9 * 10, GetParam());
  EXPECT_GT(lease.believed_until(), kSent);
}

TEST_P(LeaseOfAnyLengthTest, ItLeavesRoomForTwoRenewalsAfterALostOne) {
  Lease lease;

  lease.Renewed(kSent, GetParam());

  EXPECT_TRUE(lease.BelievedAt(kSent + 2 * lease.RenewalInterval()));
}

}  // namespace
}  // namespace tenure
