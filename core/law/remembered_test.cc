#include "core/law/remembered.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "core/law/law_testing.h"

namespace tenure {
namespace {

using namespace std::chrono_literals;
using testing::kNow;

SessionId Numbered(uint8_t number) {
  SessionId id;
  id.bytes.fill(number);
  return id;
}

// One plain election, led by a session that is alive.
TransactionState Plain() {
  TransactionState state;
  state.now = kNow;
  Session session{Numbered(1), "a", 10s};
  session.opened_at = kNow + -20s;
  Election election{{"e"}, {3}, {7}, {4}};
  election.leader = Leader{session.id, "a", 10s, "v", kNow + -5s, {9}};
  state.sessions.emplace(session.id, session);
  state.elections[{"e"}] = {election, true};
  return state;
}

TransactionState Decided() {
  TransactionState decided = Plain();
  Election& election = decided.elections.at({"e"}).election;
  decided.events.push_back(
      {{"e"}, {8}, EventType::kVacated, Cause::kResigned, {3}, *election.leader, kNow});
  election.revision = {8};
  election.leader.reset();
  election.vacancy = Vacancy{Cause::kResigned, kNow};
  return decided;
}

struct Change {
  std::string name;
  std::function<void(TransactionState&)> make;
};

void PrintTo(const Change& change, std::ostream* out) { *out << change.name; }

std::string NameOf(const ::testing::TestParamInfo<Change>& info) { return info.param.name; }

Change OfElection(std::string name, const std::function<void(Election&)>& make) {
  return {std::move(name),
          [make](TransactionState& state) { make(state.elections.at({"e"}).election); }};
}

Change OfSession(std::string name, const std::function<void(Session&)>& make) {
  return {std::move(name),
          [make](TransactionState& state) { make(state.sessions.at(Numbered(1))); }};
}

// --- IsPlain ---

TEST(IsPlain, AnElectionInWhichNobodyWaits) {
  EXPECT_TRUE(IsPlain(Plain().elections.at({"e"})));

  ElectionState vacant = Decided().elections.at({"e"});
  EXPECT_TRUE(IsPlain(vacant));
}

class NotPlain : public ::testing::TestWithParam<Change> {};

TEST_P(NotPlain, IsNot) {
  TransactionState state = Plain();

  GetParam().make(state);

  EXPECT_FALSE(IsPlain(state.elections.at({"e"})));
}

INSTANTIATE_TEST_SUITE_P(
    Elections, NotPlain,
    ::testing::Values(
        Change{"unknown", [](auto& state) { state.elections.at({"e"}).exists = false; }},
        OfElection("deleted", [](Election& it) { it.deleted = true; }),
        OfElection("paused", [](Election& it) { it.paused = true; }),
        OfElection("waited_for", [](Election& it) { it.waiting = 1; }),
        OfElection("lock_delay", [](Election& it) { it.settings.lock_delay = 1s; }),
        OfElection("min_hold", [](Election& it) { it.settings.min_hold = 1s; }),
        OfElection("vacant_until", [](Election& it) { it.vacant_until = kNow; }),
        OfElection("cooling", [](Election& it) { it.cooling_until = kNow; }),
        OfElection("woken", [](Election& it) { it.wake_at = kNow; }),
        OfElection("appointment", [](Election& it) { it.appointment = Appointment{"b"}; })),
    NameOf);

// --- StillHolds ---

TEST(StillHolds, AnUnchangedState) { EXPECT_TRUE(StillHolds(Plain(), Plain())); }

TEST(StillHolds, ASessionThatHasMoved) {
  TransactionState loaded = Plain();
  loaded.sessions.at(Numbered(1)).home = {7};
  loaded.sessions.at(Numbered(1)).moves = 2;

  EXPECT_TRUE(StillHolds(Plain(), loaded));
}

TEST(StillHolds, AClockWithinTheTolerance) {
  TransactionState loaded = Plain();
  loaded.now = kNow + -kRememberedClockTolerance;

  EXPECT_TRUE(StillHolds(Plain(), loaded));
}

class NoLongerHolds : public ::testing::TestWithParam<Change> {};

TEST_P(NoLongerHolds, AChangedState) {
  TransactionState loaded = Plain();

  GetParam().make(loaded);

  EXPECT_FALSE(StillHolds(Plain(), loaded));
}

INSTANTIATE_TEST_SUITE_P(
    Changes, NoLongerHolds,
    ::testing::Values(
        OfElection("term", [](Election& it) { it.term = {4}; }),
        OfElection("revision", [](Election& it) { it.revision = {8}; }),
        OfElection("ticket", [](Election& it) { it.next_ticket = {5}; }),
        OfElection("waiting", [](Election& it) { it.waiting = 1; }),
        OfElection("leader", [](Election& it) { it.leader.reset(); }),
        OfElection("call_id", [](Election& it) { it.leader->call_id = {}; }),
        OfElection("paused", [](Election& it) { it.paused = true; }),
        OfElection("deleted", [](Election& it) { it.deleted = true; }),
        OfElection("queue_max", [](Election& it) { it.settings.queue_max = 1; }),
        OfElection("lease_ttl_max", [](Election& it) { it.settings.lease_ttl_max = 1s; }),
        OfElection("appointment", [](Election& it) { it.appointment = Appointment{"b"}; }),
        OfElection("cooling", [](Election& it) { it.cooling_until = kNow + 1s; }),
        OfSession("ended", [](Session& it) { it.ended = Cause::kDeposed; }),
        OfSession("another_lease", [](Session& it) { it.lease_ttl = 5s; }),
        OfSession("another_promise", [](Session& it) { it.lease_ttl_since = kNow; }),
        Change{"no_session", [](TransactionState& it) { it.sessions.clear(); }},
        Change{"one_more_session",
               [](TransactionState& it) {
                 it.sessions[Numbered(2)] = Session{Numbered(2), "b"};
               }},
        Change{"no_election", [](TransactionState& it) { it.elections.clear(); }},
        Change{"does_not_exist",
               [](TransactionState& it) { it.elections.at({"e"}).exists = false; }},
        Change{
            "clock_ahead",
            [](TransactionState& it) { it.now = kNow + kRememberedClockTolerance + Duration(1); }},
        Change{"clock_behind",
               [](TransactionState& it) {
                 it.now = kNow + -kRememberedClockTolerance + Duration(-1);
               }}),
    NameOf);

// --- MayCommitFromMemory ---

TEST(MayCommitFromMemory, AResignation) { EXPECT_TRUE(MayCommitFromMemory(Plain(), Decided())); }

TEST(MayCommitFromMemory, ANewSession) {
  TransactionState decided = Decided();
  decided.sessions[Numbered(2)] = Session{Numbered(2), "b", 10s};

  EXPECT_TRUE(MayCommitFromMemory(Plain(), decided));
}

TEST(MayCommitFromMemory, ANewPlaceAndItsWakeUp) {
  TransactionState decided = Decided();
  decided.elections.at({"e"}).election.waiting = 1;
  decided.elections.at({"e"}).election.wake_at = kNow + 1s;

  EXPECT_TRUE(MayCommitFromMemory(Plain(), decided));
}

class NotFromMemory : public ::testing::TestWithParam<Change> {};

TEST_P(NotFromMemory, AChangeThatTheConditionsDoNotCover) {
  TransactionState decided = Decided();

  GetParam().make(decided);

  EXPECT_FALSE(MayCommitFromMemory(Plain(), decided));
}

INSTANTIATE_TEST_SUITE_P(
    Decisions, NotFromMemory,
    ::testing::Values(
        Change{"no_event", [](TransactionState& it) { it.events.clear(); }},
        Change{"an_ended_session", [](TransactionState& it) { it.ended = {Numbered(1)}; }},
        Change{"undecided", [](TransactionState& it) { it.undecided = {{"e"}}; }},
        Change{"busy", [](TransactionState& it) { it.busy = {{"e"}}; }},
        Change{"busy_session", [](TransactionState& it) { it.busy_sessions = {Numbered(1)}; }},
        Change{"a_record", [](TransactionState& it) { it.admin_changes.push_back({}); }},
        Change{"emptied", [](TransactionState& it) { it.elections.at({"e"}).emptied = true; }},
        Change{"cool_down",
               [](TransactionState& it) { it.elections.at({"e"}).cool_downs["a"] = kNow; }},
        OfElection("settings", [](Election& it) { it.settings.queue_max = 1; }),
        OfElection("paused", [](Election& it) { it.paused = true; }),
        OfElection("deleted", [](Election& it) { it.deleted = true; }),
        OfElection("vacant_until", [](Election& it) { it.vacant_until = kNow + 1s; }),
        OfSession("another_lease", [](Session& it) { it.lease_ttl = 5s; })),
    NameOf);

}  // namespace
}  // namespace tenure
