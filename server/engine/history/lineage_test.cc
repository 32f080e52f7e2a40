// Replicas agree on a history through a real store: SQLite, with a clock that is driven by hand.
#include "server/engine/history/lineage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/engine/engine_testing.h"
#include "server/engine/history/bump_terms.h"

namespace tenure::engine {
namespace {

using namespace tenure::testing;

using namespace std::chrono_literals;

class LineageUseTest : public ::testing::Test {
 protected:
  // A replica's part, on the database that it has now.
  struct Member {
    Member(Store& store, const Scheduler& time, uint64_t seed,
           OnLostCommits on_lost = OnLostCommits::kRecover)
        : store(store), lineage(this->store, time, metrics, on_lost, seed) {}
    FaultyStore store;
    Metrics metrics;
    Lineage lineage;
  };

  static Result<Committed> Commit(Member& member, const Command& command) {
    const std::optional<HistoryPoint> point = member.lineage.point();
    EXPECT_TRUE(point);
    const auto committed = member.store.Transact(
        LockSetOf({&command}), {.point = point},
        [&](TransactionState& transaction) { EXPECT_TRUE(Apply(transaction, {}, command)); });
    if (committed) member.lineage.Saw(committed->offsets, point->epoch);
    return committed;
  }

  static uint64_t TermOf(Store& store, const std::string& election) {
    return store.ReadElections({{election}}).value().at({election}).election.term.value;
  }

  void RestoreOldDatabase(Member& member) { member.store.Become(old_.store()); }

  // Polls as the feed does.
  static void Poll(Member& member) {
    ASSERT_TRUE(member.lineage.Join());
    if (member.lineage.open()) return;
    ASSERT_TRUE(member.lineage.TryToRepair());
  }

