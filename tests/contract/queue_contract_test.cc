// What a transaction reads and locks of a queue. See store_contract.h.
#include <chrono>
#include <optional>
#include <string>

#include "tests/contract/store_contract.h"

namespace tenure::testing {
namespace {

using namespace std::chrono_literals;

class QueueContract : public StoreContract {
 protected:
  void SetUp() override {
    if (GetParam() != Kind::kServer) GTEST_SKIP() << "SQLite runs one transaction at a time";
    StoreContract::SetUp();
    Stand("e", leads_, "a");
    Stand("e", first_, "b");
    Stand("e", second_, "c");
  }

  // Whether another transaction could lock a session now.
  bool IsFree(const SessionId& session) {
    bool free = false;
    EXPECT_TRUE(Open()->Transact({{}, {session}}, {}, [&](TransactionState& transaction) {
      free = transaction.busy_sessions.empty();
    }));
    return free;
  }

  std::string LeaderOf(const std::string& election) {
    const ElectionView view = View(election);
    return view.election.leader ? view.election.leader->candidate : "";
  }

  const SessionId leads_ = NewSessionId();
  const SessionId first_ = NewSessionId();
  const SessionId second_ = NewSessionId();
  const Command resign_ = Resign{{"e"}, leads_, {}};
};

INSTANTIATE_TEST_SUITE_P(Stores, QueueContract,
                         ::testing::Values(Kind::kSqliteMemory, Kind::kSqliteFile, Kind::kServer),
                         KindName);

// Each message to the server is one row of its general log.
TEST_P(QueueContract, AHandOverTakesTwoMessages) {
  if (SeveralServersWrite()) GTEST_SKIP() << "each statement is a message";
  if (ServerName() != "MariaDb") GTEST_SKIP() << "MySQL logs each statement";
  Server().Ask("SET GLOBAL log_output = 'TABLE', general_log = 1");

  const auto answer = Run(resign_);

  Server().Ask("SET GLOBAL general_log = 0");
  EXPECT_TRUE(answer);
  EXPECT_EQ(LeaderOf("e"), "b");
  EXPECT_EQ(Server().Ask("SELECT COUNT(*) FROM mysql.general_log WHERE command_type = 'Query'"
                         " AND argument NOT LIKE 'SET GLOBAL %'"),
            "2");
  Server().Ask("TRUNCATE mysql.general_log");
}

TEST_P(QueueContract, ASuccessorThatAnotherTransactionHasLockedIsNotPassedOver) {
  const auto other = Open();

  EXPECT_TRUE(other->Transact({{}, {first_}}, {}, [&](TransactionState&) {
    EXPECT_EQ(ReasonOf(Run(resign_)), Reason::kOverloaded);
  }));

  EXPECT_EQ(LeaderOf("e"), "a");
  EXPECT_TRUE(Run(resign_));
  EXPECT_EQ(LeaderOf("e"), "b");
}

// Whoever holds it holds the first session; a resignation would need the second one, too.
// Otherwise, two replicas that end the same term would keep each other from the successor.
TEST_P(QueueContract, TheQueueOfALockedElectionIsNotLocked) {
  const auto other = Open();

  EXPECT_TRUE(other->Transact({{{{"e"}, {}}}}, {}, [&](TransactionState&) {
    const auto busy =
        store_->Transact(LockSetOf({resign_}), {}, [&](TransactionState& transaction) {
          EXPECT_TRUE(transaction.busy.contains({"e"}));
          EXPECT_TRUE(IsFree(second_));
        });
    EXPECT_TRUE(busy);
  }));
}

}  // namespace
}  // namespace tenure::testing
