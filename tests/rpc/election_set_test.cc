// Campaigns for several elections: all of their seats, or none.
#include <atomic>
#include <thread>

#include "tests/rpc/admin_fixture.h"

namespace tenure::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class ElectionSetTest : public AdminTest {
 protected:
  static CampaignArguments ForAll(std::vector<std::string> elections, const std::string& candidate,
                                  const std::string& session = "") {
    return {.candidate = candidate, .session_id = session, .elections = std::move(elections)};
  }

  static std::vector<std::string> SeatsOf(const v1::CampaignResponse& response) {
    std::vector<std::string> seats;
    for (const auto& seat : response.all_elected().leaderships()) {
      seats.push_back(seat.election() + " " + seat.candidate() + " " + std::to_string(seat.term()));
    }
    return seats;
  }

  static std::vector<std::string> BlockedOf(const v1::CampaignResponse& response) {
    return {response.blocked().elections().begin(), response.blocked().elections().end()};
  }
};

INSTANTIATE_TEST_SUITE_P(Stores, ElectionSetTest,
                         ::testing::Values(StoreKind::kSqlite, StoreKind::kMariaDb), StoreKindName);

TEST_P(ElectionSetTest, AllSeatsAreTakenInTheOrderOfTheRequest) {
  Resign(A(), IdOf(Stand(A(), {"b", "before"})));

  const auto won = Stand(B(), ForAll({"c", "a", "b"}, "x"));

  EXPECT_THAT(SeatsOf(won), ElementsAre("c x 1", "a x 1", "b x 2"));
  for (const std::string election : {"a", "b", "c"}) {
    EXPECT_EQ(Leader(A(), election).leader().candidate(), "x");
  }
}

TEST_P(ElectionSetTest, NoSeatIsTakenIfOneIsHeldPausedKeptEmptyOrReserved) {
  Stand(A(), {"held", "other"});
  Update(A(), {.election = "paused", .allow_missing = true});
  Pause(A(), "paused");
  Update(A(), {.election = "kept empty", .lock_delay = 1h, .allow_missing = true});
  Stand(A(), {"kept empty", "other"});
  Depose(A(), {"kept empty", 1});
  Update(A(), {.election = "reserved", .allow_missing = true});
  Appoint(A(), {.election = "reserved", .candidate = "other", .reserve_for = 1h});

  const auto blocked =
      Stand(B(), ForAll({"free", "held", "paused", "kept empty", "reserved"}, "x"));

  EXPECT_THAT(BlockedOf(blocked), ElementsAre("held", "paused", "kept empty", "reserved"));
  EXPECT_TRUE(blocked.session().has_lease_ttl());
  EXPECT_FALSE(Leader(A(), "free").has_leader());
  EXPECT_EQ(Leader(A(), "free").revision(), 0u);
  EXPECT_THAT(ListQueue(A(), "held"), IsEmpty());
}

TEST_P(ElectionSetTest, AWaitingCallTakesAllSeatsWhenTheLastOneIsFree) {
  const auto holder = Stand(A(), {"b", "holder"});
  auto arguments = ForAll({"a", "b", "c"}, "x");
  WaitingCampaign waiting(B(), arguments);
  ASSERT_TRUE(Eventually([&] { return !ListSessions(A(), "x").empty(); }));
  EXPECT_FALSE(Leader(A(), "a").has_leader());

  Resign(A(), IdOf(holder));

  EXPECT_THAT(SeatsOf(waiting.Response()), ElementsAre("a x 1", "b x 2", "c x 1"));
}

TEST_P(ElectionSetTest, ACallIsBlockedAfterItsWaitAndHoldsNothing) {
  Stand(A(), {"b", "holder"});
  auto arguments = ForAll({"a", "b"}, "x");
  arguments.wait = 1500ms;

  const auto blocked = Stand(B(), arguments);

  EXPECT_THAT(BlockedOf(blocked), ElementsAre("b"));
  EXPECT_FALSE(Leader(A(), "a").has_leader());
  EXPECT_TRUE(Renew(A(), IdOf(blocked)).has_lease_ttl());
}

