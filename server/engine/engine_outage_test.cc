// The engine when its database was away for longer than leases last.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>

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
  world_.Advance(500ms);

  EXPECT_EQ(Leader(), std::nullopt);
}

TEST_F(OutageUseTest, ADeadLeadersSeatIsNotKeptWithoutAnOutage) {
  world_.Advance(kLease + 600ms);

  EXPECT_EQ(Leader(), "b");
}

}  // namespace
}  // namespace tenure::engine
