#include "client/cpp/io/client_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <prometheus/text_serializer.h>

namespace tenure {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

class ClientMetricsTest : public ::testing::Test {
 protected:
  std::string Exposed() { return prometheus::TextSerializer().Serialize(registry_->Collect()); }

  std::shared_ptr<prometheus::Registry> registry_ = std::make_shared<prometheus::Registry>();
  ClientMetrics metrics_{registry_};
};

TEST_F(ClientMetricsTest, NamesAndTypesMatchTheList) {
  const ClientMetrics::Election election(metrics_, "orders");

  std::string types;
  for (const auto& family : registry_->Collect()) {
    types += family.name + " " + std::to_string(static_cast<int>(family.type)) + "\n";
  }

  EXPECT_EQ(types,
            "leader_election_slowpath_total 0\n"
            "tenure_client_elected_total 0\n"
            "tenure_client_overruns_total 0\n"
            "tenure_client_replica_changes_total 0\n"
            "leader_election_master_status 1\n"
            "tenure_client_renewal_seconds 4\n"
            "tenure_client_renewal_margin_seconds 4\n");
}

TEST_F(ClientMetricsTest, TheyShowWhetherThisProcessLeads) {
  ClientMetrics::Election election(metrics_, "orders");
  EXPECT_THAT(Exposed(), HasSubstr("leader_election_master_status{name=\"orders\"} 0"));

  election.Count(Elected{});
  EXPECT_THAT(Exposed(), HasSubstr("leader_election_master_status{name=\"orders\"} 1"));
  election.Count(Lost{v1::CAUSE_DEPOSED});

  EXPECT_THAT(Exposed(), HasSubstr("leader_election_master_status{name=\"orders\"} 0"));
  EXPECT_THAT(Exposed(), HasSubstr("tenure_client_elected_total{name=\"orders\"} 1"));
  EXPECT_THAT(Exposed(),
              HasSubstr("tenure_client_lost_total{cause=\"DEPOSED\",name=\"orders\"} 1"));
}

TEST_F(ClientMetricsTest, ACauseOfALaterVersionCountsAsUnspecified) {
  ClientMetrics::Election election(metrics_, "orders");

  election.Count(Lost{static_cast<v1::Cause>(1000)});

  EXPECT_THAT(Exposed(),
              HasSubstr("tenure_client_lost_total{cause=\"UNSPECIFIED\",name=\"orders\"} 1"));
}

TEST_F(ClientMetricsTest, SlowRenewalsOverrunsAndReplicaChangesAreCounted) {
  ClientMetrics::Election election(metrics_, "orders");

  election.Count(Suspended{});
  election.Count(Overrun{});
  metrics_.Count(ClientSession::Renewal{3ms, 5900ms});
  metrics_.CountReplicaChange();

  EXPECT_THAT(Exposed(), HasSubstr("leader_election_slowpath_total{name=\"orders\"} 1"));
  EXPECT_THAT(Exposed(), HasSubstr("tenure_client_overruns_total{name=\"orders\"} 1"));
  EXPECT_THAT(Exposed(), HasSubstr("tenure_client_renewal_seconds_bucket{le=\"0.005\"} 1"));
  EXPECT_THAT(Exposed(), HasSubstr("tenure_client_renewal_margin_seconds_bucket{le=\"5\"} 0"));
  EXPECT_THAT(Exposed(), HasSubstr("tenure_client_renewal_margin_seconds_bucket{le=\"7.5\"} 1"));
  EXPECT_THAT(Exposed(), HasSubstr("tenure_client_replica_changes_total 1"));
}

}  // namespace
}  // namespace tenure
