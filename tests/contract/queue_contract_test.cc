// What a transaction reads and locks of a queue. See store_contract.h.
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "tests/contract/gate.h"
#include "tests/contract/store_contract.h"

namespace tenure::testing {
namespace {

using namespace std::chrono_literals;

class QueueContract : public StoreContract {
 protected:
  void SetUp() override {
    StoreContract::SetUp();
    Stand("e", leads_, "a");
    Stand("e", first_, "b");
    Stand("e", second_, "c");
    AddElections();
  }

  // A few processes with many elections, as in a database in use: a query plan would rather read
  // sessions first.
  static void AddElections() {
    const std::string digits =
        "(SELECT 0 d UNION SELECT 1 UNION SELECT 2 UNION SELECT 3 UNION SELECT 4 UNION SELECT 5"
        " UNION SELECT 6 UNION SELECT 7 UNION SELECT 8 UNION SELECT 9)";
    const Finished added = Server().Query(
        "INSERT INTO tenure.elections (name) SELECT CONCAT('x', a.d, b.d, c.d) FROM " + digits +
        " a JOIN " + digits + " b JOIN " + digits +
        " c; ANALYZE TABLE tenure.elections, tenure.sessions");
    EXPECT_EQ(added.exit_code, 0) << added.errors;
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

// SQLite runs one transaction at a time, and sends no messages.
INSTANTIATE_TEST_SUITE_P(Stores, QueueContract, ::testing::Values(Kind::kServer), KindName);

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
  Server().Ask("SET GLOBAL log_output = DEFAULT; TRUNCATE mysql.general_log");
}

// The other transaction has locked the first session. If the second one were locked here, two
// replicas that end the same term could block each other.
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

// The transaction starts again, without what it had locked of the queue.
TEST_P(QueueContract, NoSessionOfAQueueIsLockedWhileAnElectionIsMade) {
  Gate gate("BEFORE INSERT ON tenure.elections");
  std::vector<Result<Answer>> answers;
  std::thread slow([&] {
    const Campaign campaign{{"new"}, NewSessionId(), Campaign::Opening{"d", 60s}, {}, "v", 0, {7}};
    answers = Run(*store_, {resign_, campaign});
  });
  gate.WaitUntilOneWaits();

  EXPECT_TRUE(IsFree(first_));
  EXPECT_TRUE(IsFree(second_));
  gate.Open();
  slow.join();

  for (const auto& answer : answers) EXPECT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(LeaderOf("e"), "b");
  EXPECT_EQ(LeaderOf("new"), "d");
}

}  // namespace
}  // namespace tenure::testing
