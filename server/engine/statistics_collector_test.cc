#include "server/engine/statistics_collector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "server/engine/engine_testing.h"

namespace tenure::engine {
namespace {

using namespace tenure::testing;

using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

class StatisticsCollectorTest : public ::testing::Test {
 protected:
  void Commit(const Command& command) {
    EXPECT_TRUE(database_.store().Transact(
        LockSetOf({&command}), {},
        [&](TransactionState& transaction) { EXPECT_TRUE(Apply(transaction, {}, command)); }));
  }
  void StandInEach(const std::vector<std::string>& elections) {
    for (const std::string& election : elections) Commit(Stand(election, "a"));
  }
  static Delete Deleting(const std::string& election, Term term) {
    return {{election}, term, kOperator};
  }

  ManualScheduler time_;
  Database database_{time_};
  FaultyStore store_{database_.store()};
};

TEST_F(StatisticsCollectorTest, TheCountsAreShown) {
  Metrics metrics;
  StatisticsCollector statistics(store_, metrics);
  StandInEach({"led", "left"});
  Commit(Stand("led", "b"));
  Commit(Leave("left", "a"));

  statistics.Take();

  EXPECT_EQ(metrics.elections.Value(), 2);
  EXPECT_EQ(metrics.elections_vacant.Value(), 1);
  EXPECT_EQ(metrics.elections_leaderless.Value(), 0);
  EXPECT_EQ(metrics.candidates.Value(), 1);
  EXPECT_EQ(metrics.sessions.Value(), 2);
}

TEST_F(StatisticsCollectorTest, ExistingElectionsAreListed) {
  Metrics metrics({.elections_max = 10});
  StatisticsCollector statistics(store_, metrics);
  StandInEach({"a", "b"});

  statistics.Take();

  EXPECT_THAT(metrics.election_series.Listed(),
              UnorderedElementsAre(ElectionName{"a"}, ElectionName{"b"}));
  EXPECT_EQ(metrics.elections_unlisted.Value(), 0);
}

TEST_F(StatisticsCollectorTest, ElectionsWithoutRoomAreCounted) {
  Metrics metrics({.elections_max = 2});
  StatisticsCollector statistics(store_, metrics);
  StandInEach({"a", "b", "c", "d", "e"});

  statistics.Take();

  EXPECT_THAT(metrics.election_series.Listed(), SizeIs(2));
  EXPECT_EQ(metrics.elections_unlisted.Value(), 3);
}

TEST_F(StatisticsCollectorTest, TheElectionsOfEachPrefixAreListed) {
  Metrics metrics({.elections_max = 10, .election_prefixes = {"jobs/", "pay"}});
  StatisticsCollector statistics(store_, metrics);
  StandInEach({"jobs/a", "orders", "payments"});

  statistics.Take();

  EXPECT_THAT(metrics.election_series.Listed(),
              UnorderedElementsAre(ElectionName{"jobs/a"}, ElectionName{"payments"}));
}

TEST_F(StatisticsCollectorTest, ADeletedElectionIsNoLongerListed) {
  Metrics metrics({.elections_max = 10});
  StatisticsCollector statistics(store_, metrics);
  StandInEach({"a"});
  Commit(Leave("a", "a"));
  statistics.Take();

  Commit(Deleting("a", {1}));
  statistics.Take();

  EXPECT_THAT(metrics.election_series.Listed(), IsEmpty());
}

TEST_F(StatisticsCollectorTest, WithALimitOfZeroNoElectionIsRead) {
  Metrics metrics({.elections_max = 0});
  StatisticsCollector statistics(store_, metrics);
  StandInEach({"a"});

  statistics.Take();

  EXPECT_EQ(store_.Calls("ListElections"), 0);
  EXPECT_EQ(store_.Calls("ReadElections"), 0);
}

TEST_F(StatisticsCollectorTest, ElectionsBehindManyTombstonesAreFoundEventually) {
  Metrics metrics({.elections_max = 10});
  StatisticsCollector statistics(store_, metrics);
  for (int i = 0; i < 1'000; ++i) {
    const std::string name = "a" + std::to_string(i);
    Commit(Stand(name, "a"));
    Commit(Deleting(name, {1}));
  }
  StandInEach({"b"});

  statistics.Take();
  EXPECT_THAT(metrics.election_series.Listed(), IsEmpty());
  statistics.Take();

  EXPECT_THAT(metrics.election_series.Listed(), SizeIs(1));
}

TEST_F(StatisticsCollectorTest, AFailedReadLeavesTheMetricsAsTheyWere) {
  Metrics metrics({.elections_max = 10});
  StatisticsCollector statistics(store_, metrics);
  StandInEach({"a"});
  statistics.Take();

  store_.FailAll();
  statistics.Take();

  EXPECT_EQ(metrics.elections.Value(), 1);
  EXPECT_THAT(metrics.election_series.Listed(), SizeIs(1));
}

}  // namespace
}  // namespace tenure::engine
