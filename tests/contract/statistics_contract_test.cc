// What a store reports about its contents, and about its own work.
#include "tests/contract/admin_fixture.h"

namespace tenure::testing {
namespace {

using namespace std::chrono_literals;

class StatisticsContract : public AdminFixture {
 protected:
  Statistics ReadStatistics() { return Replica().ReadStatistics().value(); }

  // An empty election for which somebody waits.
  void StandPaused(const std::string& election, const std::string& candidate) {
    Administer(Creating(election));
    Administer(Pause{{election}, true, kAsker});
    Stand(election, NewSessionId(), candidate);
  }
};

INSTANTIATE_TEST_SUITE_P(Stores, StatisticsContract,
                         ::testing::Values(Kind::kSqliteMemory, Kind::kSqliteFile, Kind::kServer),
                         KindName);

TEST_P(StatisticsContract, AnEmptyDatabaseHoldsNothing) {
  EXPECT_EQ(ReadStatistics(), Statistics{});
}

TEST_P(StatisticsContract, ElectionsAndCandidatesAreCounted) {
  const SessionId twice = NewSessionId();
  Stand("e", twice, "a");
  Stand("f", NewSessionId(), "b");
  Stand("f", twice, "a");

  EXPECT_EQ(ReadStatistics(),
            (Statistics{.elections = 2, .led = 2, .candidates = 1, .sessions = 2}));
}

TEST_P(StatisticsContract, AnElectionWithoutCandidatesIsVacant) {
  const SessionId session = NewSessionId();
  Stand("e", session, "a");
  Run(Resign{{"e"}, session, {}});

  EXPECT_EQ(ReadStatistics(), (Statistics{.elections = 1, .vacant = 1, .sessions = 1}));
}

TEST_P(StatisticsContract, AnElectionThatKeepsItsCandidatesWaitingIsLeaderless) {
  Configure delayed = Creating("e");
  delayed.min_hold = 1h;
  Administer(delayed);
  const SessionId session = NewSessionId();
  Stand("e", session, "a");
  Stand("e", NewSessionId(), "b");
  Run(Resign{{"e"}, session, {}});

  EXPECT_EQ(ReadStatistics(),
            (Statistics{.elections = 1, .leaderless = 1, .candidates = 1, .sessions = 2}));
}

TEST_P(StatisticsContract, ALeaderWithAnEndedSessionDoesNotCount) {
  const SessionId session = NewSessionId();
  Stand("e", session, "a");
  ASSERT_TRUE(store_->Transact({{}, {session}}, {}, [&](TransactionState& transaction) {
    EXPECT_TRUE(EndSession(transaction, session, Cause::kSessionClosed));
  }));

  EXPECT_EQ(ReadStatistics(), (Statistics{.elections = 1, .led = 1, .leaderless = 1}));
}

TEST_P(StatisticsContract, APausedElectionIsNotLeaderless) {
  StandPaused("e", "a");

  EXPECT_EQ(ReadStatistics(), (Statistics{.elections = 1, .candidates = 1, .sessions = 1}));
}

TEST_P(StatisticsContract, AnElectionWithOnlyNegativePrioritiesIsNotLeaderless) {
  Stand("e", NewSessionId(), "reserve", 60s, -1);

  EXPECT_EQ(ReadStatistics(), (Statistics{.elections = 1, .candidates = 1, .sessions = 1}));
}

TEST_P(StatisticsContract, ADeletedElectionDoesNotCount) {
  Stand("e", NewSessionId(), "a");
  Administer(Delete{{"e"}, Term{1}, kAsker});

  EXPECT_EQ(ReadStatistics(), (Statistics{.sessions = 1}));
}

TEST_P(StatisticsContract, AConnectionIsBusyWhileATransactionRuns) {
  StoreActivity during;

  ASSERT_TRUE(store_->Transact({}, {}, [&](TransactionState&) { during = store_->Activity(); }));

  EXPECT_EQ(during.connections_busy, 1u);
  EXPECT_EQ(store_->Activity().connections_busy, 0u);
  EXPECT_EQ(store_->Activity().connections_idle, during.connections_idle + 1);
  EXPECT_GE(store_->Activity().connections_max, store_->Activity().connections_idle);
}

}  // namespace
}  // namespace tenure::testing
