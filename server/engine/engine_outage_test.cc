// The engine when its database was away for longer than leases last.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "server/engine/engine_testing.h"

namespace tenure::engine {
namespace {

using namespace tenure::testing;
using ::testing::StartsWith;

using namespace std::chrono_literals;

constexpr auto kLong = 2 * kLease;

class OutageUseTest : public ::testing::Test {
 protected:
  OutageUseTest() {
    EXPECT_TRUE(a_.Do(Stand("orders", "a")));
    EXPECT_TRUE(a_.Do(Stand("orders", "b", 1h)));
  }

  void TakeDatabaseAway(SteadyTime::duration length) {
    a_.store.FailAll();
    world_.Advance(length);
    a_.store.Heal();
  }
  // Nothing while the seat is vacant.
  std::optional<std::string> Leader() {
    const auto election =
        world_.store().ReadElections({{"orders"}}).value().at({"orders"}).election;
    return election.leader ? std::optional(election.leader->candidate) : std::nullopt;
  }

  World world_;
  Replica& a_ = world_.Start();
};

TEST_F(OutageUseTest, FailedTransactionsAreLoggedEveryTenSeconds) {
  const auto lines_after = [&](SteadyTime::duration pause, int failures) {
    ::testing::internal::CaptureStdout();
    world_.Advance(pause);
    for (; failures > 0; --failures) (void)a_.Do(Stand("mail", "c"));
    const std::string log = ::testing::internal::GetCapturedStdout();
    return std::ranges::count(log, '\n');
  };
  ASSERT_TRUE(a_.Close(Id("a")));  // nothing expires meanwhile
  a_.store.FailNext(1'000, "Transact");

  EXPECT_EQ(lines_after(0s, 3), 1);
  EXPECT_EQ(lines_after(9s, 1), 0);
  EXPECT_EQ(lines_after(2s, 2), 1);
}

// Its reads are answered meanwhile, as under FLUSH TABLES WITH READ LOCK.
TEST_F(OutageUseTest, WorkBehindATransactionThatHangsIsRefusedAsUnavailable) {
  const Reply<Answer> waiting;
  bool hangs = true;
  std::vector<Result<void>> admitted;
  a_.store.Before([&](const std::string& call) {
    if (call != "Transact" || !std::exchange(hangs, false)) return;
    a_.engine.Submit(Stand("mail", "d"), waiting);
    world_.Advance(1001ms);
    admitted.push_back(a_.engine.AdmitCampaign());
  });

  (void)a_.Do(Stand("mail", "c"));

  ASSERT_EQ(admitted.size(), 1u);
  EXPECT_THAT(admitted[0], FailsWith(Reason::kStoreUnavailable));
  EXPECT_TRUE(a_.engine.AdmitCampaign());
}

// It waits for others' locks, which says nothing about the database.
TEST_F(OutageUseTest, ATransactionThatWaitsForLocksDoesNotHang) {
  constexpr int kTriesBeforePatience = 12;
  std::vector<Result<void>> admitted;
  a_.store.Lock({"mail"});
  a_.store.Before([&](const std::string& call) {
    const bool waits =
        call == "Transact" && a_.metrics.commands_busy.Value() >= kTriesBeforePatience;
    if (!waits || !admitted.empty()) return;
    a_.scheduler.Hold(Work::kCommands);
    a_.engine.Submit(Stand("jobs", "d"), Reply<Answer>());
    world_.Advance(1001ms);
    admitted.push_back(a_.engine.AdmitCampaign());
  });

  (void)a_.engine.Submit(Stand("mail", "c"), Reply<Answer>());
  world_.Advance(1s);

  ASSERT_EQ(admitted.size(), 1u);
  EXPECT_THAT(admitted[0], FailsWith(Reason::kOverloaded));
}

TEST_F(OutageUseTest, WorkForASilentDatabaseIsRefusedAsUnavailable) {
  for (const Work work : {Work::kRenewals, Work::kReads, Work::kCommands}) {
    a_.scheduler.Hold(work);
  }
  const Reply<std::optional<Election>> first;
  const Reply<Answer> stands;
  a_.engine.ReadElection({"orders"}, false, first);
  a_.engine.Submit(Stand("mail", "d"), stands);
  world_.Advance(3s);

  EXPECT_THAT(a_.engine.AdmitRead(), FailsWith(Reason::kStoreUnavailable));
  EXPECT_THAT(a_.engine.AdmitCampaign(), FailsWith(Reason::kStoreUnavailable));
  const Reply<std::optional<Election>> second;
  a_.engine.ReadElection({"orders"}, false, second);
  a_.scheduler.Release(Work::kReads);
  a_.Run();
  EXPECT_THAT(second.get(), FailsWith(Reason::kStoreUnavailable));
}

// Its client renews it when the database is back, before its lease expires by the service clock.
TEST_F(OutageUseTest, AnOutageOfAnyLengthEndsNothing) {
  TakeDatabaseAway(100 * kLease);
  world_.Advance(1s);

  EXPECT_TRUE(a_.Renew(Id("a")));
  world_.Advance(kLease - 1s);

  EXPECT_EQ(Leader(), "a");
  EXPECT_EQ(a_.metrics.failovers.Value(), 0);
}

TEST_F(OutageUseTest, TimeWithoutWritesEndsNothing) {
  a_.store.FailNext(1'000'000, "Transact");
  a_.store.FailNext(1'000'000, "Beat");
  world_.Advance(kLong);
  a_.store.Heal();
  world_.Advance(1s);
  EXPECT_TRUE(a_.Renew(Id("a")));

  world_.Advance(kLease - 1s);

  EXPECT_EQ(Leader(), "a");
}

// As on a full disk. Reads work.
TEST_F(OutageUseTest, AStoreThatCannotBeWrittenIsAway) {
  a_.store.FailNext(1, "Transact");
  EXPECT_FALSE(a_.Do(Stand("orders", "c")));
  world_.Advance(5s);
  EXPECT_TRUE(a_.engine.StoreAnswers());  // one failure says nothing

  a_.store.FailNext(1'000'000, "Beat");
  world_.Advance(4s);
  EXPECT_FALSE(a_.engine.StoreAnswers());
  EXPECT_FALSE(a_.engine.Ready());
  EXPECT_THAT(a_.engine.status().why_not, StartsWith("cannot write to the database: "));

  a_.store.Heal();
  world_.Advance(1s);
  EXPECT_TRUE(a_.engine.Ready());
  EXPECT_FALSE(a_.engine.beat_fault());
}

TEST_F(OutageUseTest, ADeadLeaderIsReplacedOnceItsLeaseExpires) {
  world_.Advance(kLease + 600ms);

  EXPECT_EQ(Leader(), "b");
}

}  // namespace
}  // namespace tenure::engine
