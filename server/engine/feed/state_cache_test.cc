#include "server/engine/feed/state_cache.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
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

Session Alive(uint8_t number) { return {Numbered(number), "c" + std::to_string(number), 10s}; }

// As it was committed: "e" is led by session 1, or by nobody.
Committed AsCommitted(Revision revision = {7}, bool led = true) {
  Committed committed;
  TransactionState& state = committed.transaction;
  state.now = kNow;
  Election election{{"e"}, {3}, revision, {}};
  if (led) election.leader = Leader{Numbered(1), "c1", 10s, "v", kNow, {}};
  state.elections[{"e"}] = {election, true};
  state.sessions.emplace(Numbered(1), Alive(1));
  state.sessions.emplace(Numbered(2), Alive(2));
  return committed;
}

Committed WithSession(const Session& session) {
  Committed committed;
  committed.transaction.sessions.emplace(session.id, session);
  return committed;
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
  cache_.Remember(AsCommitted(), cache_.Now());

  const auto found = cache_.Find(LocksOf(Numbered(2)), kNow + 1s);

  ASSERT_TRUE(found);
  EXPECT_EQ(found->now, kNow + 1s);
  EXPECT_EQ(found->elections.at({"e"}).election,
            AsCommitted().transaction.elections.at({"e"}).election);
  EXPECT_TRUE(found->elections.at({"e"}).exists);
  EXPECT_EQ(found->sessions, AsCommitted().transaction.sessions);
}

TEST_F(StateCacheTest, WhenThereAreTooManySessionsItStartsOver) {
  cache_.Remember(AsCommitted(), cache_.Now());
  for (uint32_t i = 0; i < StateCache::kSessionsMax; ++i) {
    Session session = Alive(1);
    std::memcpy(session.id.bytes.data(), &i, sizeof i);
    cache_.Remember(WithSession(session), cache_.Now());
  }
  EXPECT_FALSE(Finds(LocksOf(Numbered(2))));

  cache_.Remember(AsCommitted(), cache_.Now());
  EXPECT_TRUE(Finds(LocksOf(Numbered(2))));
}

TEST_F(StateCacheTest, AllElectionsMustBeKnown) {
  cache_.Remember(AsCommitted(), cache_.Now());
  LockSet locks = LocksOf(Numbered(2));
  locks.elections[{"other"}];

  EXPECT_FALSE(Finds(locks));
}

TEST_F(StateCacheTest, ThePastOfAnElectionIsNotKnown) {
  cache_.Remember(AsCommitted(), cache_.Now());
  LockSet locks = LocksOf(Numbered(2));
  locks.elections.at({"e"}).past = true;

  EXPECT_FALSE(Finds(locks));
}

TEST_F(StateCacheTest, AnUnknownSessionMustBeOneThatTheCommandOpens) {
  cache_.Remember(AsCommitted(), cache_.Now());
  LockSet locks = LocksOf(Numbered(9));
  EXPECT_FALSE(Finds(locks));

  locks.opened = {Numbered(9)};

  const auto found = cache_.Find(locks, kNow);
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->sessions.contains(Numbered(9)));
}

TEST_F(StateCacheTest, TheLeadersSessionMustBeKnown) {
  Committed committed = AsCommitted();
  committed.transaction.sessions.erase(Numbered(1));
  cache_.Remember(committed, cache_.Now());

  EXPECT_FALSE(Finds(LocksOf(Numbered(2))));
}

TEST_F(StateCacheTest, ASessionThatHasEndedIsNotKnown) {
  cache_.Remember(AsCommitted(), cache_.Now());
  Session ended = Alive(2);
  ended.ended = Cause::kExpired;
  cache_.Remember(WithSession(ended), cache_.Now());

  EXPECT_FALSE(Finds(LocksOf(Numbered(2))));
}

TEST_F(StateCacheTest, CommandsThatNeedMoreThanRowsAreNotDecided) {
  cache_.Remember(AsCommitted(), cache_.Now());
  LockSet with_quota = LocksOf(Numbered(2));
  with_quota.identities = {"someone"};
  LockSet patient = LocksOf(Numbered(2));
  patient.patient = true;

  EXPECT_FALSE(Finds(with_quota));
  EXPECT_FALSE(Finds(patient));
}

