// Tenure on three members of MySQL Group Replication, whose primary fails.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/clusters/terms.h"
#include "tests/support/group_replication.h"
#include "tests/support/hosts.h"
#include "tests/support/tenured.h"

namespace tenure::testing {
namespace {

class GroupReplicationTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    hosts_ = std::make_unique<Hosts>(3);
    group_ = std::make_unique<GroupReplication>(hosts_->all());
  }
  static void TearDownTestSuite() {
    group_.reset();
    hosts_.reset();
  }

  void SetUp() override {
    const size_t primary = group_->WaitForPrimary();
    group_->server(primary).FreshDatabase("tenure");
    url_ = group_->Url("tenure");
  }

  static std::unique_ptr<Hosts> hosts_;
  static std::unique_ptr<GroupReplication> group_;
  std::string url_;
};
std::unique_ptr<Hosts> GroupReplicationTest::hosts_;
std::unique_ptr<GroupReplication> GroupReplicationTest::group_;

TEST_F(GroupReplicationTest, TheCheckKnowsThePrimary) {
  const Finished checked = RunToEnd({Program("tenured"), "check", "--store", url_});

  EXPECT_EQ(checked.exit_code, 0);
  EXPECT_THAT(checked.output, ::testing::HasSubstr("ONLINE PRIMARY, 3 members"));
  EXPECT_THAT(checked.output,
              ::testing::HasSubstr("is not used: this member of the group is not a primary"));
}

// The old primary keeps its connections, and would show what it knew.
TEST_F(GroupReplicationTest, APlannedSwitchLosesNothingAndShowsNothingOld) {
  Tenured a(url_);
  Tenured b(url_);
  Terms terms;
  for (const size_t primary : {1U, 2U, 0U}) {
    for (int i = 0; i < 5; ++i) {
      const uint64_t term = terms.Take(a);
      EXPECT_EQ(Leader(b, "orders").term(), term);
    }
    group_->Appoint(primary);
    const uint64_t term = terms.Take(a);
    EXPECT_EQ(FirstTermRead(b), term);
  }

  EXPECT_EQ(*terms.given().rbegin(), 18U);
  EXPECT_THAT(a.process().Errors(), ::testing::Not(::testing::HasSubstr("lost commits")));
}

TEST_F(GroupReplicationTest, OnlyThePrimaryMayBeAskedForTheFence) {
  const size_t primary = group_->WaitForPrimary();
  Tenured server(url_);
  const auto leader =
      Campaign(server, {.election = "orders", .candidate = "a", .lease_ttl = 10min}).elected();
  const std::string call =
      "CALL tenure.tenure_fence('orders', " + std::to_string(leader.term()) + ")";

  EXPECT_EQ(group_->server(primary).Query(call).exit_code, 0);
  EXPECT_TRUE(Eventually([&] {  // once it has the procedure
    const Finished asked = group_->server((primary + 1) % 3).Query(call);
    return asked.errors.find("may not be asked; ask the primary") != std::string::npos;
  }));
}

TEST_F(GroupReplicationTest, AMemberThatCameBackAloneGetsNoGrant) {
  if (group_->WaitForPrimary() != 0) group_->Appoint(0);
  Tenured server(url_);
  Terms terms;
  terms.Take(server);
  group_->server(0).Kill();
  const size_t second = group_->WaitForPrimary(0);
  terms.Take(server);

  group_->StartAlone(0);
  for (int i = 0; i < 20; ++i) {
    group_->server(second).EndConnections("tenure");
    terms.Take(server);
  }

  const uint64_t last = *terms.given().rbegin();
  EXPECT_EQ(last, 22U);
  EXPECT_EQ(group_->server(second).Ask("SELECT term FROM tenure.elections"), std::to_string(last));
  group_->Join(0);
}

// It commits nothing, so nothing shows it that its server has lost the majority.
TEST_F(GroupReplicationTest, AnIdleReplicaThatIsCutOffShowsNoOldLeader) {
  if (group_->WaitForPrimary() != 0) group_->Appoint(0);
  Tenured idle(url_, {}, true, hosts_->all()[0]);
  Tenured server(url_, {}, true, hosts_->all()[1]);
  const auto first = Campaign(server, {.election = "orders", .candidate = "a", .lease_ttl = 10min});
  ASSERT_EQ(Leader(idle, "orders").term(), 1U);

  hosts_->CutOff(0);
  group_->WaitForPrimary(0);
  EXPECT_TRUE(Eventually([&] {
    grpc::ClientContext context;
    v1::ResignRequest request;
    request.set_session_id(first.session().session_id());
    v1::ResignResponse response;
    return server.stub().Resign(&context, request, &response).ok();
  }));
  Campaign(server, {.election = "orders", .candidate = "b", .lease_ttl = 10min});
  ASSERT_EQ(Leader(server, "orders").term(), 2U);

  grpc::ClientContext context;
  v1::LeaderRequest request;
  request.set_election("orders");
  v1::LeaderResponse response;
  const grpc::Status status = idle.stub().Leader(&context, request, &response);
  EXPECT_TRUE(!status.ok() || response.term() == 2) << response.DebugString();

  hosts_->Reconnect(0);
  group_->server(0).Kill();
  group_->StartAlone(0);
  group_->Join(0);
}

}  // namespace
}  // namespace tenure::testing
