// A beat shows which sessions have left: until its home knows them, the beat is not good.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "server/engine/engine_testing.h"

namespace tenure::engine {
namespace {

using namespace tenure::testing;
using namespace std::chrono_literals;

class DeparturesTest : public ::testing::Test {
 protected:
  static constexpr int kSessions = 20;

  static std::string Named(int number) { return "s" + std::to_string(number); }
  void Open() {
    for (int i = 0; i < kSessions; ++i) ASSERT_TRUE(a_.Do(Stand("orders", Named(i), 60s)));
  }
  void Leaves(int number) { EXPECT_TRUE(b_.Renew(Id(Named(number)))); }

  World world_;
  Replica& a_ = world_.Start();
  Replica& b_ = world_.Start();
};

TEST_F(DeparturesTest, ASessionThatHasLeftIsNotAnsweredAfterTheNextBeat) {
  Open();
  Leaves(0);
  world_.Advance(1s);

  EXPECT_FALSE(a_.engine.RenewNow(Id(Named(0)), {}));
  EXPECT_TRUE(a_.engine.RenewNow(Id(Named(1)), {}));
}

TEST_F(DeparturesTest, ARenewalWhoseCallerIsGoneMovesNoSession) {
  Open();
  bool wanted = false;
  const Reply<Session> dropped;
  b_.engine.Renew(Id(Named(0)), {}, dropped, [&] { return wanted; });
  world_.Advance(100ms);
  EXPECT_TRUE(a_.engine.RenewNow(Id(Named(0)), {}));

  wanted = true;
  const Reply<Session> reply;
  b_.engine.Renew(Id(Named(0)), {}, reply, [&] { return wanted; });
  world_.Advance(100ms);
  EXPECT_TRUE(reply.get());
  EXPECT_EQ(b_.metrics.adoptions.Value(), 1);
}

// If each beat were refused until all departures are known, none would succeed.
TEST_F(DeparturesTest, BeatsStayGoodWhileSessionsLeave) {
  Open();
  int left = 0;
  a_.store.After([&](const std::string& call) {
    if (call == "ReadDepartures") Leaves(left++);
  });
  Leaves(left++);

  for (int beats = 1; beats <= 5; ++beats) {
    world_.Advance(1s);
    EXPECT_EQ(left, beats + 1) << "one reading for each beat";
    EXPECT_TRUE(a_.engine.RenewNow(Id(Named(kSessions - 1)), {}));
  }
  EXPECT_EQ(a_.metrics.beats_refused.Value(), 0);
}

TEST_F(DeparturesTest, AHomeThatCannotReadDeparturesNeitherServesNorBeats) {
  Open();
  Leaves(0);
  a_.store.FailNext(1'000, "ReadDepartures");

  world_.Advance(2900ms);
  EXPECT_FALSE(a_.engine.RenewNow(Id(Named(1)), {}));
  world_.Advance(3s);

  EXPECT_EQ(a_.metrics.home_incarnations.Value(), 1);
  EXPECT_GT(a_.metrics.beats_failed.Value(), 0);
  EXPECT_THAT(world_.store().Beat({}).value().living, ::testing::SizeIs(1))
      << "the other one has declared it dead";
}

TEST_F(DeparturesTest, AGapInTheDeparturesEndsTheIncarnation) {
  Open();
  Leaves(0);
  Leaves(1);
  const BeatReport report = world_.store().Beat({}).value();
  for (const HomeRow& home : report.living) {
    EXPECT_TRUE(world_.store().ReadDepartures(home.id, 1, 10)) << "the first is forgotten";
  }

  world_.Advance(1s);

  EXPECT_EQ(a_.metrics.home_incarnations.Value(), 2);
}

}  // namespace
}  // namespace tenure::engine
