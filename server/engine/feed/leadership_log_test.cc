#include "server/engine/feed/leadership_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tenure::engine {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::IsEmpty;

constexpr DbTime kGrantedAt{10s};
constexpr DbTime kEarlier{9'750ms};

Event NewEvent(EventType type, const std::string& election, uint64_t term,
               const std::string& candidate, Cause cause = Cause::kNone) {
  Event event;
  event.type = type;
  event.election = {election};
  event.term = Term{term};
  event.leader.candidate = candidate;
  event.cause = cause;
  return event;
}

TransactionState TransactionWith(std::vector<Event> events, std::vector<Succession> successions) {
  TransactionState transaction;
  transaction.now = kGrantedAt;
  transaction.events = std::move(events);
  transaction.successions = std::move(successions);
  return transaction;
}

auto Is(const std::string& from, const std::string& to, const std::string& cause, uint64_t term) {
  return AllOf(Field("from", &LeadershipChange::from, from), Field("to", &LeadershipChange::to, to),
               Field("cause", &LeadershipChange::cause, cause),
               Field("term", &LeadershipChange::term, term));
}

TEST(LeadershipChangesTest, ASeatThatPassesIsOneChange) {
  const auto transaction =
      TransactionWith({NewEvent(EventType::kVacated, "e", 7, "a", Cause::kResigned),
                       NewEvent(EventType::kElected, "e", 8, "b")},
                      {{Vacancy{Cause::kResigned, kGrantedAt}}});

  EXPECT_THAT(LeadershipChanges(transaction, {}), ElementsAre(Is("a", "b", "RESIGNED", 8)));
}

TEST(LeadershipChangesTest, ASeatThatStaysEmptyIsOneChange) {
  const auto transaction =
      TransactionWith({NewEvent(EventType::kVacated, "e", 7, "a", Cause::kExpired)}, {});

  EXPECT_THAT(LeadershipChanges(transaction, {}), ElementsAre(Is("a", "", "EXPIRED", 7)));
}

TEST(LeadershipChangesTest, TheFirstLeaderFollowsNobody) {
  const auto transaction =
      TransactionWith({NewEvent(EventType::kElected, "e", 1, "a")}, {{std::nullopt}});

  EXPECT_THAT(LeadershipChanges(transaction, {}), ElementsAre(Is("", "a", "", 1)));
}

TEST(LeadershipChangesTest, ASeatFilledLaterWasLeaderlessMeanwhile) {
  const auto transaction = TransactionWith({NewEvent(EventType::kElected, "e", 8, "b")},
                                           {{Vacancy{Cause::kExpired, kEarlier}}});

  const auto changes = LeadershipChanges(transaction, {});

  ASSERT_THAT(changes, ElementsAre(Is("", "b", "EXPIRED", 8)));
  EXPECT_DOUBLE_EQ(changes[0].leaderless_seconds, 0.25);
}

TEST(LeadershipChangesTest, ElectionsAreNotMixedUp) {
  const auto transaction = TransactionWith(
      {NewEvent(EventType::kVacated, "e", 7, "a", Cause::kDeposed),
       NewEvent(EventType::kElected, "f", 3, "c"), NewEvent(EventType::kElected, "e", 8, "b")},
      {{std::nullopt}, {Vacancy{Cause::kDeposed, kGrantedAt}}});

  EXPECT_THAT(LeadershipChanges(transaction, {}),
              ElementsAre(Is("a", "b", "DEPOSED", 8), Is("", "c", "", 3)));
}

TEST(LeadershipChangesTest, AChangeHasTheTraceOfTheCallThatMadeIt) {
  const auto transaction = TransactionWith(
      {NewEvent(EventType::kElected, "e", 1, "a"), NewEvent(EventType::kElected, "f", 1, "b"),
       NewEvent(EventType::kElected, "g", 1, "c")},
      {{std::nullopt}, {std::nullopt}, {std::nullopt}});

  const auto changes = LeadershipChanges(transaction, {"", "trace of b"});

  EXPECT_EQ(changes[0].trace, "");
  EXPECT_EQ(changes[1].trace, "trace of b");
  EXPECT_EQ(changes[2].trace, "");
}

TEST(LeadershipChangesTest, OtherEventsAreNotLeadershipChanges) {
  const auto transaction = TransactionWith({NewEvent(EventType::kProclaimed, "e", 1, "a")}, {});

  EXPECT_THAT(LeadershipChanges(transaction, {}), IsEmpty());
}

}  // namespace
}  // namespace tenure::engine
