// The engine when the database's clock is set: leases follow it, and nothing is decided before they
// have.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "server/engine/engine_testing.h"

namespace tenure::engine {
namespace {

using namespace tenure::testing;

using namespace std::chrono_literals;

// By then every replica has seen what the clock shows, and when leases end.
constexpr auto kNoticed = 550ms;

class ClockTest : public ::testing::Test {
 protected:
  ClockTest() {
    EXPECT_TRUE(a_.Do(Stand("orders", "a")));
    EXPECT_TRUE(a_.Do(Stand("orders", "b", 60s)));
    world_.Advance(1s);
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

TEST_F(ClockTest, ALeaderKeepsItsSeatWhenTheClockJumpsAhead) {
  world_.database().StepClock(1h);
  world_.Advance(kNoticed);

  EXPECT_TRUE(a_.Renew(Id("a")));
  EXPECT_EQ(Leader(), "a");
}

TEST_F(ClockTest, ADeadLeaderKeepsItsSeatForOneMoreLeaseWhenTheClockJumpsAhead) {
  world_.database().StepClock(1h);

  world_.Advance(kLease);
  EXPECT_EQ(Leader(), "a");
  world_.Advance(2 * kNoticed);
  EXPECT_EQ(Leader(), "b");
}

TEST_F(ClockTest, WhatIsAskedForWaitsUntilLeasesHaveFollowedAClockThatJumpedAhead) {
  const Reply<Answer> campaigned;
  const Reply<Session> renewed;
  const Reply<std::optional<Election>> read;
  world_.database().StepClock(1h);

  a_.engine.Submit(Stand("orders", "c"), campaigned);
  a_.engine.Renew(Id("a"), {}, renewed);
  a_.engine.ReadElection({"orders"}, false, read);
  a_.Run();
  EXPECT_FALSE(campaigned.arrived());
  EXPECT_FALSE(renewed.arrived());
  EXPECT_FALSE(read.arrived());
  world_.Advance(kNoticed + kLease / 100);

  EXPECT_THAT(campaigned.get(), AnswersStanding());
  EXPECT_TRUE(renewed.get());
  EXPECT_EQ(read.get().value()->leader->candidate, "a");
}

TEST_F(ClockTest, NothingIsDecidedAsLongAsLeasesCannotFollow) {
  world_.database().StepClock(1h);
  a_.store.FailNext(3, "ListUnended");

  const Reply<Answer> campaigned;
  a_.engine.Submit(Stand("orders", "c"), campaigned);

  world_.Advance(kNoticed);
  EXPECT_FALSE(campaigned.arrived());
  EXPECT_EQ(a_.metrics.database_clock_jumps.Value(), 0);

  world_.Advance(3 * kNoticed);
  EXPECT_THAT(campaigned.get(), AnswersStanding());
  EXPECT_EQ(Leader(), "a");
  EXPECT_EQ(a_.metrics.database_clock_jumps.Value(), 1);
}

TEST_F(ClockTest, ALeaseThatBeganWhileTheClockWasBackIsNotOverWhenItIsSetAhead) {
  world_.database().StepClock(-1min);
  // By a replica that has noticed it.
  ASSERT_TRUE(world_.store().Transact({{}, {Id("a")}}, {},
                                      [](TransactionState& it) { FollowClock(it, Id("a")); }));
  world_.database().StepClock(30s);

  const Reply<Answer> campaigned;
  a_.engine.Submit(Stand("orders", "c"), campaigned);
  a_.Run();
  world_.Advance(kNoticed + kLease / 100);

  EXPECT_THAT(campaigned.get(), AnswersStanding());
  EXPECT_EQ(Leader(), "a");
}

TEST_F(ClockTest, ADeadLeaderDoesNotKeepItsSeatWhenTheClockIsSetBack) {
  world_.database().StepClock(-1min);

  world_.Advance(kLease + 2 * kNoticed);

  EXPECT_EQ(Leader(), "b");
}

TEST_F(ClockTest, ALeaderThatRenewsKeepsItsSeatWhenTheClockIsSetBack) {
  world_.database().StepClock(-1min);

  for (int i = 0; i < 10; ++i) {
    world_.Advance(kLease / 3);
    EXPECT_TRUE(a_.Renew(Id("a")));
  }

  EXPECT_EQ(Leader(), "a");
}

TEST_F(ClockTest, EveryReplicaMayMoveTheLeases) {
  Replica& other = world_.Start();
  world_.Advance(1s);
  world_.database().StepClock(1h);

  world_.Advance(kLease);
  EXPECT_EQ(Leader(), "a");
  EXPECT_EQ(a_.metrics.database_clock_jumps.Value(), 1);
  EXPECT_EQ(other.metrics.database_clock_jumps.Value(), 1);
  world_.Advance(2 * kNoticed);
  EXPECT_EQ(Leader(), "b");
}

TEST_F(ClockTest, AReplicaThatStartsAfterAJumpEndsNoLease) {
  world_.database().StepClock(1h);
  Replica& young = world_.Start();
  const Reply<Answer> campaigned;
  const Reply<Session> renewed;
  young.engine.Submit(Stand("orders", "c"), campaigned);
  young.engine.Renew(Id("a"), {}, renewed);
  young.Run();
  EXPECT_EQ(Leader(), "a");

  world_.Advance(kNoticed + kLease / 100);

  EXPECT_THAT(campaigned.get(), AnswersStanding());
  EXPECT_TRUE(renewed.get());
  EXPECT_EQ(Leader(), "a");
}

TEST_F(ClockTest, AReplicaThatIsNotToldTheTimeWhenItStartsEndsNoLease) {
  Replica& young = world_.Add();
  young.store.FailNext(1, "FindDueWork");
  EXPECT_TRUE(young.engine.Start());
  young.Run();
  a_.scheduler.Hold(Work::kBackground);  // so that the young one is the first to look
  world_.database().StepClock(1h);
  world_.Advance(kNoticed);
  EXPECT_EQ(Leader(), "a");

  a_.scheduler.Release(Work::kBackground);
  world_.Advance(kLease / 2);

  EXPECT_EQ(Leader(), "a");
}

TEST_F(ClockTest, AReplicaThatStartsAloneSoonEndsWhatIsOver) {
  a_.scheduler.Die();
  world_.Advance(2 * kLease);

  world_.Start();
  world_.Advance(3 * kNoticed);

  EXPECT_NE(Leader(), "a");
}

TEST_F(ClockTest, WhatWaitedForAReplicaToKnowTheClockGoesOnTogether) {
  constexpr int kElections = 100;
  for (int i = 0; i < kElections; ++i) {
    EXPECT_TRUE(a_.Do(Stand("many/" + std::to_string(i), "a")));
  }
  a_.scheduler.Die();
  world_.Advance(2 * kLease);
  Replica& young = world_.Start();
  std::vector<Reply<Answer>> campaigned(kElections);
  for (int i = 0; i < kElections; ++i) {
    young.engine.Submit(Stand("many/" + std::to_string(i), "b", 60s), campaigned[i]);
  }
  world_.Advance(850ms);
  EXPECT_FALSE(campaigned.front().arrived());
  const double before = young.metrics.transactions.Value();

  world_.Advance(200ms);

  for (const auto& it : campaigned) EXPECT_TRUE(it.get());
  EXPECT_LT(young.metrics.transactions.Value() - before, kElections / 2);
}

TEST_F(ClockTest, AReplicaThatNeverKnowsTheClockSaysSo) {
  a_.scheduler.Die();
  world_.Advance(2 * kLease);
  Replica& young = world_.Add();
  young.store.FailNext(1'000'000, "FindDueWork");
  EXPECT_TRUE(young.engine.Start());
  const Reply<Answer> campaigned;
  young.engine.Submit(Stand("orders", "c"), campaigned);

  world_.Advance(Patience::kBusyPatience + kNoticed);

  EXPECT_EQ(campaigned.get().error().message, ClockNotTrusted().message);
}

TEST_F(ClockTest, AReplicaThatStartsRenewsTheLivingBesideWhatLooksOver) {
  a_.scheduler.Die();
  world_.Advance(kLease);
  Replica& young = world_.Start();
  const Reply<Session> over;
  const Reply<Session> alive;

  young.engine.Renew(Id("a"), {}, over);
  young.engine.Renew(Id("b"), {}, alive);
  young.Run();

  EXPECT_FALSE(over.arrived());
  ASSERT_TRUE(alive.arrived());
  EXPECT_TRUE(alive.get());
}

TEST_F(ClockTest, ALeaderWhoseSessionIsLockedWhenTheClockJumpsKeepsItsSeat) {
  a_.store.LockSession(Id("a"));
  world_.database().StepClock(1h);
  world_.Advance(kNoticed);
  a_.store.UnlockSession(Id("a"));

  world_.Advance(kNoticed);

  EXPECT_TRUE(a_.Renew(Id("a")));
  EXPECT_EQ(Leader(), "a");
}

TEST_F(ClockTest, MoreSessionsThanOneTransactionTakesAreMoved) {
  for (int i = 0; i < 1200; ++i) {
    a_.engine.Submit(Stand("many", "c" + std::to_string(i)), Reply<Answer>());
  }
  a_.Run();
  world_.database().StepClock(1h);
  world_.Advance(kNoticed);

  for (int i = 0; i < 1200; ++i) {
    EXPECT_TRUE(a_.Renew(Id("c" + std::to_string(i)))) << i;
  }
}

}  // namespace
}  // namespace tenure::engine
