// The engine's metrics, by the clocks of the tests.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/engine/engine_testing.h"

namespace tenure::engine {
namespace {

using namespace tenure::testing;

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::Gt;
using ::testing::HasSubstr;
using ::testing::Lt;

class EngineMetricsTest : public ::testing::Test {
 protected:
  static prometheus::ClientMetric::Histogram Of(const prometheus::Histogram& histogram) {
    return histogram.Collect().histogram;
  }
  // "a" leads, and "b" waits with a lease of its own, of an hour.
  void LetALeadAndBWait(Duration lease) {
    (void)a_.Do(Stand("orders", "a", lease));
    (void)a_.Do(Stand("orders", "b", 1h));
  }
  void Appoint(const std::string& candidate) {
    (void)a_.Do(tenure::Appoint{{"orders"}, {1}, candidate, false, {}, kOperator});
  }

  // How often the database was asked for each operation, by the name that operators see.
  [[nodiscard]] std::map<std::string, int> TimedOperations() {
    const std::string page = a_.engine.ExposeMetrics();
    std::map<std::string, int> counts;
    for (const std::string operation : {"transaction", "read", "poll", "search", "beat"}) {
      const std::string sample = "tenure_database_seconds_count{operation=\"" + operation + "\"} ";
      const size_t at = page.find(sample);
      EXPECT_NE(at, page.npos) << operation;
      if (at != page.npos) counts[operation] = std::stoi(page.substr(at + sample.size()));
    }
    return counts;
  }
  [[nodiscard]] std::vector<std::string> MovedSince(const std::map<std::string, int>& before) {
    std::vector<std::string> moved;
    for (const auto& [operation, count] : TimedOperations()) {
      if (count != before.at(operation)) moved.push_back(operation);
    }
    return moved;
  }

