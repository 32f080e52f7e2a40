// Replicas as the homes of sessions: renewals are answered from memory, and the database hears only
// of changes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "server/engine/engine_testing.h"

namespace tenure::engine {
namespace {

using namespace tenure::testing;
using namespace std::chrono_literals;
using ::testing::IsEmpty;

constexpr auto kShortly = 100ms;
constexpr auto kBeat = 1s;
constexpr auto kGoodFor = 3s;  // kHomeGoodFor
constexpr auto kRenewal = 3s;  // three in a lease

class HomeUseTest : public ::testing::Test {
 protected:
  Replica& StartHome() {
    Replica& replica = world_.Add();
    EXPECT_TRUE(replica.engine.Start());
    world_.Advance(kShortly);
    return replica;
  }

  // While time passes, the client renews its session at a replica.
  void RenewFor(Replica& replica, const std::string& name, SteadyTime::duration duration) {
    for (SteadyTime::duration passed{0}; passed < duration; passed += kRenewal) {
      world_.Advance(std::min<SteadyTime::duration>(kRenewal, duration - passed));
      EXPECT_TRUE(RenewNow(replica, name)) << name;
    }
  }
  Result<Session> RenewNow(Replica& replica, const std::string& name) {
    const Reply<Session> reply;
    replica.engine.Renew(Id(name), {}, reply);
    world_.Advance(kShortly);
    return reply.get();
  }