TEST_F(StateCacheTest, AnElectionThatIsNoLongerPlainIsNotFound) {
  cache_.Remember(AsCommitted(), cache_.Now());
  Committed waited_for = AsCommitted({7});
  waited_for.transaction.elections.at({"e"}).election.waiting = 1;

  cache_.Remember(waited_for, cache_.Now());

  EXPECT_FALSE(Finds(LocksOf(Numbered(2))));
}

TEST_F(StateCacheTest, AnOlderCommitThatIsReportedLateChangesNothing) {
  cache_.Remember(AsCommitted({8}, false), cache_.Now());

  cache_.Remember(AsCommitted({7}), cache_.Now());

  EXPECT_EQ(cache_.Find(LocksOf(Numbered(2)), kNow)->elections.at({"e"}).election.revision,
            Revision{8});
}

TEST_F(StateCacheTest, ASessionThatEndedIsForgotten) {
  cache_.Remember(AsCommitted({7}, false), cache_.Now());
  Session session = Alive(2);
  session.ended = Cause::kExpired;

  cache_.Remember(WithSession(session), cache_.Now());

  EXPECT_FALSE(Finds(LocksOf(Numbered(2))));
}

TEST_F(StateCacheTest, ASessionThatWasCommittedAloneIsKnown) {
  const Committed renewed = WithSession(Alive(3));
  cache_.Remember(renewed, cache_.Now());
  LockSet locks;
  locks.sessions = {Numbered(3)};

  const auto found = cache_.Find(locks, kNow + 20s);

  ASSERT_TRUE(found);
  EXPECT_EQ(found->sessions, renewed.transaction.sessions);
  locks.sessions.push_back(Numbered(4));
  EXPECT_FALSE(Finds(locks));
}

TEST_F(StateCacheTest, ALaterChangeOfAnotherReplicaMakesItUnknown) {
  cache_.Remember(AsCommitted(), cache_.Now());

  cache_.Published(PartitionOf({"e"}), 5, {EventWith({7})});
  EXPECT_TRUE(Finds(LocksOf(Numbered(2))));
  cache_.Published(PartitionOf({"e"}), 6, {EventWith({8})});

  EXPECT_FALSE(Finds(LocksOf(Numbered(2))));
}

TEST_F(StateCacheTest, RefusedElectionsAreForgotten) {
  cache_.Remember(AsCommitted(), cache_.Now());

  cache_.Forget(LocksOf(Numbered(2)));

  EXPECT_FALSE(Finds(LocksOf(Numbered(2))));
}

TEST_F(StateCacheTest, EverythingIsForgotten) {
  cache_.Remember(AsCommitted(), cache_.Now());

  cache_.ForgetAll();

  EXPECT_FALSE(Finds(LocksOf(Numbered(2))));
}

TEST_F(StateCacheTest, ItIsBounded) {
  for (size_t i = 0; i <= StateCache::kElectionsMax; ++i) {
    Committed committed;
    const ElectionName name{std::to_string(i)};
    committed.transaction.elections[name] = {Election{name, {1}, {1}, {}}, true};
    cache_.Remember(committed, cache_.Now());
  }
  LockSet first;
  first.elections[{"0"}];
  LockSet last;
  last.elections[{std::to_string(StateCache::kElectionsMax)}];

  EXPECT_FALSE(Finds(first));
  EXPECT_TRUE(Finds(last));
}

// --- Questions ---

class StateCacheReadTest : public StateCacheTest {
 protected:
  StateCacheReadTest() { committed_.offsets = {{kPartition, 5}}; }

  // Reads when the partition is at this offset.
  std::optional<Election> ReadAt(uint64_t offset) const {
    PartitionOffsets offsets{};
    offsets.at(static_cast<size_t>(kPartition)) = offset;
    return cache_.Read({"e"}, offsets);
  }
  // As after a commit.
  void RememberAndTell() {
    cache_.Remember(committed_, cache_.Now());
    cache_.Published(kPartition, 5, {EventWith({7})});
  }
  static std::map<ElectionName, ElectionView> View(Revision revision = {7}) {
    return {{{"e"}, {AsCommitted(revision).transaction.elections.at({"e"}).election, true, 10s}}};
  }

