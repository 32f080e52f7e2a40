#include "core/law/adaptive_lease.h"

#include <gtest/gtest.h>

#include <string>

namespace tenure {
namespace {

using namespace std::chrono_literals;

struct Calm {
  std::string name;
  Duration lease_ttl;
  Duration asked;
  Duration calm;
  Duration left;
};

class LeaseAfterCalmTest : public ::testing::TestWithParam<Calm> {};

TEST_P(LeaseAfterCalmTest, HalvesTheLeaseAfterThirtyOfThemDownToTheRequestedOne) {
  const Calm& it = GetParam();
  Session session;
  session.lease_ttl = it.lease_ttl;
  session.lease_ttl_asked = it.asked;

  EXPECT_EQ(LeaseAfterCalm(session, it.calm), it.left);
}

INSTANTIATE_TEST_SUITE_P(
    Each, LeaseAfterCalmTest,
    ::testing::Values(Calm{"NotAtOnce", 80s, 10s, 0s, 80s},
                      Calm{"NotBeforeThirtyLeases", 80s, 10s, 2399s, 80s},
                      Calm{"AfterThirtyLeases", 80s, 10s, 2400s, 40s},
                      Calm{"NotBeforeThirtyShorterOnes", 80s, 10s, 3599s, 40s},
                      Calm{"AfterThirtyShorterOnes", 80s, 10s, 3600s, 20s},
                      Calm{"ToTheRequestedOne", 80s, 10s, 4200s, 10s},
                      Calm{"AndNoShorter", 80s, 10s, 24h * 365, 10s},
                      Calm{"ToTheRequestedOneIfHalfIsShorter", 15s, 10s, 450s, 10s},
                      Calm{"NeverARequestedLease", 10s, 10s, 24h, 10s},
                      Calm{"NotIfTheClockWentBack", 80s, 10s, -1h, 80s},
                      Calm{"NotIfTheRowDoesNotSayWhatWasRequested", 80s, 0s, 24h, 80s}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace tenure