  Session Row(const std::string& name) {
    Session row;
    EXPECT_TRUE(world_.store().Transact({{}, {Id(name)}}, {}, [&](TransactionState& transaction) {
      row = transaction.sessions.at(Id(name));
    }));
    return row;
  }
  bool Lives(const std::string& name) { return Row(name).ended == Cause::kNone; }
  std::string Leader() {
    const auto election =
        world_.store().ReadElections({{"orders"}}).value().at({"orders"}).election;
    return election.leader ? election.leader->candidate : "";
  }
  // Session `a` falls silent, and for long it cannot be ended. The client of `b` goes on renewing.
  void LetEndsFail() {
    a_.store.FailNext(1'000, "Transact");
    for (int i = 0; i < 3; ++i) {
      world_.Advance(kRenewal);
      a_.engine.Renew(Id("b"), {}, [](const Result<Session>&) {});
    }
    world_.Advance(4 * kGoodFor);
    a_.store.Heal();
    world_.Advance(kBeat);
  }
  static void TakeDatabaseAway(Replica& replica) { replica.store.FailAll(); }
  void LetBothLoseTheDatabase(Replica& b) {
    for (Replica* const replica : {&a_, &b}) TakeDatabaseAway(*replica);
    world_.Advance(10 * kLease);
  }

  World world_;
  Replica& a_ = StartHome();
};

// --- Renewals ---

TEST_F(HomeUseTest, ARenewalDoesNotReachTheDatabase) {
  ASSERT_TRUE(a_.Do(Stand("orders", "a")));
  const int transactions = a_.store.Calls("Transact");

  for (int i = 0; i < 100; ++i) EXPECT_TRUE(a_.Renew(Id("a")));

  EXPECT_EQ(a_.store.Calls("Transact"), transactions);
}

TEST_F(HomeUseTest, ASessionThatIsRenewedLives) {
  ASSERT_TRUE(a_.Do(Stand("orders", "a")));

  RenewFor(a_, "a", 10 * kLease);

  EXPECT_EQ(Leader(), "a");
}

TEST_F(HomeUseTest, ASilentSessionEndsWhenItsLeaseHasPassed) {
  ASSERT_TRUE(a_.Do(Stand("orders", "a")));
  ASSERT_TRUE(a_.Do(Stand("orders", "b", 1h)));

  world_.Advance(kLease - kShortly);
  EXPECT_EQ(Leader(), "a");

  world_.Advance(2 * kShortly);
  EXPECT_EQ(Leader(), "b");
}

TEST_F(HomeUseTest, ARenewalByAnotherIdentityFindsNoSession) {
  Campaign campaign = Stand("orders", "a");
  campaign.principal = {"alice"};
  ASSERT_TRUE(a_.Do(campaign));

  EXPECT_THAT(a_.Renew(Id("a"), {"mallory"}), FailsWith(Reason::kSessionNotFound));
  EXPECT_TRUE(a_.Renew(Id("a"), {"alice"}));
}

TEST_F(HomeUseTest, ACampaignRenewsItsSession) {
  ASSERT_TRUE(a_.Do(Stand("orders", "a")));

  for (int i = 0; i < 5; ++i) {
    world_.Advance(kLease - kShortly);
    ASSERT_TRUE(a_.Do(Stand("orders", "a")));
  }

  EXPECT_EQ(Leader(), "a");
}

TEST_F(HomeUseTest, ASessionThatWasClosedIsNotRenewed) {
  ASSERT_TRUE(a_.Do(Stand("orders", "a")));
  ASSERT_TRUE(a_.Close(Id("a")));

  EXPECT_THAT(RenewNow(a_, "a"), FailsWith(Reason::kSessionEnded));
}

// --- Outages ---

TEST_F(HomeUseTest, AnOutageOfAnyLengthCostsNobodyItsSeat) {
  ASSERT_TRUE(a_.Do(Stand("orders", "a")));
  ASSERT_TRUE(a_.Do(Stand("orders", "b", 1h)));

  TakeDatabaseAway(a_);
  world_.Advance(10 * kLease);
  a_.store.Heal();
  world_.Advance(kShortly);
  EXPECT_TRUE(RenewNow(a_, "a"));
  world_.Advance(kLease - kRenewal);

  EXPECT_EQ(Leader(), "a");
}

TEST_F(HomeUseTest, ARenewalDuringAnOutageIsAnsweredAfterIt) {
  ASSERT_TRUE(a_.Do(Stand("orders", "a")));
  TakeDatabaseAway(a_);
  world_.Advance(kGoodFor);
  const Reply<Session> reply;

  a_.engine.Renew(Id("a"), {}, reply);
  world_.Advance(2s);
  EXPECT_FALSE(reply.arrived());

  a_.store.Heal();
  world_.Advance(kBeat);
  EXPECT_TRUE(reply.get());
}

TEST_F(HomeUseTest, ARenewalDuringALongOutageIsRefusedInTheEnd) {
  ASSERT_TRUE(a_.Do(Stand("orders", "a")));
  TakeDatabaseAway(a_);
  world_.Advance(kGoodFor);
  const Reply<Session> reply;

  a_.engine.Renew(Id("a"), {}, reply);
  world_.Advance(10s);

  EXPECT_THAT(reply.get(), FailsWith(Reason::kStoreUnavailable));
}

TEST_F(HomeUseTest, RenewalsAreAnsweredWhileTheBeatIsGood) {
  ASSERT_TRUE(a_.Do(Stand("orders", "a")));
  world_.Advance(kBeat);
  TakeDatabaseAway(a_);

  world_.Advance(kBeat);
  EXPECT_TRUE(a_.Renew(Id("a")));
}

TEST_F(HomeUseTest, ASessionThatFallsSilentDuringAnOutageEndsALeaseOfServiceLater) {
  ASSERT_TRUE(a_.Do(Stand("orders", "a")));
  TakeDatabaseAway(a_);
  world_.Advance(10 * kLease);

  a_.store.Heal();
  world_.Advance(kLease / 2);
  EXPECT_TRUE(Lives("a"));

  world_.Advance(kLease);
  EXPECT_FALSE(Lives("a"));
}

TEST_F(HomeUseTest, AHomeBeatsAgainOnceItsEndsSucceed) {
  ASSERT_TRUE(a_.Do(Stand("orders", "a")));
  ASSERT_TRUE(a_.Do(Stand("other", "b")));

  LetEndsFail();

  EXPECT_FALSE(Lives("a"));
  EXPECT_TRUE(RenewNow(a_, "b"));
}

TEST_F(HomeUseTest, AHomeThatIsDeclaredDeadBecauseItsEndsFailBeginsAgain) {
  StartHome();
  ASSERT_TRUE(a_.Do(Stand("orders", "a")));
  ASSERT_TRUE(a_.Do(Stand("other", "b")));
  const HomeId before = Row("b").home;

  LetEndsFail();

  EXPECT_TRUE(RenewNow(a_, "b"));
  EXPECT_NE(Row("b").home, before);
}

TEST_F(HomeUseTest, ALostReplyToABeatChangesNothing) {
  ASSERT_TRUE(a_.Do(Stand("orders", "a")));
  const Session before = Row("a");

  a_.store.LoseReplies(2, "Beat");
  RenewFor(a_, "a", 2 * kLease);

  EXPECT_EQ(Row("a"), before);
  EXPECT_TRUE(a_.engine.Ready());
}

// --- Moves ---

TEST_F(HomeUseTest, ASessionMovesToTheReplicaThatItsRenewalsReach) {
  Replica& b = StartHome();
  ASSERT_TRUE(a_.Do(Stand("orders", "a")));

  RenewFor(b, "a", 10 * kLease);

  EXPECT_EQ(Leader(), "a");
  EXPECT_EQ(Row("a").moves, 2);
}

TEST_F(HomeUseTest, AFormerHomeAdoptsTheSessionBack) {
  Replica& b = StartHome();
  ASSERT_TRUE(a_.Do(Stand("orders", "a")));
  ASSERT_TRUE(RenewNow(b, "a"));
  world_.Advance(2 * kBeat);  // a_ hears of it

  ASSERT_TRUE(RenewNow(a_, "a"));

  EXPECT_EQ(Row("a").moves, 3);
}

TEST_F(HomeUseTest, ACampaignElsewhereMovesTheSession) {
  Replica& b = StartHome();
  ASSERT_TRUE(a_.Do(Stand("orders", "a")));

  const Reply<Answer> reply;
  b.engine.Submit(Stand("orders", "a"), reply);
  world_.Advance(kShortly);

  EXPECT_TRUE(reply.get());
  EXPECT_EQ(Row("a").moves, 2);
  RenewFor(b, "a", 3 * kLease);
  EXPECT_EQ(Leader(), "a");
}

TEST_F(HomeUseTest, ASessionWhoseOpeningIsInDoubtIsNotLeftBehind) {
  a_.store.LoseReplies(1, "Transact");
  ASSERT_FALSE(a_.Do(Stand("orders", "a")));
  EXPECT_TRUE(Lives("a"));

  world_.Advance(5s + kGoodFor + kLease + kBeat);

  EXPECT_FALSE(Lives("a"));
}

TEST_F(HomeUseTest, AnEndElsewhereReachesTheHomeWithItsNextBeat) {
  Replica& b = StartHome();
  ASSERT_TRUE(a_.Do(Stand("orders", "a")));
  ASSERT_TRUE(b.Close(Id("a")));

  world_.Advance(kBeat + kShortly);

  EXPECT_THAT(RenewNow(a_, "a"), FailsWith(Reason::kSessionEnded));
}

// --- Deaths ---

TEST_F(HomeUseTest, TheSessionsOfADeadHomeEndALeaseAfterItsDeath) {
  Replica& b = StartHome();
  ASSERT_TRUE(a_.Do(Stand("orders", "a")));
  ASSERT_TRUE(b.Do(Stand("orders", "b", 1h)));

  a_.scheduler.Die();
  world_.Advance(kLease);
  EXPECT_EQ(Leader(), "a");

  world_.Advance(kGoodFor + kBeat + kShortly);
  EXPECT_EQ(Leader(), "b");
}

TEST_F(HomeUseTest, AClientOfADeadHomeKeepsItsSeatElsewhere) {
  Replica& b = StartHome();
  ASSERT_TRUE(a_.Do(Stand("orders", "a")));

  a_.scheduler.Die();
  RenewFor(b, "a", 5 * kLease);

  EXPECT_EQ(Leader(), "a");
}

TEST_F(HomeUseTest, AReplicaThatWasDeclaredDeadBeginsAgainAndAdopts) {
  Replica& b = StartHome();
  ASSERT_TRUE(a_.Do(Stand("orders", "a")));
  const HomeId before = Row("a").home;
  TakeDatabaseAway(a_);
  world_.Advance(kGoodFor + 2 * kBeat);  // b declares it dead
  a_.store.Heal();
  world_.Advance(kBeat);

  EXPECT_TRUE(RenewNow(a_, "a"));

  EXPECT_NE(Row("a").home, before);
  EXPECT_TRUE(b.engine.Ready());
  RenewFor(a_, "a", 3 * kLease);
  EXPECT_EQ(Leader(), "a");
}

TEST_F(HomeUseTest, AReplicaThatCannotWriteDeclaresNobodyDead) {
  Replica& b = StartHome();
  ASSERT_TRUE(a_.Do(Stand("orders", "a")));
  const HomeId before = Row("a").home;
  LetBothLoseTheDatabase(b);
  a_.store.Heal();
  b.store.Heal();
  world_.Advance(kBeat);

  EXPECT_TRUE(RenewNow(a_, "a"));

  EXPECT_EQ(Row("a").home, before);
}

TEST_F(HomeUseTest, TheFirstReplicaBackAfterAnOutageDeclaresNobodyDead) {
  Replica& b = StartHome();
  ASSERT_TRUE(a_.Do(Stand("orders", "a")));
  const HomeId before = Row("a").home;
  LetBothLoseTheDatabase(b);
  b.store.Heal();
  world_.Advance(kGoodFor - kBeat);
  a_.store.Heal();
  world_.Advance(kBeat);

  EXPECT_TRUE(RenewNow(a_, "a"));

  EXPECT_EQ(Row("a").home, before);
}

// --- Shutting down ---

TEST_F(HomeUseTest, AReplicaThatDrainsDeclaresItselfDead) {
  Replica& b = StartHome();
  ASSERT_TRUE(a_.Do(Stand("orders", "a")));
  const HomeId before = Row("a").home;

  a_.engine.Drain();
  world_.Advance(kShortly);

  EXPECT_TRUE(a_.engine.retired());
  EXPECT_THAT(a_.Renew(Id("a")), FailsWith(Reason::kDraining));
  ASSERT_TRUE(RenewNow(b, "a"));
  EXPECT_THAT(world_.store().ReadDepartures(before, 0, 10).value(), IsEmpty());
  RenewFor(b, "a", 3 * kLease);
  EXPECT_EQ(Leader(), "a");
}

TEST_F(HomeUseTest, AReplicaThatDrainsSoonAfterAnAdoptionWaits) {
  Replica& b = StartHome();
  ASSERT_TRUE(b.Do(Stand("orders", "a")));
  ASSERT_TRUE(RenewNow(a_, "a"));

  a_.engine.Drain();
  world_.Advance(kGoodFor - kBeat);
  EXPECT_FALSE(a_.engine.retired());

  world_.Advance(2 * kBeat);
  EXPECT_TRUE(a_.engine.retired());
}

TEST_F(HomeUseTest, AReplicaThatDrainsWithAnAdoptionInDoubtWaits) {
  Replica& b = StartHome();
  ASSERT_TRUE(b.Do(Stand("orders", "a")));
  a_.store.LoseReplies(1, "Transact");
  a_.engine.Renew(Id("a"), {}, Reply<Session>());
  a_.Run();

  a_.engine.Drain();
  world_.Advance(kGoodFor - kBeat);
  EXPECT_FALSE(a_.engine.retired());

  world_.Advance(2 * kBeat);
  EXPECT_TRUE(a_.engine.retired());
}

TEST_F(HomeUseTest, AReplicaThatCannotWriteDoesNotRetire) {
  ASSERT_TRUE(a_.Do(Stand("orders", "a")));
  TakeDatabaseAway(a_);

  a_.engine.Drain();
  world_.Advance(10s);

  EXPECT_FALSE(a_.engine.retired());
}

TEST_F(HomeUseTest, ReplicasWithTheSameRandomnessHaveSeparateRows) {
  Replica& b = StartHome();
  ASSERT_TRUE(a_.Do(Stand("orders", "a")));
  ASSERT_TRUE(b.Do(Stand("mail", "b")));

  EXPECT_NE(Row("a").home, Row("b").home);
}

// --- Lost commits ---

TEST_F(HomeUseTest, ARowThatIsMissingMeansThatCommitsWereLost) {
  ASSERT_TRUE(a_.Do(Stand("orders", "a")));
  Database empty{a_.scheduler};
  a_.store.Become(empty.store());

  world_.Advance(kBeat + kShortly);

  EXPECT_FALSE(a_.engine.Ready());
  EXPECT_EQ(a_.engine.metrics().database_resets.Value(), 1) << "for all replicas to see";
}

// Before its own next beat: the other replica has announced its commit.
TEST_F(HomeUseTest, ASessionWhoseTermAnotherReplicaEndedIsNotAnsweredFromMemory) {
  Replica& other = StartHome();
  world_.Advance(100ms);  // between two beats
  EXPECT_TRUE(a_.Do(Stand("orders", "a")));
  const Reply<Closed> closed;
  other.engine.DeposeSession(Id("a"), {}, closed);
  other.Run();
  EXPECT_TRUE(closed.get());
  a_.engine.Nudged(world_.store().ReadPartitions().value().offsets);
  world_.Advance(10ms);

  EXPECT_THAT(a_.Renew(Id("a")), FailsWith(Reason::kSessionEnded, "cause", "DEPOSED"));
}

}  // namespace
}  // namespace tenure::engine
