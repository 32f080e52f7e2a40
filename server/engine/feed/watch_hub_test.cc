#include "server/engine/feed/watch_hub.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "server/engine/engine_testing.h"

namespace tenure::engine {
namespace {

using namespace tenure::testing;

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Event ElectedIn(const std::string& election, const std::string& name, Revision revision = {1}) {
  Event event{{election}, revision, EventType::kElected, Cause::kNone, Term{1}, {}, kNow};
  event.leader.session = Id(name);
  event.leader.candidate = name;
  return event;
}

class WatchHubTest : public ::testing::Test {
 protected:
  WatchHub hub_{10};
};

// --- Who is notified ---

TEST_F(WatchHubTest, OnlyTheWatchersOfAnElectionAreNotified) {
  const Watching one(hub_, {WatchElection{{"orders"}}});
  const Watching two(hub_, {WatchElection{{"orders"}}});
  const Watching other(hub_, {WatchElection{{"orders/eu"}}});

  hub_.Notify(ElectedIn("orders", "a"));

  EXPECT_THAT(one.lines(), ElementsAre("orders 1 ELECTED a term 1"));
  EXPECT_THAT(two.lines(), ElementsAre("orders 1 ELECTED a term 1"));
  EXPECT_THAT(other.lines(), IsEmpty());
}

TEST_F(WatchHubTest, NamesAreComparedByteByByte) {
  const Watching others(hub_, {WatchElection{{"Orders"}}, WatchElection{{"orders "}},
                               WatchElection{{std::string("orders\0", 7)}}});

  hub_.Notify(ElectedIn("orders", "a"));

  EXPECT_THAT(others.lines(), IsEmpty());
}

TEST_F(WatchHubTest, TheWatchersOfEveryMatchingPrefixAreNotified) {
  const Watching all(hub_, {WatchPrefix{""}});
  const Watching some(hub_, {WatchPrefix{"shop/"}});
  const Watching exact(hub_, {WatchPrefix{"shop/eu"}});
  const Watching longer(hub_, {WatchPrefix{"shop/eu/1"}});
  const Watching other(hub_, {WatchPrefix{"hop"}});

  hub_.Notify(ElectedIn("shop/eu", "a"));

  EXPECT_THAT(all.lines(), ElementsAre("shop/eu 1 ELECTED a term 1"));
  EXPECT_THAT(some.lines(), ElementsAre("shop/eu 1 ELECTED a term 1"));
  EXPECT_THAT(exact.lines(), ElementsAre("shop/eu 1 ELECTED a term 1"));
  EXPECT_THAT(longer.lines(), IsEmpty());
  EXPECT_THAT(other.lines(), IsEmpty());
}

TEST_F(WatchHubTest, ASessionsWatchersAreNotifiedOfItsSeatsInAnyElection) {
  const Watching mine(hub_, {WatchSession{Id("a")}});
  const Watching others(hub_, {WatchSession{Id("b")}});

  hub_.Notify(ElectedIn("orders", "a"));
  hub_.Notify(ElectedIn("stock", "a"));

  EXPECT_THAT(mine.lines(), ElementsAre("orders 1 ELECTED a term 1", "stock 1 ELECTED a term 1"));
  EXPECT_THAT(others.lines(), IsEmpty());
}

TEST_F(WatchHubTest, OnlyASessionsWatchersAreNotifiedOfItsEnd) {
  const Watching mine(hub_, {WatchSession{Id("a")}});
  const Watching others(hub_, {WatchSession{Id("b")}, WatchPrefix{""}});
  Session session = SessionOfCandidate("a");
  session.ended = Cause::kSessionClosed;

  hub_.NotifySessionEnded(session);

  EXPECT_THAT(mine.lines(), ElementsAre("ended a SESSION_CLOSED"));
  EXPECT_THAT(others.lines(), IsEmpty());
}

TEST_F(WatchHubTest, NotificationsKeepTheirOrder) {
  const Watching watching(hub_, {WatchElection{{"orders"}}});

  for (uint64_t i = 1; i <= 3; ++i) hub_.Notify(ElectedIn("orders", "a", {i}));

  EXPECT_THAT(watching.lines(),
              ElementsAre("orders 1 ELECTED a term 1", "orders 2 ELECTED a term 1",
                          "orders 3 ELECTED a term 1"));
}

TEST_F(WatchHubTest, EveryWatcherIsNotifiedOfAReset) {
  const Watching one(hub_, {WatchElection{{"orders"}}});
  const Watching none(hub_, {});

  hub_.NotifyReset();

  EXPECT_THAT(one.lines(), ElementsAre("reset"));
  EXPECT_THAT(none.lines(), ElementsAre("reset"));
}

TEST_F(WatchHubTest, AnElectionWatchedTwiceIsNotifiedOnce) {
  const Watching watching(hub_, {WatchElection{{"orders"}}, WatchElection{{"orders"}}});

  hub_.Notify(ElectedIn("orders", "a"));

  EXPECT_THAT(watching.lines(), ElementsAre("orders 1 ELECTED a term 1"));
}

// --- Membership ---

TEST_F(WatchHubTest, AWatcherThatLeftIsNotNotified) {
  Watching watching(hub_, {WatchElection{{"orders"}}, WatchPrefix{""}, WatchSession{Id("a")}});

  watching.membership.Leave();
  hub_.Notify(ElectedIn("orders", "a"));
  hub_.NotifySessionEnded(SessionOfCandidate("a"));
  hub_.NotifyReset();

  EXPECT_THAT(watching.lines(), IsEmpty());
  EXPECT_EQ(hub_.watchers(), 0u);
}

TEST_F(WatchHubTest, AnElectionNoLongerWatchedIsNotNotified) {
  Watching watching(hub_, {WatchElection{{"orders"}}, WatchSession{Id("a")}});

  watching.membership.Remove(WatchSession{Id("a")});
  watching.membership.Remove(WatchSession{Id("b")});
  hub_.NotifySessionEnded(SessionOfCandidate("a"));
  hub_.Notify(ElectedIn("orders", "a"));

  EXPECT_THAT(watching.lines(), ElementsAre("orders 1 ELECTED a term 1"));
}

TEST_F(WatchHubTest, TheOtherWatchersAreNotifiedAfterOneHasLeft) {
  const Watching stays(hub_, {WatchElection{{"orders"}}, WatchPrefix{"o"}});
  {
    const Watching leaves(hub_, {WatchElection{{"orders"}}, WatchPrefix{"o"}});
    EXPECT_EQ(hub_.watchers(), 2u);
  }

  hub_.Notify(ElectedIn("orders", "a"));

  EXPECT_THAT(stays.lines(), ElementsAre("orders 1 ELECTED a term 1", "orders 1 ELECTED a term 1"));
  EXPECT_EQ(hub_.watchers(), 1u);
}

TEST_F(WatchHubTest, AWatcherIsKeptUntilItLeaves) {
  auto recorder = std::make_shared<Recorder>();
  const std::weak_ptr<Recorder> watched = recorder;
  auto membership = hub_.Join(std::move(recorder)).value();

  EXPECT_FALSE(watched.expired());
  membership.Leave();
  membership.Leave();
  EXPECT_TRUE(watched.expired());
}

TEST_F(WatchHubTest, AMovedMembershipLeavesOnce) {
  const auto recorder = std::make_shared<Recorder>();
  WatchHub::Membership kept;
  {
    auto joined = hub_.Join(recorder).value();
    joined.Add(WatchElection{{"orders"}});
    WatchHub::Membership moved(std::move(joined));
    kept = std::move(moved);
  }

  hub_.Notify(ElectedIn("orders", "a"));
  EXPECT_THAT(recorder->lines, ElementsAre("orders 1 ELECTED a term 1"));

  kept = WatchHub::Membership();
  EXPECT_EQ(hub_.watchers(), 0u);
}

TEST_F(WatchHubTest, MoreWatchersThanTheMaximumAreRefused) {
  WatchHub small(1);
  auto first = small.Join(std::make_shared<Recorder>());
  ASSERT_TRUE(first);

  EXPECT_THAT(small.Join(std::make_shared<Recorder>()), FailsWith(Reason::kOverloaded));

  first->Leave();
  EXPECT_TRUE(small.Join(std::make_shared<Recorder>()));
}

TEST_F(WatchHubTest, DrainNotifiesEveryWatcherAndAdmitsNoMore) {
  const Watching watching(hub_, {WatchElection{{"orders"}}});

  hub_.Drain();

  EXPECT_THAT(watching.lines(), ElementsAre("drain"));
  EXPECT_THAT(hub_.Join(std::make_shared<Recorder>()), FailsWith(Reason::kDraining));
}

TEST_F(WatchHubTest, ChangesAreNotifiedWhileItDrains) {
  const Watching watching(hub_, {WatchElection{{"orders"}}});
  hub_.Drain();

  hub_.Notify(ElectedIn("orders", "a"));

  EXPECT_THAT(watching.lines(), ElementsAre("drain", "orders 1 ELECTED a term 1"));
}

}  // namespace
}  // namespace tenure::engine
