// Tenure on a source and its replica, which is promoted: of MariaDB and of MySQL.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>

#include "tests/clusters/terms.h"
#include "tests/support/replica_pair.h"
#include "tests/support/tenured.h"

namespace tenure::testing {
namespace {

using Engine = DatabaseServer::Engine;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

class ReplicationTest : public ::testing::TestWithParam<Engine> {
 protected:
  void Serve(ReplicaPair::Kind kind, const std::vector<std::string>& flags = {}) {
    pair_ = std::make_unique<ReplicaPair>(kind, GetParam());
    for (int i = 0; i < 2; ++i) {
      servers_.push_back(std::make_unique<Tenured>(pair_->Url(), flags));
    }
  }
  // Takes ten terms; the replica does not get the last five.
  void TakeTermsThatGetLost(Terms& terms) {
    for (int i = 0; i < 5; ++i) terms.Take(A());
    EXPECT_TRUE(Eventually([&] {
      return pair_->replica().Query("SELECT term FROM tenure.elections").output == "5\n";
    }));
    pair_->Disconnect();
    for (int i = 0; i < 5; ++i) terms.Take(B());
  }

  // The logs of both replicas.
  std::string Errors() { return A().process().Errors() + B().process().Errors(); }
  Tenured& A() { return *servers_.front(); }
  Tenured& B() { return *servers_.back(); }

  std::unique_ptr<ReplicaPair> pair_;
  std::vector<std::unique_ptr<Tenured>> servers_;
};

INSTANTIATE_TEST_SUITE_P(Engines, ReplicationTest,
                         ::testing::Values(Engine::kMariaDb, Engine::kMySql), [](const auto& info) {
                           return info.param == Engine::kMariaDb ? "MariaDb" : "MySql";
                         });

TEST_P(ReplicationTest, TermsInALostTailAreNotGrantedAgain) {
  Serve(ReplicaPair::Kind::kAsynchronous);
  Terms terms;
  TakeTermsThatGetLost(terms);

  pair_->source().Kill();
  pair_->Promote();

  for (int i = 0; i < 5; ++i) terms.Take(A());
  for (int i = 0; i < 5; ++i) terms.Take(B());
  EXPECT_THAT(terms.given(), SizeIs(20));
  EXPECT_THAT(A().process().Errors(), HasSubstr("the database lost commits"));
  EXPECT_THAT(Errors(), HasSubstr("all terms were raised"));
}

// Nobody has seen what is lost: all replicas were down during the failover.
TEST_P(ReplicationTest, AFailoverThatNoReplicaSawIsALossToo) {
  Serve(ReplicaPair::Kind::kAsynchronous);
  Terms terms;
  TakeTermsThatGetLost(terms);

  for (const auto& server : servers_) server->Kill();
  pair_->source().Kill();
  pair_->Promote();
  for (const auto& server : servers_) server->Start();

  for (int i = 0; i < 5; ++i) terms.Take(A());
  EXPECT_THAT(terms.given(), SizeIs(15));
}

TEST_P(ReplicationTest, AReplicaSetToStopServesOnlyAfterTheOperatorRaisedTheTerms) {
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

  BumpTerms(pair_->Url());

  terms.Take(A());
  terms.Take(B());
}

TEST_P(ReplicationTest, ASemiSynchronousPairGoesOnWhereItWas) {
  Serve(ReplicaPair::Kind::kSemiSynchronous);
  const Finished checked = RunToEnd({Program("tenured"), "check", "--store", pair_->Url()});
  EXPECT_THAT(checked.output, HasSubstr("semi-synchronous: may be used"));
  EXPECT_THAT(checked.output, HasSubstr("is not used: it is read-only"));
  EXPECT_THAT(checked.output, Not(HasSubstr("may write to a server that is read-only")));
  const std::string as_root = std::regex_replace(pair_->Url(), std::regex("tenure@"), "root@");
  EXPECT_THAT(RunToEnd({Program("tenured"), "check", "--store", as_root}).output,
              HasSubstr("may write to a server that is read-only"));
  Terms terms;
  for (int i = 0; i < 5; ++i) terms.Take(A());

  pair_->source().Kill();
  pair_->Promote();

  for (int i = 0; i < 5; ++i) terms.Take(A());
  EXPECT_EQ(terms.Take(B()), 11U);
  EXPECT_THAT(A().process().Errors(), Not(HasSubstr("lost commits")));
}

// The old source keeps its connections, and would show what it knew.
TEST_P(ReplicationTest, APlannedSwitchOfASemiSynchronousPairLosesNothingAndShowsNothingOld) {
  Serve(ReplicaPair::Kind::kSemiSynchronous);
  Terms terms;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 5; ++j) {
      const uint64_t term = terms.Take(A());
      EXPECT_EQ(Leader(B(), "orders").term(), term);
    }
    pair_->SwitchOver();
    const uint64_t term = terms.Take(A());
    EXPECT_EQ(FirstTermRead(B()), term);
  }

  EXPECT_EQ(*terms.given().rbegin(), 18U);
  EXPECT_THAT(Errors(), Not(HasSubstr("lost commits")));
}

// Nothing is lost, but the new source does not show that.
TEST_P(ReplicationTest, APlannedSwitchOfAnAsynchronousPairCountsAsALoss) {
  Serve(ReplicaPair::Kind::kAsynchronous);
  Terms terms;
  uint64_t last = 0;
  for (int losses = 1; losses <= 3; ++losses) {
    for (int i = 0; i < 5; ++i) last = terms.Take(A());
    pair_->SwitchOver();
    const uint64_t term = terms.Take(A());
    EXPECT_GT(term, last + 1) << "terms were not raised";
    EXPECT_EQ(FirstTermRead(B()), term);
    EXPECT_EQ(pair_->source().Ask("SELECT COUNT(*) FROM tenure.lineage WHERE state = 2"),
              std::to_string(losses));
  }

  EXPECT_THAT(terms.given(), SizeIs(18));
}

}  // namespace
}  // namespace tenure::testing