  const int kPartition = PartitionOf({"e"});
  Committed committed_ = AsCommitted();
};

TEST_F(StateCacheReadTest, ACommittedElectionIsReadWhileNothingHappens) {
  RememberAndTell();

  EXPECT_TRUE(cache_.Read({"e"}));
  EXPECT_EQ(ReadAt(5), committed_.transaction.elections.at({"e"}).election);
}

TEST_F(StateCacheReadTest, NothingIsReadBeforeAllEventsArePublished) {
  cache_.Remember(committed_, cache_.Now());

  EXPECT_FALSE(ReadAt(5));
}

TEST_F(StateCacheReadTest, NothingIsReadWhileAnotherReplicasCommitIsUnpublished) {
  RememberAndTell();

  EXPECT_FALSE(ReadAt(6));
}

TEST_F(StateCacheReadTest, ChangesOfOtherElectionsDoNotMatter) {
  RememberAndTell();
  Event other = EventWith({99});
  other.election = {"other"};
  cache_.Published(kPartition, 6, {other});

  EXPECT_TRUE(ReadAt(6));
}

TEST_F(StateCacheReadTest, ALaterEventMakesItUnknown) {
  RememberAndTell();
  cache_.Published(kPartition, 6, {EventWith({8})});

  EXPECT_FALSE(ReadAt(6));
  EXPECT_FALSE(cache_.Read({"e"}));
}

// A purge has no event.
TEST_F(StateCacheReadTest, ATransactionWithoutAnEventMakesItUnknown) {
  RememberAndTell();
  cache_.Published((kPartition + 1) % kPartitionCount, 6, {}, true);
  EXPECT_TRUE(ReadAt(5));

  cache_.Published(kPartition, 6, {}, true);

  EXPECT_FALSE(ReadAt(6));
  EXPECT_FALSE(cache_.Read({"e"}));
}

// The feed has read this commit, and the next, before it was remembered.
TEST_F(StateCacheReadTest, ACommitThatIsReportedAfterALaterOneWasPublishedIsNotRead) {
  cache_.Published(kPartition, 6, {EventWith({7}), EventWith({8})});
  cache_.Remember(committed_, cache_.Now());

  EXPECT_FALSE(ReadAt(6));
}

TEST_F(StateCacheReadTest, AnElectionWithAnAppointmentIsNotRead) {
  committed_.transaction.elections.at({"e"}).election.appointment = Appointment{"z"};
  RememberAndTell();

  EXPECT_FALSE(ReadAt(5));
}

TEST_F(StateCacheReadTest, AVacantSeatWithACandidateIsNotRead) {
  committed_ = AsCommitted({7}, false);
  committed_.offsets = {{kPartition, 5}};
  RememberAndTell();
  EXPECT_TRUE(ReadAt(5));

  committed_.transaction.elections.at({"e"}).election.waiting = 1;
  RememberAndTell();

  EXPECT_FALSE(ReadAt(5));
}

TEST_F(StateCacheReadTest, AnElectionThatWasReadIsKnown) {
  cache_.Published(kPartition, 5);

  cache_.Remember(View(), cache_.Now());

  EXPECT_TRUE(ReadAt(5));
  EXPECT_FALSE(ReadAt(6));
}

TEST_F(StateCacheReadTest, AReadDuringWhichEventsWerePublishedIsNotRemembered) {
  const auto begun = cache_.Now();
  cache_.Published(kPartition, 6, {EventWith({8})});

  cache_.Remember(View(), begun);

  EXPECT_FALSE(ReadAt(6));
}

TEST_F(StateCacheReadTest, ResultsFromBeforeEverythingWasForgottenAreDropped) {
  const auto begun = cache_.Now();
  cache_.ForgetAll();

  cache_.Remember(View(), begun);
  cache_.Remember(committed_, begun);
  cache_.Published(kPartition, 5);

  EXPECT_FALSE(ReadAt(5));
}

}  // namespace
}  // namespace tenure::engine
