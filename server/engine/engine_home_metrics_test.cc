// The metrics of a replica as a home of sessions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/engine/engine_testing.h"

namespace tenure::engine {
namespace {

using namespace tenure::testing;

using namespace std::chrono_literals;
using ::testing::DoubleNear;
using ::testing::Gt;
using ::testing::HasSubstr;

class HomeMetricsTest : public ::testing::Test {
 protected:
  static prometheus::ClientMetric::Histogram Of(const prometheus::Histogram& histogram) {
    return histogram.Collect().histogram;
  }

  World world_;
  Replica& a_ = world_.Start();
};

TEST_F(HomeMetricsTest, TheSessionsThatAReplicaKeepsAreShown) {
  (void)a_.Do(Stand("orders", "a", 5s));
  (void)a_.Do(Stand("orders", "b", 1h));
  EXPECT_THAT(a_.engine.ExposeMetrics(), HasSubstr("\ntenure_kept_sessions 2\n"));

  world_.Advance(10s);

  EXPECT_THAT(a_.engine.ExposeMetrics(), HasSubstr("\ntenure_kept_sessions 1\n"));
}

TEST_F(HomeMetricsTest, ASessionThatMovesIsCountedByItsNewHome) {
  Replica& b = world_.Start();
  (void)a_.Do(Stand("orders", "a", 10s));

  (void)b.Renew(Id("a"));
  (void)b.Renew(Id("a"));

  EXPECT_EQ(b.metrics.adoptions.Value(), 1);
  EXPECT_EQ(a_.metrics.adoptions.Value(), 0);
}

TEST_F(HomeMetricsTest, AGoodBeatShowsHowMuchTimeWasLeftOfTheOneBefore) {
  world_.Advance(1s);

  EXPECT_EQ(a_.metrics.beats_good.Value(), 2);
  EXPECT_EQ(Of(a_.metrics.home_beat_margin_ratio).sample_count, 1u);
  EXPECT_THAT(Of(a_.metrics.home_beat_margin_ratio).sample_sum, DoubleNear(1.7 / 2.7, 0.001));
  EXPECT_EQ(a_.metrics.beats_failed.Value(), 0);
}

TEST_F(HomeMetricsTest, ABeatThatFailsIsCounted) {
  a_.store.FailNext(1, "Beat");

  world_.Advance(1s);

  EXPECT_EQ(a_.metrics.beats_failed.Value(), 1);
}

TEST_F(HomeMetricsTest, NothingIsLeftOfABeatAfterAnOutage) {
  a_.store.FailAll();
  world_.Advance(10s);
  a_.store.Heal();

  world_.Advance(500ms);

  EXPECT_EQ(a_.metrics.beats_good.Value(), 2);
  EXPECT_EQ(Of(a_.metrics.home_beat_margin_ratio).sample_sum, 0);
}

TEST_F(HomeMetricsTest, ABeatThatTheDatabaseRefusesIsCounted) {
  const HomeRow home = world_.store().Beat({}).value().living.at(0);
  ASSERT_TRUE(world_.store().DeclareDead(home.id, home.beat).value());

  world_.Advance(1s);

  EXPECT_EQ(a_.metrics.beats_refused.Value(), 1);
}

TEST_F(HomeMetricsTest, AReplicaThatComesIsFoundByABeatAtOnce) {
  const double beats = a_.metrics.beats_good.Value();
  a_.engine.FindPeers();
  world_.Advance(10ms);
  EXPECT_EQ(a_.metrics.beats_good.Value(), beats + 1);

  world_.Advance(900ms);
  EXPECT_EQ(a_.metrics.beats_good.Value(), beats + 1);
}

TEST_F(HomeMetricsTest, BeatsAreWithheldWhileEndsAreLate) {
  (void)a_.Do(Stand("orders", "a", 5s));
  a_.store.FailNext(1'000, "Transact");

  world_.Advance(10s);

  EXPECT_GT(a_.metrics.beats_withheld.Value(), 0);
}

TEST_F(HomeMetricsTest, AReplicaThatBeginsAgainIsCounted) {
  (void)world_.Start();
  EXPECT_EQ(a_.metrics.home_incarnations.Value(), 1);

  a_.store.FailAll();
  world_.Advance(10s);  // the other one declares it dead
  a_.store.Heal();
  world_.Advance(1s);

  EXPECT_EQ(a_.metrics.home_incarnations.Value(), 2);
}

TEST_F(HomeMetricsTest, TheTimeThatAHomeHasServedStandsStillInAnOutage) {
  world_.Advance(10s);
  EXPECT_THAT(a_.engine.ExposeMetrics(), HasSubstr("\ntenure_home_served_seconds 10\n"));

  a_.store.FailAll();
  world_.Advance(1h);

  EXPECT_THAT(a_.engine.ExposeMetrics(), HasSubstr("\ntenure_home_served_seconds 12.7\n"));
}

}  // namespace
}  // namespace tenure::engine
