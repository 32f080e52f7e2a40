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
TEST_F(OutageUseTest, WhatWaitsForATransactionThatHangsIsRefusedAsUnavailable) {
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

// It waits for others' locks: that says nothing of the database.
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

TEST_F(OutageUseTest, WhatWaitsForASilentDatabaseIsRefusedAsUnavailable) {
  for (const Work work : {Work::kFeed, Work::kBackground, Work::kReads, Work::kCommands}) {
    a_.scheduler.Hold(work);
  }
  const Reply<std::optional<Election>> first;
  const Reply<Answer> stands;
  a_.engine.ReadElection({"orders"}, false, first);
  a_.engine.Submit(Stand("mail", "d"), stands);
  world_.Advance(1001ms);

  EXPECT_THAT(a_.engine.AdmitRead(), FailsWith(Reason::kStoreUnavailable));
  EXPECT_THAT(a_.engine.AdmitCampaign(), FailsWith(Reason::kStoreUnavailable));
  const Reply<std::optional<Election>> second;
  a_.engine.ReadElection({"orders"}, false, second);
  a_.scheduler.Release(Work::kReads);
  a_.Run();
  EXPECT_THAT(second.get(), FailsWith(Reason::kStoreUnavailable));
}

TEST_F(OutageUseTest, AfterALongOutageTheIncumbentGoesFirst) {
  TakeDatabaseAway(kLong);
  world_.Advance(500ms);
  ASSERT_EQ(Leader(), std::nullopt);

  EXPECT_THAT(a_.Do(Stand("orders", "c")), AnswersStanding());
  Campaign again = Stand("orders", "a/2");
  again.opening->candidate = "a";
  EXPECT_THAT(a_.Do(again), AnswersElected());
  EXPECT_EQ(a_.metrics.seats_returned.Value(), 1);
}

TEST_F(OutageUseTest, ACommandInTheFirstMomentAfterAnOutageKnowsOfIt) {
  a_.store.FailAll();
  world_.Advance(kLong);
  a_.scheduler.Hold(Work::kFeed);  // no poll has been answered yet
  a_.store.Heal();

  EXPECT_THAT(a_.Do(Stand("orders", "c")), AnswersStanding());
  EXPECT_EQ(Leader(), std::nullopt);
}

TEST_F(OutageUseTest, WhoWasElectedBetweenTwoOutagesHasTheLastBehindIt) {
  TakeDatabaseAway(kLong);
  world_.Advance(1s);
  Campaign again = Stand("orders", "a/2");
  again.opening->candidate = "a";
  ASSERT_THAT(a_.Do(again), AnswersElected());
  TakeDatabaseAway(kLease * 3 / 4);

  EXPECT_TRUE(a_.Do(Leave("orders", "a/2")));

  EXPECT_EQ(Leader(), std::nullopt);
}

TEST_F(OutageUseTest, AnIncumbentThatDoesNotComeBackIsWaitedForForAShortTime) {
  TakeDatabaseAway(kLong);

  world_.Advance(1900ms);
  EXPECT_EQ(Leader(), std::nullopt);
  world_.Advance(1s);
  EXPECT_EQ(Leader(), "b");
  EXPECT_EQ(a_.metrics.seats_returned.Value(), 0);
}

TEST_F(OutageUseTest, AReplicaThatStartsWithoutItsDatabaseKeepsSeatsForIncumbents) {
  Replica& late = world_.Add();
  late.store.FailAll();
  a_.store.FailAll();
  EXPECT_FALSE(late.engine.Start());
  world_.Advance(kLong);
  late.store.Heal();

  EXPECT_TRUE(late.engine.Start());
  late.Run();
  world_.Advance(1500ms);  // until it ends leases (DatabaseClock::kFamiliarAfter)

  EXPECT_EQ(Leader(), std::nullopt);
}

// As on a full disk.
TEST_F(OutageUseTest, AStoreThatCannotBeWrittenIsAway) {
  int failures = 0;
  a_.engine.WhenATransactionFails([&] { ++failures; });
  a_.store.FailNext(1, "Transact");
  EXPECT_FALSE(a_.Do(Stand("orders", "c")));
  EXPECT_EQ(failures, 1);
  world_.Advance(5s);
  EXPECT_TRUE(a_.engine.StoreAnswers());  // one failure says nothing

  a_.engine.Announced({});
  a_.engine.Announced(Fail(Reason::kStoreUnavailable, "the disk is full"));
  world_.Advance(2s);
  EXPECT_FALSE(a_.engine.StoreAnswers());
  EXPECT_EQ(a_.engine.write_fault()->message, "the disk is full");

  a_.engine.Announced({});
  world_.Advance(500ms);
  EXPECT_TRUE(a_.engine.StoreAnswers());
  EXPECT_FALSE(a_.engine.write_fault());
}

TEST_F(OutageUseTest, WhereTransactionsCommitAnAnnouncementThatFailsSaysNothing) {
  ASSERT_TRUE(a_.Do(Stand("mail", "c")));
  a_.engine.Announced(Fail(Reason::kStoreUnavailable, "no right to do this"));

  EXPECT_FALSE(a_.engine.write_fault());
}

TEST_F(OutageUseTest, AfterALongTimeWithoutWritesTheIncumbentGoesFirst) {
  a_.engine.Announced({});
  a_.engine.Announced(Fail(Reason::kStoreUnavailable, "the disk is full"));
  a_.store.FailNext(1'000'000, "Transact");
  world_.Advance(kLong);
  a_.store.Heal();
  a_.engine.Announced({});
  world_.Advance(500ms);
  ASSERT_EQ(Leader(), std::nullopt);

  Campaign again = Stand("orders", "a/2");
  again.opening->candidate = "a";
  EXPECT_THAT(a_.Do(again), AnswersElected());
}

TEST_F(OutageUseTest, ADeadLeadersSeatIsNotKeptWithoutAnOutage) {
  world_.Advance(kLease + 600ms);

  EXPECT_EQ(Leader(), "b");
}

}  // namespace
}  // namespace tenure::engine
