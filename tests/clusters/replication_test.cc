// Tenure on a MySQL source and its replica, which is promoted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/clusters/terms.h"
#include "tests/support/replica_pair.h"
#include "tests/support/tenured.h"

namespace tenure::testing {
namespace {

class ReplicationTest : public ::testing::Test {
 protected:
  void Serve(ReplicaPair::Kind kind, const std::vector<std::string>& flags = {}) {
    pair_ = std::make_unique<ReplicaPair>(kind);
    pair_->source().FreshDatabase("tenure");
    for (int i = 0; i < 2; ++i) {
      servers_.push_back(std::make_unique<Tenured>(pair_->Url("tenure"), flags));
    }
  }
  // Takes ten terms, the last five of which the replica does not get.
  void TakeTermsThatGetLost(Terms& terms) {
    for (int i = 0; i < 5; ++i) terms.Take(A());
    EXPECT_TRUE(Eventually([&] {
      return pair_->replica().Query("SELECT term FROM tenure.elections").output == "5\n";
    }));
    pair_->Disconnect();
    for (int i = 0; i < 5; ++i) terms.Take(B());
  }

  Tenured& A() { return *servers_.front(); }
  Tenured& B() { return *servers_.back(); }

  std::unique_ptr<ReplicaPair> pair_;
  std::vector<std::unique_ptr<Tenured>> servers_;
};

TEST_F(ReplicationTest, TermsInALostTailAreNotGrantedAgain) {
  Serve(ReplicaPair::Kind::kAsynchronous);
  Terms terms;
  TakeTermsThatGetLost(terms);

  pair_->source().Kill();
  pair_->Promote();

  for (int i = 0; i < 5; ++i) terms.Take(A());
  for (int i = 0; i < 5; ++i) terms.Take(B());
  EXPECT_THAT(terms.given(), ::testing::SizeIs(20));
  EXPECT_THAT(A().process().Errors(), ::testing::HasSubstr("the database lost commits"));
  EXPECT_THAT(A().process().Errors() + B().process().Errors(),
              ::testing::HasSubstr("all terms were raised"));
}

// Nobody has seen what is lost: all replicas were down during the failover.
TEST_F(ReplicationTest, AFailoverThatNoReplicaSawIsALossToo) {
  Serve(ReplicaPair::Kind::kAsynchronous);
  Terms terms;
  TakeTermsThatGetLost(terms);

  for (const auto& server : servers_) server->Kill();
  pair_->source().Kill();
  pair_->Promote();
  for (const auto& server : servers_) server->Start();

  for (int i = 0; i < 5; ++i) terms.Take(A());
  EXPECT_THAT(terms.given(), ::testing::SizeIs(15));
}

TEST_F(ReplicationTest, AReplicaThatIsToStopServesOnlyAfterTheOperatorDidHisPart) {
  Serve(ReplicaPair::Kind::kAsynchronous, {"--on-lost-commits", "stop"});
  Terms terms;
  terms.Take(A());
  pair_->Disconnect();
  terms.Take(A());
  pair_->source().Kill();
  pair_->Promote();
  EXPECT_TRUE(Eventually(
      [&] { return A().process().Errors().find("tenured bump-terms") != std::string::npos; }));
  EXPECT_NE(A().Get("/readyz").first, 200);

  BumpTerms(pair_->Url("tenure"));

  terms.Take(A());
  terms.Take(B());
}

TEST_F(ReplicationTest, ASemiSynchronousPairGoesOnWhereItWas) {
  Serve(ReplicaPair::Kind::kSemiSynchronous);
  const Finished checked = RunToEnd({Program("tenured"), "check", "--store", pair_->Url("tenure")});
  EXPECT_THAT(checked.output, ::testing::HasSubstr("semi-synchronous: may be used"));
  EXPECT_THAT(checked.output, ::testing::HasSubstr("is not used: it is read-only"));
  Terms terms;
  for (int i = 0; i < 5; ++i) terms.Take(A());

  pair_->source().Kill();
  pair_->Promote();

  for (int i = 0; i < 5; ++i) terms.Take(A());
  EXPECT_EQ(terms.Take(B()), 11U);
  EXPECT_THAT(A().process().Errors(), ::testing::Not(::testing::HasSubstr("lost commits")));
}

}  // namespace
}  // namespace tenure::testing