TEST_P(ElectionSetTest, ACandidateInAQueueGoesFirst) {
  const auto holder = Stand(A(), {"b", "holder"});
  const auto queued = Stand(A(), {"b", "queued"});
  WaitingCampaign waiting(B(), ForAll({"a", "b"}, "x"));
  ASSERT_TRUE(Eventually([&] { return !ListSessions(A(), "x").empty(); }));

  Resign(A(), IdOf(holder));
  EXPECT_EQ(Leader(B(), "b").leader().candidate(), "queued");
  EXPECT_FALSE(waiting.Done());
  Resign(B(), IdOf(queued));

  EXPECT_THAT(SeatsOf(waiting.Response()), ElementsAre("a x 1", "b x 3"));
}

TEST_P(ElectionSetTest, ASessionCanHoldOverlappingSets) {
  const auto first = Stand(A(), ForAll({"a", "b"}, "x"));

  const auto second = Stand(B(), ForAll({"c", "b"}, "x", IdOf(first)));
  const auto again = Stand(A(), ForAll({"a", "b"}, "", IdOf(first)));

  EXPECT_THAT(SeatsOf(second), ElementsAre("c x 1", "b x 1"));
  EXPECT_THAT(SeatsOf(again), ElementsAre("a x 1", "b x 1"));
  const auto sessions = ListSessions(B());
  ASSERT_THAT(sessions, SizeIs(1));
  EXPECT_THAT(sessions[0].leads(), ElementsAre("a", "b", "c"));
  Resign(B(), IdOf(first));
  for (const std::string election : {"a", "b", "c"}) {
    EXPECT_FALSE(Leader(A(), election).has_leader());
  }
}

TEST_P(ElectionSetTest, ARepeatedCallIsHarmless) {
  auto arguments = ForAll({"a", "b"}, "x");
  arguments.request_id = "sixteen bytes or";

  const auto first = Stand(A(), arguments);
  const auto repeated = Stand(B(), arguments);

  EXPECT_EQ(IdOf(first), IdOf(repeated));
  EXPECT_EQ(SeatsOf(first), SeatsOf(repeated));
}

// Timing decides whether the last try is granted: either way, the replica no longer renews the
// session. SetWithdrawalTest.SeatsAreKept shows that a Withdraw leaves such seats alone.
TEST_P(ElectionSetTest, ACancelledCallHoldsSeatsNoLongerThanItsSession) {
  constexpr int kRounds = 4;
  const auto keeper = Stand(A(), {"b", "keeper"});
  std::string session = IdOf(keeper);
  for (int round = 0; round < kRounds; ++round) {
    {
      auto arguments = ForAll({"a", "b"}, "x");
      arguments.lease_ttl = 1s;
      WaitingCampaign cancelled(B(), arguments);
      if (round % 2 == 0) {
        ASSERT_TRUE(Eventually([&] { return !ListSessions(A(), "x").empty(); }));
      }
      Resign(A(), session, "b");  // while the call is cancelled
    }
    // A try that was on its way may have been granted.
    WaitingCampaign again(A(), {"b", "keeper", session});
    ASSERT_TRUE(again.Response().has_elected());
    ASSERT_TRUE(Eventually([&] { return !Leader(A(), "a").has_leader(); })) << round;
    for (const auto& left : ListSessions(A(), "x")) EndSession(A(), left.handle());
  }
}

TEST_P(ElectionSetTest, OppositeOrdersDoNotDeadlock) {
  constexpr int kThreads = 8;
  constexpr int kRounds = 20;
  std::atomic<int> inside = 0;
  int rounds = 0;  // guarded by the seats
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      std::string session;
      const std::string name = "thread " + std::to_string(thread);
      for (int round = 0; round < kRounds && !HasFailure(); ++round) {
        const bool forward = (thread + round) % 2 == 0;
        const std::vector<std::string> names =
            forward ? std::vector<std::string>{"a", "b", "c"} : std::vector<std::string>{"c", "b"};
        WaitingCampaign campaign(thread % 2 ? A() : B(), ForAll(names, name, session));
        const v1::CampaignResponse& won = campaign.Response();
        ASSERT_EQ(won.all_elected().leaderships_size(), static_cast<int>(names.size()));
        session = IdOf(won);
        EXPECT_EQ(++inside, 1) << "two hold b and c";
        ++rounds;
        --inside;
        for (const std::string& election : names) Resign(A(), session, election);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();

  EXPECT_EQ(rounds, kThreads * kRounds);
  EXPECT_EQ(Leader(B(), "b").term(), static_cast<uint64_t>(kThreads * kRounds));
}

}  // namespace
}  // namespace tenure::testing