  ManualScheduler time_;
  Database database_{time_};
  Database old_{time_};
  Member a_{database_.store(), time_, 1};
  Member b_{database_.store(), time_, 2};
};

TEST_F(LineageUseTest, ReplicasShareAnEpoch) {
  EXPECT_FALSE(a_.lineage.open());
  EXPECT_FALSE(a_.lineage.point());
  ASSERT_TRUE(a_.lineage.Join());
  ASSERT_TRUE(b_.lineage.Join());

  EXPECT_TRUE(a_.lineage.open());
  EXPECT_GT(a_.lineage.point()->epoch, 0U);
  EXPECT_EQ(b_.lineage.point()->epoch, a_.lineage.point()->epoch);
  EXPECT_TRUE(Commit(a_, Stand("orders", "a")));
  EXPECT_TRUE(Commit(b_, Stand("orders", "b")));
}

// The commit itself finds out: nobody has checked since.
TEST_F(LineageUseTest, NoGrantIsCommittedInADatabaseThatWentBack) {
  ASSERT_TRUE(a_.lineage.Join());
  ASSERT_TRUE(Commit(a_, Stand("orders", "a")));
  Member other(old_.store(), time_, 3);
  ASSERT_TRUE(other.lineage.Join());
  RestoreOldDatabase(a_);

  EXPECT_THAT(Commit(a_, Stand("orders", "b")), FailsWith(Reason::kStoreUnavailable));
  EXPECT_TRUE(old_.store().ReadElections({{"orders"}}).value().empty());
}

TEST_F(LineageUseTest, TermsAreRaisedAfterTheLongestLeaseAndTheLastGoodBeat) {
  ASSERT_TRUE(a_.lineage.Join());
  ASSERT_TRUE(Commit(a_, Stand("orders", "a")));
  a_.lineage.SawLease(20s);
  RestoreOldDatabase(a_);

  Poll(a_);
  EXPECT_FALSE(a_.lineage.open());
  time_.Advance(20s + kHomeGoodFor - 1us);
  Poll(a_);
  EXPECT_FALSE(a_.lineage.open());
  time_.Advance(1us);
  Poll(a_);

  EXPECT_TRUE(a_.lineage.open());
  EXPECT_EQ(a_.lineage.repairs(), 1U);
  ASSERT_TRUE(Commit(a_, Stand("orders", "b")));
  EXPECT_GT(TermOf(old_.store(), "orders"), 1'000'000U);
  EXPECT_EQ(a_.metrics.database_resets.Value(), 1);
}

TEST_F(LineageUseTest, TheWaitDoesNotFollowTheDatabasesClock) {
  for (const Duration step : {1min, -1min}) {
    Database before(time_);
    Member member(before.store(), time_, 4);
    ASSERT_TRUE(member.lineage.Join());
    ASSERT_TRUE(Commit(member, Stand("orders", "a")));
    member.lineage.SawLease(20s);
    Database old(time_);
    member.store.Become(old.store());
    Poll(member);

    old.StepClock(step);
    time_.Advance(20s);
    Poll(member);
    EXPECT_FALSE(member.lineage.open());
    time_.Advance(kHomeGoodFor);
    Poll(member);
    EXPECT_TRUE(member.lineage.open());
  }
}

TEST_F(LineageUseTest, OneReplicaRepairsAndTheOthersFollow) {
  ASSERT_TRUE(a_.lineage.Join());
  ASSERT_TRUE(b_.lineage.Join());
  ASSERT_TRUE(Commit(a_, Stand("orders", "a")));
  a_.lineage.SawLease(10s);
  RestoreOldDatabase(a_);
  RestoreOldDatabase(b_);

  Poll(a_);  // it is its turn from now on
  Poll(b_);
  EXPECT_FALSE(b_.lineage.open());
  time_.Advance(10s + kHomeGoodFor);
  Poll(b_);
  EXPECT_FALSE(b_.lineage.open());
  Poll(a_);
  EXPECT_TRUE(a_.lineage.open());
  Poll(b_);

  EXPECT_TRUE(b_.lineage.open());
  EXPECT_EQ(b_.lineage.repairs(), 1U);
  EXPECT_EQ(a_.lineage.point()->epoch, b_.lineage.point()->epoch);
}

TEST_F(LineageUseTest, ARepairerThatDiesIsReplaced) {
  ASSERT_TRUE(a_.lineage.Join());
  ASSERT_TRUE(b_.lineage.Join());
  ASSERT_TRUE(Commit(a_, Stand("orders", "a")));
  a_.lineage.SawLease(10s);
  RestoreOldDatabase(a_);
  RestoreOldDatabase(b_);
  Poll(a_);

  time_.Advance(31s);
  Poll(b_);
  EXPECT_FALSE(b_.lineage.open());
  time_.Advance(kHomeGoodFor);
  Poll(b_);

  EXPECT_TRUE(b_.lineage.open());
}

// It saw nothing of what was lost, and so notices nothing by itself.
TEST_F(LineageUseTest, AReplicaThatNoticesNoLossIsStoppedByOneThatDoes) {
  Member behind(old_.store(), time_, 3);
  ASSERT_TRUE(behind.lineage.Join());
  const HistoryPoint point = *behind.lineage.point();
  ASSERT_TRUE(a_.lineage.Join());
  ASSERT_TRUE(Commit(a_, Stand("orders", "a")));
  RestoreOldDatabase(a_);

  ASSERT_TRUE(a_.lineage.Join());

  EXPECT_FALSE(Lineage::Fits(point, old_.store().ReadPartitions().value()));
  EXPECT_THAT(Commit(behind, Stand("orders", "b")), FailsWith(Reason::kStoreUnavailable));
  ASSERT_TRUE(behind.lineage.Join());
  EXPECT_FALSE(behind.lineage.open());
}

TEST_F(LineageUseTest, AReplicaSetToStopWaitsForTheOperator) {
  Member stops(database_.store(), time_, 3, OnLostCommits::kStop);
  ASSERT_TRUE(stops.lineage.Join());
  ASSERT_TRUE(Commit(stops, Stand("orders", "a")));
  RestoreOldDatabase(stops);
  Poll(stops);

  time_.Advance(1h);
  Poll(stops);
  EXPECT_FALSE(stops.lineage.open());

  const auto raised = ReadHistory(old_.store());
  ASSERT_TRUE(BumpTerms(old_.store(), kOperator));
  ASSERT_TRUE(BeginRepairedEpoch(old_.store(), *raised));
  Poll(stops);
  EXPECT_TRUE(stops.lineage.open());
  EXPECT_EQ(stops.lineage.repairs(), 1U);
}

TEST_F(LineageUseTest, TheServersDescriptionMayChange) {
  const auto warnings = [&] { return a_.metrics.database_warnings.Value(); };
  ASSERT_TRUE(a_.lineage.Join());
  ASSERT_TRUE(b_.lineage.Join());
  const uint64_t before = a_.lineage.point()->epoch;
  EXPECT_EQ(warnings(), 0);

  a_.store.Describe([](ServerIdentity& server) {
    server.lossless = !server.lossless;
    server.warnings = {"it no longer waits for its copies"};
  });
  ASSERT_TRUE(a_.lineage.Join());
  EXPECT_TRUE(a_.lineage.open());
  const uint64_t changed = a_.lineage.point()->epoch;
  EXPECT_GT(changed, before);
  EXPECT_EQ(warnings(), 1);
  EXPECT_THAT(Commit(b_, Stand("orders", "b")), FailsWith(Reason::kStoreUnavailable));

  ASSERT_TRUE(a_.lineage.Join());
  EXPECT_EQ(a_.lineage.point()->epoch, changed) << "it says the same";
}

// A copy that was promoted, and calls its former source lossless.
class PromotionTest : public LineageUseTest {
 protected:
  PromotionTest() {
    EXPECT_TRUE(database_.store().AgreeOnHistory(0, [](const HistoryReading& seen) {
      Epoch epoch = NextEpoch({}, seen, Epoch::State::kOpen, 9);
      epoch.server = "the former source";
      epoch.lossless = true;
      return std::optional(epoch);
    }));
    EXPECT_TRUE(database_.store().BeginHome({.id = kOther, .good_for = kHomeGoodFor}).value());
    EXPECT_THAT(a_.lineage.Join(), FailsWith(Reason::kStoreUnavailable));
  }

