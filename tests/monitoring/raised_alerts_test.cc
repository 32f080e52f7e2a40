// Real trouble raises its alert. Alerts that fire only after a while must be pending; promtool
// checks that they fire then (tests/alerts).
#include <gmock/gmock.h>

#include <algorithm>
#include <memory>

#include "tests/monitoring/watched_service.h"
#include "tests/support/administration.h"

namespace tenure::testing {
namespace {

using Json = nlohmann::json;

class RaisedAlertsTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { service_ = std::make_unique<WatchedService>(); }
  static void TearDownTestSuite() { service_.reset(); }

  // How many alerts of this name are pending or firing.
  static long Raised(const std::string& name) {
    return std::ranges::count_if(service_->prometheus().Alerts(), [&](const Json& alert) {
      return alert["labels"]["alertname"] == name;
    });
  }
  static bool IsRaised(const std::string& name) {
    return Eventually([&] { return Raised(name) > 0; });
  }
  static Tenured& Service() { return service_->replica(); }

  static inline std::unique_ptr<WatchedService> service_;
};

TEST_F(RaisedAlertsTest, ASeatKeptEmptyDespiteAWaiterIsLeaderless) {
  Update(Service(), {.election = "reports", .lock_delay = 1h, .allow_missing = true});
  Campaign(Service(), {.election = "reports", .candidate = "a", .lease_ttl = 1s});
  Campaign(Service(), {.election = "reports", .candidate = "b", .lease_ttl = 1h});

  EXPECT_TRUE(IsRaised("TenureElectionLeaderless"));
}

TEST_F(RaisedAlertsTest, ShortLivedLeadersAreFlapping) {
  for (const char* election : {"jobs/1", "jobs/2", "jobs/3"}) {
    Campaign(Service(), {.election = election, .candidate = "a", .lease_ttl = 1s});
  }

  EXPECT_TRUE(IsRaised("TenureElectionFlapping"));
}

TEST_F(RaisedAlertsTest, CandidatesWithoutRoomAreRefused) {
  Update(Service(), {.election = "small", .max_candidates = 1, .allow_missing = true});
  Campaign(Service(), {.election = "small", .candidate = "leader", .lease_ttl = 1h});
  Campaign(Service(), {.election = "small", .candidate = "next", .lease_ttl = 1h});

  const CampaignArguments more{.election = "small", .candidate = "more"};
  for (int i = 0; i < 100; ++i) {
    grpc::ClientContext context;
    v1::CampaignResponse response;
    const auto status = Service().stub().Campaign(&context, ToRequest(more), &response);
    ASSERT_EQ(ReasonOf(status), "QUEUE_FULL");
  }

  EXPECT_TRUE(IsRaised("TenureCallsRefused"));
}

TEST_F(RaisedAlertsTest, AReplicaThatTheOthersCannotReachIsDisconnected) {
  const Tenured unreachable(service_->store(), {"--advertise", "127.0.0.1:1"});

  EXPECT_TRUE(IsRaised("TenureReplicasDisconnected"));
}

TEST_F(RaisedAlertsTest, AnUnavailableDatabaseIsUnreachableAndNoReplicaIsReady) {
  service_->database().Kill();
  EXPECT_TRUE(IsRaised("TenureDatabaseUnreachable"));
  EXPECT_TRUE(Eventually([] { return Raised("TenureReplicaNotReady") == 3; }));

  service_->database().Start();
  EXPECT_TRUE(Eventually([] { return Raised("TenureDatabaseUnreachable") == 0; }));
  EXPECT_TRUE(Eventually([] { return Raised("TenureReplicaNotReady") == 0; }));
}

}  // namespace
}  // namespace tenure::testing
