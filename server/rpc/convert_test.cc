#include "server/rpc/convert.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "core/law/law_testing.h"

namespace tenure::rpc {
namespace {

using namespace tenure::testing;

using namespace std::chrono_literals;

// --- Names and numbers that are the same on both sides ---

TEST(EnumToProtoTest, CausesHaveTheContractsNumbersAndNames) {
  const auto* descriptor = v1::Cause_descriptor();

  for (int i = 1; i < descriptor->value_count(); ++i) {
    const auto cause = static_cast<Cause>(descriptor->value(i)->number());
    EXPECT_EQ(ToProto(cause), descriptor->value(i)->number());
    EXPECT_EQ("CAUSE_" + std::string(CauseName(cause)), descriptor->value(i)->name());
  }
  EXPECT_EQ(ToProto(Cause::kNone), v1::CAUSE_UNSPECIFIED);
  EXPECT_EQ(descriptor->value_count() - 1, static_cast<int>(Cause::kDeleted));
}

TEST(EnumToProtoTest, EventTypesHaveTheContractsNumbersAndNames) {
  const auto* descriptor = v1::Event::Type_descriptor();

  for (int i = 1; i < descriptor->value_count(); ++i) {
    Event event;
    event.type = static_cast<EventType>(descriptor->value(i)->number());
    EXPECT_EQ(ToProto(event).type(), descriptor->value(i)->number());
    EXPECT_EQ("TYPE_" + std::string(EventTypeName(event.type)), descriptor->value(i)->name());
  }
  EXPECT_EQ(descriptor->value_count() - 1, static_cast<int>(EventType::kHandoverAsked));
}

TEST(EnumToProtoTest, EveryOutcomeOfAResignationHasItsOwnNumber) {
  EXPECT_EQ(ToProto(ResignOutcome::kResigned), v1::ResignResponse::OUTCOME_RESIGNED);
  EXPECT_EQ(ToProto(ResignOutcome::kWithdrawn), v1::ResignResponse::OUTCOME_WITHDRAWN);
  EXPECT_EQ(ToProto(ResignOutcome::kNotStanding), v1::ResignResponse::OUTCOME_NOT_STANDING);
  EXPECT_EQ(ToProto(ResignOutcome::kSessionEnded), v1::ResignResponse::OUTCOME_SESSION_ENDED);
  EXPECT_EQ(v1::ResignResponse::Outcome_descriptor()->value_count() - 1, 4);
}

// --- Messages ---

Election OrdersLedByA() {
  Election election{kElection, Term{7}, Revision{13}, {}, 0, Leader{}};
  election.leader = Leader{Id("a"), "a", 10s, std::string("v\0", 2), kNow, {}};
  return election;
}

TEST(MessageToProtoTest, ALeadershipIsComplete) {
  const auto message = ToProto(LeadershipOf(OrdersLedByA()).value());

  EXPECT_EQ(message.election(), kElection.bytes);
  EXPECT_EQ(message.term(), 7u);
  EXPECT_EQ(message.candidate(), "a");
  EXPECT_EQ(message.value(), std::string("v\0", 2));
  EXPECT_EQ(message.elected_time().seconds(), 100);
  EXPECT_EQ(message.lease_ttl().seconds(), 10);
}

TEST(MessageToProtoTest, AVacantSeatHasNoLeadership) {
  EXPECT_EQ(LeadershipOf(Election{kElection, Term{7}, {}, {}, 0, {}}), std::nullopt);
}

TEST(MessageToProtoTest, ASessionShowsItsIdToItsOwner) {
  const auto message = ToProto(SessionOfCandidate("a"));

  EXPECT_EQ(message.session_id(), Id("a").Hex());
  EXPECT_EQ(message.candidate(), "a");
  EXPECT_EQ(message.lease_ttl().seconds(), 10);
}

TEST(MessageToProtoTest, AnEventIsCompleteExceptForTheSecretSession) {
  const Event event{kElection,       Revision{14}, EventType::kVacated,
                    Cause::kExpired, Term{7},      *OrdersLedByA().leader,
                    kNow + 1s};

  const auto message = ToProto(event);

  EXPECT_EQ(message.election(), kElection.bytes);
  EXPECT_EQ(message.revision(), 14u);
  EXPECT_EQ(message.type(), v1::Event::TYPE_VACATED);
  EXPECT_EQ(message.cause(), v1::CAUSE_EXPIRED);
  EXPECT_EQ(message.leadership().term(), 7u);
  EXPECT_EQ(message.leadership().candidate(), "a");
  EXPECT_EQ(message.time().seconds(), 101);
  EXPECT_THAT(message.DebugString(), ::testing::Not(::testing::HasSubstr(Id("a").Hex())));
}

TEST(MessageToProtoTest, ASnapshotOfAnUnknownElectionHasItsNameOnly) {
  const auto message = ToSnapshot(kElection, std::nullopt, v1::Snapshot::REASON_RESYNC);

  EXPECT_EQ(message.election(), kElection.bytes);
  EXPECT_EQ(message.reason(), v1::Snapshot::REASON_RESYNC);
  EXPECT_EQ(message.term(), 0u);
  EXPECT_EQ(message.revision(), 0u);
  EXPECT_FALSE(message.has_leader());
}

TEST(MessageToProtoTest, ASnapshotShowsTermRevisionAndLeader) {
  const auto message = ToSnapshot(kElection, OrdersLedByA(), v1::Snapshot::REASON_RESYNC);

  EXPECT_EQ(message.term(), 7u);
  EXPECT_EQ(message.revision(), 13u);
  EXPECT_EQ(message.leader().candidate(), "a");
}

}  // namespace
}  // namespace tenure::rpc
