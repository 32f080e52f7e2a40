// The engine decides from memory what it knows, and is corrected by the database.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "server/engine/engine_testing.h"

namespace tenure::engine {
namespace {

using namespace tenure::testing;

using namespace std::chrono_literals;

// By then every replica has read the database's clock.
constexpr auto kClockSeen = 1s;  // a beat

class MemoryTest : public ::testing::Test {
 protected:
  MemoryTest() {
    EXPECT_THAT(a_.Do(Stand("orders", "a")), AnswersElected());
    Forget();
  }

  // Counts from here.
  void Forget() {
    held_ = a_.metrics.transactions_from_memory.Value();
    refused_ = a_.metrics.transactions_refused.Value();
  }
  [[nodiscard]] double held() const { return a_.metrics.transactions_from_memory.Value() - held_; }
  [[nodiscard]] double refused() const {
    return a_.metrics.transactions_refused.Value() - refused_;
  }

  [[nodiscard]] Election Stored() {
    return world_.store().ReadElections({{"orders"}}).value().at({"orders"}).election;
  }
  // Applies the command without notifying anybody.
  void Behind(const Command& command) {
    EXPECT_TRUE(world_.store().Transact(LockSetOf({&command}), {}, [&](TransactionState& it) {
      EXPECT_TRUE(Apply(it, Limits(), command));
    }));
  }

  World world_;
  Replica& a_ = world_.Start();
  double held_ = 0;
  double refused_ = 0;
};

TEST_F(MemoryTest, AChangeOfWhatThisReplicaCommittedIsDecidedFromMemory) {
  EXPECT_TRUE(a_.Do(Leave("orders", "a")));
  EXPECT_THAT(a_.Do(Stand("orders", "a")), AnswersElected());
  EXPECT_THAT(a_.Do(Stand("orders", "a")), AnswersElected());  // has no event
  EXPECT_TRUE(a_.Do(Say("orders", "a", {2}, "v")));

  EXPECT_EQ(held(), 3);
  EXPECT_EQ(refused(), 0);
  EXPECT_EQ(Stored().term, Term{2});
  EXPECT_EQ(Stored().leader->value, "v");
}

TEST_F(MemoryTest, ItsWatchersAreNotifiedAsUsual) {
  const Watching watching(a_.engine.hub(), {WatchElection{{"orders"}}});

  EXPECT_TRUE(a_.Do(Leave("orders", "a")));
  EXPECT_TRUE(a_.Do(Stand("orders", "b")));

  EXPECT_THAT(watching.lines(), ::testing::ElementsAre("orders 2 VACATED a term 1 RESIGNED",
                                                       "orders 3 ELECTED b term 2"));
}

TEST_F(MemoryTest, AnElectionInWhichSomebodyWaitsIsLocked) {
  EXPECT_THAT(a_.Do(Stand("orders", "b")), AnswersStanding());

  EXPECT_TRUE(a_.Do(Leave("orders", "a")));

  EXPECT_EQ(held(), 0);
  EXPECT_EQ(Stored().leader->candidate, "b");
}

TEST_F(MemoryTest, AKnownChangeOfAnotherReplicaIsNotDecidedFromMemory) {
  Replica& b = world_.Start();
  EXPECT_TRUE(b.Do(Leave("orders", "a")));
  world_.Advance(kClockSeen);
  Forget();

  EXPECT_THAT(a_.Do(Stand("orders", "a")), AnswersElected());

  EXPECT_EQ(held(), 0);
  EXPECT_EQ(refused(), 0);
  EXPECT_EQ(Stored().term, Term{2});
}

TEST_F(MemoryTest, AnUnnoticedChangeIsRefusedOnceAndThenKnown) {
  Behind(Leave("orders", "a"));

  EXPECT_THAT(a_.Do(Leave("orders", "a")), Answers(ResignOutcome::kNotStanding));
  EXPECT_EQ(refused(), 1);
  EXPECT_EQ(held(), 0);

  EXPECT_THAT(a_.Do(Stand("orders", "a")), AnswersElected());
  EXPECT_EQ(held(), 1);
  EXPECT_EQ(Stored().term, Term{2});
}

TEST_F(MemoryTest, ASessionThatEndedUnnoticedIsNotElected) {
  EXPECT_TRUE(a_.Do(Leave("orders", "a")));
  EXPECT_TRUE(world_.store().Transact({{}, {Id("a")}}, {}, [](TransactionState& it) {
    EXPECT_TRUE(EndSession(it, Id("a"), Cause::kDeposed));
  }));

  EXPECT_THAT(a_.Do(Stand("orders", "a")), FailsWith(Reason::kSessionEnded));

  EXPECT_FALSE(Stored().leader);
}

TEST_F(MemoryTest, DecisionsFromMemoryAreForTheOwnerOnly) {
  const Principal owner{"team", {}};
  const Principal other{"others", {}};
  Campaign campaign = Stand("jobs", "b");
  campaign.principal = owner;
  ASSERT_THAT(a_.Do(campaign), AnswersElected());
  Resign resign = Leave("jobs", "b");
  resign.principal = other;

  EXPECT_THAT(a_.Renew(Id("b"), other), FailsWith(Reason::kSessionNotFound));
  EXPECT_THAT(a_.Do(resign), FailsWith(Reason::kSessionNotFound));
  EXPECT_EQ(refused(), 0);

  Forget();
  EXPECT_TRUE(a_.Renew(Id("b"), owner));
  resign.principal = owner;
  EXPECT_THAT(a_.Do(resign), AnswersResigned(Term{1}));
  EXPECT_EQ(held(), 1);
}

// The two share a transaction.
TEST_F(MemoryTest, ARenewalByAnotherIdentityDelaysNobody) {
  const Principal other{"others", {}};
  Campaign campaign = Stand("jobs", "b");
  campaign.principal = {"team", {}};
  ASSERT_THAT(a_.Do(campaign), AnswersElected());
  const Reply<Session> own;
  const Reply<Session> stolen;

  a_.engine.Renew(Id("a"), other, own);
  a_.engine.Renew(Id("b"), other, stolen);
  a_.Run();

  EXPECT_TRUE(own.get());
  EXPECT_THAT(stolen.get(), FailsWith(Reason::kSessionNotFound));
}

// Events have the database's time.
TEST_F(MemoryTest, AfterTheClockWasSetNothingIsDecidedFromMemory) {
  for (const Duration step : {Duration(1h), Duration(-1h)}) {
    EXPECT_TRUE(a_.Do(Leave("orders", "a")));
    world_.Advance(kClockSeen);
    Forget();
    world_.database().StepClock(step);

    EXPECT_THAT(a_.Do(Stand("orders", "a")), AnswersElected());

    EXPECT_EQ(held(), 0);
    EXPECT_EQ(refused(), 1);
    EXPECT_EQ(Stored().leader->elected_at, world_.database().Now());
    world_.Advance(kClockSeen);
    Forget();
    EXPECT_TRUE(a_.Do(Leave("orders", "a")));
    EXPECT_EQ(held(), 1);
    EXPECT_THAT(a_.Do(Stand("orders", "a")), AnswersElected());
  }
}

TEST_F(MemoryTest, ALostCommitReplyGrantsNoTermTwice) {
  a_.store.LoseReplies(1, "Transact");

  EXPECT_THAT(a_.Do(Leave("orders", "a")), FailsWith(Reason::kStoreUnavailable));
  EXPECT_THAT(a_.Do(Stand("orders", "a")), AnswersElected());

  EXPECT_EQ(Stored().term, Term{2});
  EXPECT_EQ(Stored().revision, Revision{3});
}

}  // namespace
}  // namespace tenure::engine