  World world_;
  Replica& a_ = world_.Start();
};

TEST_F(EngineMetricsTest, AFailoverIsMeasuredFromTheEndOfTheSessionToTheGrant) {
  LetALeadAndBWait(5s);
  a_.store.After([this](const std::string& call) {
    if (call == "Transact") a_.scheduler.Hold(Work::kBackground);  // the seat is not given up yet
  });

  world_.Advance(8s);
  a_.store.After({});
  a_.scheduler.Release(Work::kBackground);
  a_.Run();

  EXPECT_EQ(a_.metrics.failovers.Value(), 1);
  EXPECT_EQ(a_.metrics.terms_granted[Cause::kExpired].Value(), 1);
  EXPECT_EQ(Of(a_.metrics.failover_seconds).sample_count, 1u);
  EXPECT_EQ(Of(a_.metrics.failover_seconds).sample_sum, 3);
  EXPECT_EQ(a_.metrics.leaderless_seconds.Value(), 3);
}

TEST_F(EngineMetricsTest, AResignationIsNeitherAFailoverNorLeaderlessTime) {
  LetALeadAndBWait(5s);

  (void)a_.Do(Leave("orders", "a"));

  EXPECT_EQ(a_.metrics.terms_granted[Cause::kResigned].Value(), 1);
  EXPECT_EQ(a_.metrics.leaderless_seconds.Value(), 0);
  EXPECT_EQ(a_.metrics.failovers.Value(), 0);
}

TEST_F(EngineMetricsTest, LeaderlessTimeEndsWhenAnyReplicaFillsTheSeat) {
  Replica& b = world_.Start();
  (void)a_.Do(Stand("orders", "a", 1h));
  (void)a_.Do(Leave("orders", "a"));

  world_.Advance(7s);
  (void)b.Do(Stand("orders", "b"));

  EXPECT_EQ(b.metrics.leaderless_seconds.Value(), 7);
  EXPECT_EQ(a_.metrics.leaderless_seconds.Value(), 0);
}

TEST_F(EngineMetricsTest, TheFirstTermOfAnElectionFollowsNone) {
  (void)a_.Do(Stand("orders", "a"));

  EXPECT_EQ(a_.metrics.terms_granted[Cause::kNone].Value(), 1);
  EXPECT_EQ(a_.metrics.leaderless_seconds.Value(), 0);
}

TEST_F(EngineMetricsTest, ATermLostSoonAfterItsGrantIsAFlap) {
  LetALeadAndBWait(5s);

  world_.Advance(10s);

  EXPECT_EQ(a_.metrics.flaps.Value(), 1);
}

TEST_F(EngineMetricsTest, ATermThatIsTakenOverSoonAfterItsGrantIsAFlap) {
  (void)a_.Do(Stand("orders", "a"));

  Campaign newer = Stand("orders", "a/2");
  newer.opening->candidate = "a";
  (void)a_.Do(Superseding(newer));

  EXPECT_EQ(a_.metrics.terms_ended[Cause::kSuperseded].Value(), 1);
  EXPECT_EQ(a_.metrics.flaps.Value(), 1);
}

TEST_F(EngineMetricsTest, ATermThatLastedOrWasResignedIsNoFlap) {
  LetALeadAndBWait(40s);
  world_.Advance(50s);
  ASSERT_EQ(a_.metrics.terms_ended[Cause::kExpired].Value(), 1);

  (void)a_.Do(Leave("orders", "b"));

  EXPECT_EQ(a_.metrics.flaps.Value(), 0);
}

TEST_F(EngineMetricsTest, MakingWayForTheAppointedIsAHandover) {
  LetALeadAndBWait(10s);
  Appoint("b");

  (void)a_.Do(Leave("orders", "a"));

  EXPECT_EQ(a_.metrics.handovers.Value(), 1);
}

TEST_F(EngineMetricsTest, ALeaderThatClosesItsSessionMakesWay) {
  LetALeadAndBWait(10s);
  Appoint("b");

  (void)a_.Close(Id("a"));

  EXPECT_EQ(a_.metrics.handovers.Value(), 1);
}

TEST_F(EngineMetricsTest, AnAppointmentFulfilledByAnExpiryIsAFailoverNotAHandover) {
  LetALeadAndBWait(10s);
  Appoint("b");

  world_.Advance(15s);

  EXPECT_EQ(a_.metrics.failovers.Value(), 1);
  EXPECT_EQ(a_.metrics.handovers.Value(), 0);
}

TEST_F(EngineMetricsTest, ARenewalRecordsHowMuchOfTheLeaseWasLeft) {
  (void)a_.Do(Stand("orders", "a", 10s));

  world_.Advance(4s);
  (void)a_.Renew(Id("a"));

  // The answer to a campaign renews the session, too.
  EXPECT_EQ(Of(a_.metrics.renewal_margin_ratio).sample_count, 2u);
  EXPECT_THAT(Of(a_.metrics.renewal_margin_ratio).sample_sum, DoubleNear(1 + 0.6, 0.001));
  EXPECT_EQ(a_.metrics.renewals.Value(), 2);
}

TEST_F(EngineMetricsTest, RenewingAnEndedSessionDoesNotCount) {
  (void)a_.Renew(Id("nobody"));

  EXPECT_EQ(Of(a_.metrics.renewal_margin_ratio).sample_count, 0u);
  EXPECT_EQ(a_.metrics.renewals.Value(), 0);
}

TEST_F(EngineMetricsTest, ARemoteChangeIsLateByOnePollAtMost) {
  Replica& b = world_.Start();
  world_.Advance(1s);

  (void)b.Do(Stand("orders", "a"));
  world_.Advance(1s);

  EXPECT_EQ(Of(a_.metrics.observe_lag_seconds).sample_count, 1u);
  EXPECT_THAT(Of(a_.metrics.observe_lag_seconds).sample_sum, AllOf(Gt(0), Lt(0.011)));
  EXPECT_EQ(Of(b.metrics.observe_lag_seconds).sample_sum, 0);
}

TEST_F(EngineMetricsTest, ACensusIsTakenEveryTenSeconds) {
  const int before = a_.store.Calls("ReadStatistics");

  world_.Advance(60s);

  EXPECT_EQ(a_.store.Calls("ReadStatistics") - before, 6);
}

TEST_F(EngineMetricsTest, CallsToTheDatabaseAreTimed) {
  (void)a_.Do(Stand("orders", "a"));
  world_.Advance(1s);

  for (const Operation operation : {Operation::kTransaction, Operation::kPoll, Operation::kBeat}) {
    EXPECT_GT(Of(a_.metrics.database_seconds[operation]).sample_count, 0);
  }
}

TEST_F(EngineMetricsTest, APollAloneMovesOnlyPoll) {
  a_.scheduler.Hold(Work::kRenewals);
  const auto before = TimedOperations();

  world_.Advance(1s);

  EXPECT_THAT(MovedSince(before), ElementsAre("poll"));
}

TEST_F(EngineMetricsTest, ABeatAloneMovesOnlyBeat) {
  a_.scheduler.Hold(Work::kFeed);
  const auto before = TimedOperations();

  world_.Advance(1s);

  EXPECT_THAT(MovedSince(before), ElementsAre("beat"));
}

TEST_F(EngineMetricsTest, ATransactionAloneMovesOnlyTransaction) {
  const auto before = TimedOperations();

  (void)a_.Do(Stand("orders", "a"));

  EXPECT_THAT(MovedSince(before), ElementsAre("transaction"));
}

TEST_F(EngineMetricsTest, AnIdleReplicaMakesNoTransactions) {
  const int before = a_.store.Calls("Transact");

  world_.Advance(60s);

  EXPECT_EQ(a_.store.Calls("Transact"), before);
}

TEST_F(EngineMetricsTest, TheNumberOfWaitingCommandsIsShown) {
  a_.scheduler.Hold(Work::kCommands);
  for (int i = 0; i < 3; ++i) a_.engine.Submit(Stand("orders", "a"), Reply<Answer>());

  const std::string page = a_.engine.ExposeMetrics();

  EXPECT_THAT(page, HasSubstr("tenure_queue_depth{queue=\"commands\"} 3\n"));
  EXPECT_THAT(page, HasSubstr("tenure_queue_max{queue=\"commands\"} 20000\n"));
}

TEST_F(EngineMetricsTest, RenewalsThatWaitAndAdoptionsAreShownApart) {
  (void)a_.Do(Stand("orders", "a"));
  a_.scheduler.Hold(Work::kRenewals);
  a_.engine.Renew(Id("elsewhere"), {}, Reply<Session>());
  EXPECT_THAT(a_.engine.ExposeMetrics(), HasSubstr("tenure_queue_depth{queue=\"adoptions\"} 1\n"));

  world_.Advance(4s);  // without a beat
  a_.engine.Renew(Id("a"), {}, Reply<Session>());
  EXPECT_THAT(a_.engine.ExposeMetrics(),
              HasSubstr("tenure_queue_depth{queue=\"waiting_renewals\"} 1\n"));
}

TEST_F(EngineMetricsTest, EachQueueHasItsName) {
  for (const Work work : {Work::kCommands, Work::kReads, Work::kBackground}) {
    a_.scheduler.Hold(work);
  }
  a_.engine.Submit(Stand("orders", "a"), Reply<Answer>());
  for (int i = 0; i < 2; ++i) {
    a_.engine.Submit(CampaignForAllBy("a", {{"orders"}, {"jobs"}}), Reply<Answer>());
  }
  for (int i = 0; i < 3; ++i) {
    a_.engine.ReadElection({"orders"}, false, Reply<std::optional<Election>>());
  }
  for (int i = 0; i < 4; ++i) {
    a_.engine.ReadPlace({{"orders"}, Id("a")}, true, Reply<Place>());
  }
  for (int i = 0; i < 5; ++i) {
    a_.engine.ReadSeats({{Id("a")}}, Reply<std::vector<Leadership>>());
  }
  for (int i = 0; i < 6; ++i) {
    a_.engine.ReadEvents({"orders"}, {1}, 1, Reply<std::vector<Event>>());
  }
  for (int i = 0; i < 7; ++i) a_.engine.CloseSession(Id("a"), {}, Reply<Session>());
  for (int i = 0; i < 8; ++i) {
    a_.engine.Purge({{1h, true, kOperator}, "", "", 1}, Reply<PurgePage>());
  }

  const std::string page = a_.engine.ExposeMetrics();

  const char* const queues[] = {"commands", "sets",        "reads",  "places",
                                "seats",    "other_reads", "closes", "purges"};
  int depth = 0;
  for (const std::string queue : queues) {
    EXPECT_THAT(page, HasSubstr("tenure_queue_depth{queue=\"" + queue + "\"} " +
                                std::to_string(++depth) + "\n"));
  }
}

TEST_F(EngineMetricsTest, RetriesAreShownByTheirReasons) {
  const std::pair<RetryReason, std::string> reasons[] = {
      {RetryReason::kDeadlock, "deadlock"},
      {RetryReason::kLockTimeout, "lock_timeout"},
      {RetryReason::kConflict, "conflict"},
      {RetryReason::kLostConnection, "lost_connection"},
      {RetryReason::kLostReply, "lost_reply"}};
  int times = 0;
  for (const auto& [reason, name] : reasons) a_.store.CountRetries(reason, ++times);
  (void)a_.engine.ExposeMetrics();

  const std::string page = a_.engine.ExposeMetrics();

  times = 0;
  for (const auto& [reason, name] : reasons) {
    EXPECT_THAT(page, HasSubstr("tenure_transaction_retries_total{reason=\"" + name + "\"} " +
                                std::to_string(++times) + "\n"));
  }
}

TEST_F(EngineMetricsTest, AnIdleReplicaKeepsItsConnectionsToTheDatabase) {
  const std::string page = a_.engine.ExposeMetrics();

  EXPECT_THAT(page, HasSubstr("tenure_store_connections{state=\"busy\"} 0\n"));
  EXPECT_THAT(page, HasSubstr("tenure_store_connections{state=\"idle\"} 1\n"));
  EXPECT_THAT(page, HasSubstr("tenure_store_connections_max 1\n"));
}

// The database of the tests lives in 1970.
TEST_F(EngineMetricsTest, ADatabaseThatIsBehindHasANegativeOffset) {
  EXPECT_THAT(a_.engine.ExposeMetrics(), HasSubstr("\ntenure_database_clock_offset_seconds -"));
}

TEST_F(EngineMetricsTest, TheReplicaIsReadyUntilItDrains) {
  EXPECT_THAT(a_.engine.ExposeMetrics(), HasSubstr("tenure_ready 1\n"));

  a_.engine.hub().Drain();

  EXPECT_THAT(a_.engine.ExposeMetrics(), HasSubstr("tenure_ready 0\n"));
}

}  // namespace
}  // namespace tenure::engine
