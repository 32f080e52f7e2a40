// The statement, the meaning of errors, and the order of statements.
// tests/rpc/guarded_transaction_test.cc runs them against a database.
#include "tenure/sql_fence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <stdexcept>
#include <vector>

namespace tenure {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

const SqlError kDeadlock{1213, "Deadlock found when trying to get lock; try restarting"};
const SqlError kRefused{1644, "tenure_fence: term 7 of election 'e' does not stand"};
const SqlError kDuplicate{1062, "Duplicate entry"};

// --- The statement ---

TEST(SqlFenceTest, TheStatementCallsTheProcedureWithTheTerm) {
  const SqlFence fence{"e", 7};

  EXPECT_EQ(fence.Statement(), "CALL `tenure`.tenure_fence(_utf8mb4 x'65', 7)");
}

TEST(SqlFenceTest, AnyNameIsWrittenWithoutEscaping) {
  const SqlFence fence{"a'b\\\xc3\xa9", 7};

  EXPECT_EQ(fence.Statement(), "CALL `tenure`.tenure_fence(_utf8mb4 x'6127625cc3a9', 7)");
}

TEST(SqlFenceTest, TheLargestTermIsAccepted) {
  const SqlFence fence{"e", UINT64_MAX};

  EXPECT_EQ(fence.Statement(), "CALL `tenure`.tenure_fence(_utf8mb4 x'65', 18446744073709551615)");
}

TEST(SqlFenceTest, TheNameOfTheDatabaseIsQuoted) {
  const SqlFence fence{"e", 7, "my `own`"};

  EXPECT_EQ(fence.Statement(), "CALL `my ``own```.tenure_fence(_utf8mb4 x'65', 7)");
}

// --- Errors ---

struct ErrorCase {
  const char* name;
  SqlError error;
  SqlErrorMeaning meaning;
};

void PrintTo(const ErrorCase& error_case, std::ostream* out) { *out << error_case.name; }

class SqlErrorTest : public ::testing::TestWithParam<ErrorCase> {};

TEST_P(SqlErrorTest, EachErrorHasItsMeaning) {
  EXPECT_EQ(MeaningOf(GetParam().error), GetParam().meaning);
}

INSTANTIATE_TEST_SUITE_P(
    Each, SqlErrorTest,
    ::testing::Values(
        ErrorCase{"Refused", kRefused, SqlErrorMeaning::kTermOver},
        ErrorCase{"RefusedAsADriverTellsIt",
                  {1644, "(conn=42) tenure_fence: term 7 of election 'e' does not stand"},
                  SqlErrorMeaning::kTermOver},
        ErrorCase{"ASignalOfTheApplication", {1644, "no such stock"}, SqlErrorMeaning::kOther},
        ErrorCase{"AnotherErrorThatQuotesIt", {1064, kRefused.message}, SqlErrorMeaning::kOther},
        ErrorCase{"Deadlock", kDeadlock, SqlErrorMeaning::kTryAgain},
        ErrorCase{"LockWaitTimeout", {1205, ""}, SqlErrorMeaning::kTryAgain},
        ErrorCase{"RecordHasChanged", {1020, ""}, SqlErrorMeaning::kTryAgain},
        ErrorCase{"NotCertified", {3101, ""}, SqlErrorMeaning::kTryAgain},
        ErrorCase{"DeadlockDuringCommit",
                  {1180, "Got error 149 - 'Lock deadlock; Retry transaction' during COMMIT"},
                  SqlErrorMeaning::kTryAgain},
        ErrorCase{"AnotherErrorDuringCommit", {1180, "Got error 28"}, SqlErrorMeaning::kOther},
        ErrorCase{"NoSuchProcedure", {1305, ""}, SqlErrorMeaning::kOther},
        ErrorCase{"NoRight", {1370, ""}, SqlErrorMeaning::kOther},
        ErrorCase{"ConnectionLost", {2013, ""}, SqlErrorMeaning::kOther},
        ErrorCase{"Duplicate", kDuplicate, SqlErrorMeaning::kOther},
        ErrorCase{"NotTheServers", {0, "tenure_fence: term "}, SqlErrorMeaning::kOther}),
    [](const auto& info) { return info.param.name; });

// --- Guarded ---

class GuardedTest : public ::testing::Test {
 protected:
  // The next statement equal to this one fails.
  void FailOn(const std::string& statement, const SqlError& error) {
    failures_.emplace_back(statement, error);
  }

