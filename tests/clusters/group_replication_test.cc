// Tenure on three members of MySQL Group Replication, whose primary fails.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/group_replication.h"
#include "tests/support/tenured.h"

namespace tenure::testing {
namespace {

constexpr char kElection[] = "orders";

class GroupReplicationTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { group_ = std::make_unique<GroupReplication>(); }
  static void TearDownTestSuite() { group_.reset(); }

  void SetUp() override {
    const size_t primary = group_->WaitForPrimary();
    group_->member(primary).FreshDatabase("tenure");
    url_ = group_->Url("tenure");
  }

  // The next term, by whatever way leads to it.
  static uint64_t NextTerm(Tenured& server) {
    uint64_t term = 0;
    EXPECT_TRUE(Eventually([&] {
      grpc::ClientContext context;
      v1::CampaignResponse response;
      const auto request = ToRequest({.election = kElection, .candidate = "c", .supersede = true});
      if (!server.stub().Campaign(&context, request, &response).ok()) return false;
      term = response.elected().term();
      return true;
    })) << server.process().Errors();
    return term;
  }

  static std::unique_ptr<GroupReplication> group_;
  std::string url_;
};
std::unique_ptr<GroupReplication> GroupReplicationTest::group_;

TEST_F(GroupReplicationTest, AMemberThatCameBackAloneGetsNoGrant) {
  const size_t first = group_->WaitForPrimary();
  if (first != 0) group_->Appoint(0);
  Tenured server(url_);
  uint64_t last = NextTerm(server);
  group_->member(0).Kill();
  const size_t second = group_->WaitForPrimary(0);
  last = NextTerm(server);
  group_->StartAlone(0);
  for (int i = 0; i < 20; ++i) {
    group_->member(second).EndConnections("tenure");
    const uint64_t term = NextTerm(server);
    ASSERT_EQ(term, last + 1);
    last = term;
  }
  EXPECT_EQ(group_->member(second).Ask("SELECT term FROM tenure.elections"), std::to_string(last));
}

}  // namespace
}  // namespace tenure::testing