  static constexpr HomeId kOther{7};
};

TEST_F(PromotionTest, APromotionThatNoReplicaLivedThroughIsALoss) {
  time_.Advance(kHomeGoodFor - 1us);
  EXPECT_THAT(a_.lineage.Join(), FailsWith(Reason::kStoreUnavailable));
  EXPECT_THAT(a_.lineage.Join(), FailsWith(Reason::kStoreUnavailable));
  time_.Advance(1us);
  EXPECT_THAT(a_.lineage.Join(), FailsWith(Reason::kStoreUnavailable));

  EXPECT_TRUE(a_.lineage.Join());

  EXPECT_FALSE(a_.lineage.open());
  EXPECT_EQ(a_.metrics.database_resets.Value(), 1);
}

TEST_F(PromotionTest, APromotionIsTrustedIfAnotherReplicaBeats) {
  ASSERT_TRUE(database_.store().Beat({.home = kOther, .number = 1}).value().beaten);
  EXPECT_THAT(a_.lineage.Join(), FailsWith(Reason::kStoreUnavailable));

  EXPECT_TRUE(a_.lineage.Join());

  EXPECT_TRUE(a_.lineage.open());
  EXPECT_EQ(a_.metrics.database_resets.Value(), 0);
}

// The database failed over while its terms were raised, to a server that has nothing of that.
TEST_F(LineageUseTest, AHistoryThatChangedWhileItsTermsWereRaisedIsNotOpened) {
  ASSERT_TRUE(a_.lineage.Join());
  const auto raised = ReadHistory(database_.store());
  ASSERT_TRUE(BumpTerms(database_.store(), kOperator));
  Member other(old_.store(), time_, 3);
  ASSERT_TRUE(other.lineage.Join());
  const uint64_t epoch = old_.store().ReadPartitions().value().epoch;

  EXPECT_THAT(BeginRepairedEpoch(old_.store(), *raised), FailsWith(Reason::kOverloaded));
  EXPECT_EQ(old_.store().ReadPartitions().value().epoch, epoch);
  EXPECT_TRUE(BeginRepairedEpoch(database_.store(), *raised));
}

}  // namespace
}  // namespace tenure::engine
