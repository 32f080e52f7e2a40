#include "server/engine/state_cache.h"

#include <gtest/gtest.h>

#include <string>

namespace tenure::engine {
namespace {

using namespace std::chrono_literals;

constexpr DbTime kNow{1000s};

SessionId Numbered(uint8_t number) {
  SessionId id;
  id.bytes.fill(number);
  return id;
}

Session Alive(uint8_t number, DbTime until = kNow + 10s) {
  return {Numbered(number), "c" + std::to_string(number), 10s, until};
}

// As it was committed: "e" is led by session 1, or by nobody.
TransactionState AsCommitted(Revision revision = {7}, bool led = true) {
  TransactionState state;
  state.now = kNow;
  Election election{{"e"}, {3}, revision, {}};
  if (led) election.leader = Leader{Numbered(1), "c1", 10s, "v", kNow, {}};
  state.elections[{"e"}] = {election, true};
  state.sessions.emplace(Numbered(1), Alive(1));
  state.sessions.emplace(Numbered(2), Alive(2));
  return state;
}

LockSet LocksOf(const SessionId& session) {
  LockSet locks;
  locks.elections[{"e"}].sessions = {session};
  return locks;
}

Event EventWith(Revision revision) {
  Event event;
  event.election = {"e"};
  event.revision = revision;
  return event;
}

class StateCacheTest : public ::testing::Test {
 protected:
  bool Finds(const LockSet& locks) const { return cache_.Find(locks, kNow).has_value(); }

  StateCache cache_;
};

TEST_F(StateCacheTest, NothingIsKnownAtFirst) { EXPECT_FALSE(Finds(LocksOf(Numbered(1)))); }

TEST_F(StateCacheTest, FindsTheElectionItsLeaderAndTheCaller) {
  cache_.Remember(AsCommitted());

  const auto found = cache_.Find(LocksOf(Numbered(2)), kNow + 1s);

  ASSERT_TRUE(found);
  EXPECT_EQ(found->now, kNow + 1s);
  EXPECT_EQ(found->elections.at({"e"}).election, AsCommitted().elections.at({"e"}).election);
  EXPECT_TRUE(found->elections.at({"e"}).exists);
  EXPECT_EQ(found->sessions, AsCommitted().sessions);
}

TEST_F(StateCacheTest, AllElectionsMustBeKnown) {
  cache_.Remember(AsCommitted());
  LockSet locks = LocksOf(Numbered(2));
  locks.elections[{"other"}];

  EXPECT_FALSE(Finds(locks));
}

TEST_F(StateCacheTest, AnUnknownSessionMustBeOneThatTheCommandOpens) {
  cache_.Remember(AsCommitted());
  LockSet locks = LocksOf(Numbered(9));
  EXPECT_FALSE(Finds(locks));

  locks.opened = {Numbered(9)};

  const auto found = cache_.Find(locks, kNow);
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->sessions.contains(Numbered(9)));
}

TEST_F(StateCacheTest, TheLeadersSessionMustBeKnown) {
  TransactionState state = AsCommitted();
  state.sessions.erase(Numbered(1));
  cache_.Remember(state);

  EXPECT_FALSE(Finds(LocksOf(Numbered(2))));
}

TEST_F(StateCacheTest, NobodyMayBeOver) {
  cache_.Remember(AsCommitted());

  EXPECT_FALSE(cache_.Find(LocksOf(Numbered(2)), kNow + 10s));
}

TEST_F(StateCacheTest, WhatDependsOnMoreThanRowsIsNotFound) {
  cache_.Remember(AsCommitted());
  LockSet with_quota = LocksOf(Numbered(2));
  with_quota.identities = {"someone"};
  LockSet patient = LocksOf(Numbered(2));
  patient.patient = true;

  EXPECT_FALSE(Finds(with_quota));
  EXPECT_FALSE(Finds(patient));
}

TEST_F(StateCacheTest, AnElectionThatIsNoLongerPlainIsForgotten) {
  cache_.Remember(AsCommitted());
  TransactionState waited_for = AsCommitted({7});
  waited_for.elections.at({"e"}).election.waiting = 1;

  cache_.Remember(waited_for);

  EXPECT_FALSE(Finds(LocksOf(Numbered(2))));
}

TEST_F(StateCacheTest, AnOlderCommitThatIsReportedLateChangesNothing) {
  cache_.Remember(AsCommitted({8}, false));

  cache_.Remember(AsCommitted({7}));

  EXPECT_EQ(cache_.Find(LocksOf(Numbered(2)), kNow)->elections.at({"e"}).election.revision,
            Revision{8});
}

TEST_F(StateCacheTest, ASessionThatEndedIsForgotten) {
  cache_.Remember(AsCommitted({7}, false));
  TransactionState ended;
  Session session = Alive(2);
  session.ended = Cause::kExpired;
  ended.sessions.emplace(session.id, session);

  cache_.Remember(ended);

  EXPECT_FALSE(Finds(LocksOf(Numbered(2))));
}

TEST_F(StateCacheTest, ARenewedSessionIsKnown) {
  TransactionState renewed;
  renewed.sessions.emplace(Numbered(3), Alive(3, kNow + 60s));
  cache_.Remember(renewed);
  LockSet locks;
  locks.sessions = {Numbered(3)};

  const auto found = cache_.Find(locks, kNow + 20s);

  ASSERT_TRUE(found);
  EXPECT_EQ(found->sessions, renewed.sessions);
  locks.sessions.push_back(Numbered(4));
  EXPECT_FALSE(Finds(locks));
}

TEST_F(StateCacheTest, ALaterChangeOfSomebodyElseMakesItUnknown) {
  cache_.Remember(AsCommitted());

  cache_.Saw(EventWith({7}));
  EXPECT_TRUE(Finds(LocksOf(Numbered(2))));
  cache_.Saw(EventWith({8}));

  EXPECT_FALSE(Finds(LocksOf(Numbered(2))));
}

TEST_F(StateCacheTest, WhatWasRefusedIsForgotten) {
  cache_.Remember(AsCommitted());

  cache_.Forget(LocksOf(Numbered(2)));

  EXPECT_FALSE(Finds(LocksOf(Numbered(2))));
}

TEST_F(StateCacheTest, EverythingIsForgotten) {
  cache_.Remember(AsCommitted());

  cache_.ForgetAll();

  EXPECT_FALSE(Finds(LocksOf(Numbered(2))));
}

TEST_F(StateCacheTest, ItIsBounded) {
  for (size_t i = 0; i <= StateCache::kElectionsMax; ++i) {
    TransactionState state;
    const ElectionName name{std::to_string(i)};
    state.elections[name] = {Election{name, {1}, {1}, {}}, true};
    cache_.Remember(state);
  }
  LockSet first;
  first.elections[{"0"}];
  LockSet last;
  last.elections[{std::to_string(StateCache::kElectionsMax)}];

  EXPECT_FALSE(Finds(first));
  EXPECT_TRUE(Finds(last));
}

}  // namespace
}  // namespace tenure::engine
