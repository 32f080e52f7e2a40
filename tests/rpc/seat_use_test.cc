// The three ways to use a seat (to lead, as a lock, as a lock that nobody has to give back), and
// what keeps a seat empty (scenario 20).
#include "tests/rpc/admin_fixture.h"

namespace tenure::testing {
namespace {

using google::protobuf::util::TimeUtil;
using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::IsEmpty;

class SeatUseTest : public AdminTest {
 protected:
  // One try that leaves no place in the queue.
  v1::CampaignResponse TryLock(Tenured& server, const std::string& lock, const std::string& owner,
                               std::chrono::milliseconds lease_ttl = 30s) {
    return Stand(server, {.candidate = owner, .lease_ttl = lease_ttl, .elections = {lock}});
  }

  // Tries until the lock is free.
  v1::Leadership LockLater(const std::string& lock, const std::string& owner) {
    v1::CampaignResponse response;
    EXPECT_TRUE(Eventually([&] {
      response = TryLock(B(), lock, owner);
      return response.has_all_elected();
    }));
    return response.all_elected().leaderships(0);
  }

  // By the database's clock.
  static int64_t Microseconds(const google::protobuf::Timestamp& time) {
    return TimeUtil::TimestampToMicroseconds(time);
  }
  static constexpr int64_t kSecond = 1'000'000;
};

INSTANTIATE_TEST_SUITE_P(Stores, SeatUseTest,
                         ::testing::Values(StoreKind::kSqlite, StoreKind::kMariaDb), StoreKindName);

TEST_P(SeatUseTest, ALeaderKeepsItsSeatAsLongAsItRenews) {
  const auto leader = Stand(A(), {"service", "a", "", "", 0ms, 1s});
  const auto short_lived = Stand(A(), {"other", "b", "", "", 0ms, 1s});
  WaitingCampaign waiting(B(), {"service", "c"});

  // Another lease of the same length expires meanwhile.
  EXPECT_TRUE(Eventually([&] {
    EXPECT_TRUE(Renew(B(), IdOf(leader)).has_lease_ttl());
    return !Leader(A(), "other").has_leader();
  }));

  EXPECT_EQ(Leader(B(), "service").leader().term(), leader.elected().term());
  EXPECT_FALSE(waiting.Done());
  Resign(A(), IdOf(leader));
  EXPECT_EQ(waiting.Response().elected().term(), 2u);
}

TEST_P(SeatUseTest, ALockIsTakenAndReleasedInTurns) {
  const auto first = TryLock(A(), "lock", "a");
  ASSERT_TRUE(first.has_all_elected());

  EXPECT_TRUE(TryLock(B(), "lock", "b").has_blocked());
  EXPECT_THAT(ListQueue(A(), "lock"), IsEmpty());
  Resign(A(), IdOf(first), "lock");

  EXPECT_EQ(TryLock(B(), "lock", "b").all_elected().leaderships(0).term(), 2u);
}

TEST_P(SeatUseTest, AnUnreleasedLockIsFreeWhenItsLeaseEnds) {
  const auto first = TryLock(A(), "job", "a", 2s);
  ASSERT_TRUE(first.has_all_elected());
  EXPECT_TRUE(TryLock(B(), "job", "b").has_blocked());

  const auto next = LockLater("job", "b");

  EXPECT_EQ(next.term(), 2u);
  EXPECT_THAT(Microseconds(next.elected_time()) -
                  Microseconds(first.all_elected().leaderships(0).elected_time()),
              Ge(2 * kSecond));
}

TEST_P(SeatUseTest, ALockReleasedEarlyIsKeptForItsMinimumTime) {
  Update(A(), {.election = "job", .min_hold = 2s, .allow_missing = true});
  const auto first = TryLock(A(), "job", "a");
  const auto resigned = Resign(A(), IdOf(first), "job");
  EXPECT_EQ(resigned.outcome(), v1::ResignResponse::OUTCOME_RESIGNED);
  EXPECT_FALSE(Leader(B(), "job").has_leader());

  const auto next = LockLater("job", "b");

  EXPECT_EQ(next.term(), 2u);
  EXPECT_THAT(Microseconds(next.elected_time()) -
                  Microseconds(first.all_elected().leaderships(0).elected_time()),
              Ge(2 * kSecond));
}

TEST_P(SeatUseTest, MinHoldKeepsTheSeatEmptyAfterAnEarlyResignation) {
  Update(A(), {.election = "e", .min_hold = 1h, .allow_missing = true});
  const auto leader = Stand(A(), {"e", "leader"});
  const auto waiter = Stand(B(), {"e", "waiter"});

  Resign(B(), IdOf(leader));

  EXPECT_FALSE(Leader(A(), "e").has_leader());
  EXPECT_TRUE(Campaign(A(), {"e", "", IdOf(waiter)}).has_standing());
  EXPECT_EQ(Microseconds(Describe(B(), "e").election().vacant_until()),
            Microseconds(leader.elected().elected_time()) + 3600 * kSecond);
}

TEST_P(SeatUseTest, TheWaiterIsElectedAfterMinHold) {
  Update(A(), {.election = "e", .min_hold = 2s, .allow_missing = true});
  const auto leader = Stand(A(), {"e", "leader"});
  WaitingCampaign waiting(B(), {"e", "waiter"});
  ASSERT_TRUE(Eventually([&] { return Describe(A(), "e").election().candidates() == 1; }));

  Resign(A(), IdOf(leader), "e");

  EXPECT_THAT(Microseconds(waiting.Response().elected().elected_time()),
              Ge(Microseconds(leader.elected().elected_time()) + 2 * kSecond));
  EXPECT_FALSE(Describe(A(), "e").election().has_vacant_until());
}

TEST_P(SeatUseTest, AResignationAfterMinHoldPassesTheSeatAtOnce) {
  Update(A(), {.election = "e", .min_hold = 1ms, .allow_missing = true});
  const auto leader = Stand(A(), {"e", "leader"});
  Stand(B(), {"e", "waiter"});
  ASSERT_TRUE(Renew(B(), IdOf(leader)).has_lease_ttl());

  Resign(A(), IdOf(leader));

  EXPECT_TRUE(Eventually([&] { return Leader(B(), "e").leader().candidate() == "waiter"; }));
}

TEST_P(SeatUseTest, LockDelayKeepsTheSeatEmptyAfterAnExpiry) {
  Update(A(), {.election = "e", .lock_delay = 2s, .allow_missing = true});
  Observer observer(B(), Election("e", 1));
  Stand(A(), {"e", "leader", "", "", 0ms, 1s});
  WaitingCampaign waiting(B(), {"e", "waiter"});

  const auto events = observer.WaitForEvents(3);

  EXPECT_THAT(Texts(events),
              ElementsAre("ELECTED leader 1", "VACATED leader 1 EXPIRED", "ELECTED waiter 2"));
  EXPECT_THAT(Microseconds(events[2].time()) - Microseconds(events[1].time()), Ge(2 * kSecond));
  EXPECT_EQ(waiting.Response().elected().term(), 2u);
}

TEST_P(SeatUseTest, LockDelayKeepsTheSeatEmptyAfterADepositionButNotAfterAResignation) {
  Update(A(), {.election = "e", .lock_delay = 1h, .allow_missing = true});
  const auto first = Stand(A(), {"e", "first"});
  Stand(A(), {"e", "second"});
  Stand(A(), {"e", "third"});

  Resign(B(), IdOf(first));
  EXPECT_EQ(Leader(A(), "e").leader().candidate(), "second");
  const auto deposed = Depose(B(), {"e", 2});

  EXPECT_TRUE(deposed.deposed());
  EXPECT_FALSE(Leader(A(), "e").has_leader());
  EXPECT_TRUE(deposed.election().has_vacant_until());
  EXPECT_EQ(Appoint(A(), {"e", 2, "third", true}).outcome(), v1::AppointResponse::OUTCOME_LEADS);
}

}  // namespace
}  // namespace tenure::testing