  SqlResult Run(const std::string& statement) {
    sent_.push_back(statement);
    if (failures_.empty() || failures_.front().first != statement) return {};
    const SqlError error = failures_.front().second;
    failures_.pop_front();
    return tl::unexpected(error);
  }

  SqlResult RunGuarded() {
    return Guarded(run_, fence_, [&] { return Run("WORK"); });
  }

  const SqlFence fence_{"e", 7};
  const std::string guard_ = fence_.Statement();
  const std::function<SqlResult(const std::string&)> run_ = [&](const auto& statement) {
    return Run(statement);
  };
  std::vector<std::string> sent_;

 private:
  std::deque<std::pair<std::string, SqlError>> failures_;
};

TEST_F(GuardedTest, TheFenceIsSentFirstThenTheWorkThenTheCommit) {
  const SqlResult result = RunGuarded();

  EXPECT_TRUE(result);
  EXPECT_THAT(sent_, ElementsAre("START TRANSACTION", guard_, "WORK", "COMMIT"));
}

TEST_F(GuardedTest, NoWorkIsDoneInATermThatHasEnded) {
  FailOn(guard_, kRefused);

  const SqlResult result = RunGuarded();

  EXPECT_EQ(result, tl::unexpected(kRefused));
  EXPECT_THAT(sent_, ElementsAre("START TRANSACTION", guard_, "ROLLBACK"));
}

TEST_F(GuardedTest, ARetryStartsWithTheFence) {
  FailOn("WORK", kDeadlock);

  const SqlResult result = RunGuarded();

  EXPECT_TRUE(result);
  EXPECT_THAT(sent_, ElementsAre("START TRANSACTION", guard_, "WORK", "ROLLBACK",
                                 "START TRANSACTION", guard_, "WORK", "COMMIT"));
}

TEST_F(GuardedTest, AConflictAtTheCommitIsRetried) {
  FailOn("COMMIT", kDeadlock);

  const SqlResult result = RunGuarded();

  EXPECT_TRUE(result);
  EXPECT_THAT(sent_, ElementsAre("START TRANSACTION", guard_, "WORK", "COMMIT", "ROLLBACK",
                                 "START TRANSACTION", guard_, "WORK", "COMMIT"));
}

TEST_F(GuardedTest, RetriesStopWhenTheTermEnds) {
  FailOn("WORK", kDeadlock);
  FailOn(guard_, kRefused);

  const SqlResult result = RunGuarded();

  EXPECT_EQ(result, tl::unexpected(kRefused));
  EXPECT_THAT(sent_, ElementsAre("START TRANSACTION", guard_, "WORK", "ROLLBACK",
                                 "START TRANSACTION", guard_, "ROLLBACK"));
}

TEST_F(GuardedTest, RetriesStopAtTheirMaximum) {
  for (int i = 0; i < kGuardedTriesMax; ++i) FailOn("WORK", kDeadlock);

  const SqlResult result = RunGuarded();

  EXPECT_EQ(result, tl::unexpected(kDeadlock));
  EXPECT_THAT(sent_, SizeIs(4 * kGuardedTriesMax));
  EXPECT_EQ(sent_.back(), "ROLLBACK");
}

TEST_F(GuardedTest, AnyOtherErrorIsReturnedAfterARollback) {
  FailOn("WORK", kDuplicate);

  const SqlResult result = RunGuarded();

  EXPECT_EQ(result, tl::unexpected(kDuplicate));
  EXPECT_THAT(sent_, ElementsAre("START TRANSACTION", guard_, "WORK", "ROLLBACK"));
}

TEST_F(GuardedTest, TheErrorOfTheRollbackIsNotReturned) {
  FailOn("WORK", kDuplicate);
  FailOn("ROLLBACK", kDeadlock);

  EXPECT_EQ(RunGuarded(), tl::unexpected(kDuplicate));
}

TEST_F(GuardedTest, AnExceptionFromTheWorkCausesARollback) {
  const auto throwing = [&]() -> SqlResult { throw std::runtime_error("thrown"); };

  EXPECT_THROW((void)Guarded(run_, fence_, throwing), std::runtime_error);
  EXPECT_THAT(sent_, ElementsAre("START TRANSACTION", guard_, "ROLLBACK"));
}

}  // namespace
}  // namespace tenure
