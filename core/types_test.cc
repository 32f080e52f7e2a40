#include "core/types.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace tenure {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::Ge;
using ::testing::IsEmpty;
using ::testing::Le;
using ::testing::Not;
using ::testing::Optional;
using ::testing::SizeIs;

constexpr std::string_view kHex = "000102030405060708090a0b0c0d0eff";

TEST(SessionIdTest, ASessionIdReadsBackFromItsHexadecimalForm) {
  const auto id = SessionId::FromHex(kHex);

  ASSERT_TRUE(id);
  EXPECT_EQ(id->Hex(), kHex);
  EXPECT_EQ(id->bytes[1], 0x01);
  EXPECT_EQ(id->bytes[15], 0xff);
}

TEST(SessionIdTest, EveryByteReadsBackFromItsHexadecimalForm) {
  for (int byte = 0; byte < 256; ++byte) {
    SessionId id;
    id.bytes.fill(static_cast<uint8_t>(byte));

    EXPECT_THAT(SessionId::FromHex(id.Hex()), Optional(id));
  }
}

TEST(SessionIdTest, TheHandleIsTheFirstHalf) {
  const auto id = SessionId::FromHex(kHex);

  EXPECT_EQ(id->Handle(), kHex.substr(0, 16));
}

class MalformedSessionIdTest : public ::testing::TestWithParam<std::string_view> {};

TEST_P(MalformedSessionIdTest, AMalformedTextIsNotASessionId) {
  EXPECT_EQ(SessionId::FromHex(GetParam()), std::nullopt);
}

INSTANTIATE_TEST_SUITE_P(
    Each, MalformedSessionIdTest,
    ::testing::Values("",                                    // nothing
                      "000102030405060708090a0b0c0d0ef",     // one digit too few
                      "000102030405060708090a0b0c0d0eff0",   // one digit too many
                      "000102030405060708090a0b0c0d0eff00",  // one byte too many
                      "000102030405060708090A0B0C0D0EFF",    // upper case
                      "000102030405060708090a0b0c0d0efg",    // not a digit
                      " 00102030405060708090a0b0c0d0eff",    // leading space
                      "000102030405060708090a0b0c0d0ef ",    // trailing space
                      "0x0102030405060708090a0b0c0d0eff",    // a prefix
                      std::string_view("000102030405060708090a0b0c0d0ef\0", 32)));  // NUL

TEST(SessionTest, ASessionIsAliveUntilItsRowSaysOtherwise) {
  EXPECT_TRUE((Session{{}, "a", 10s}).Alive());
  EXPECT_FALSE((Session{{}, "a", 10s, Cause::kResigned, DbTime{110s}}).Alive());
}

Candidacy Place(int32_t priority, uint64_t ticket) {
  Candidacy candidacy;
  candidacy.priority = priority;
  candidacy.ticket = {ticket};
  return candidacy;
}

constexpr int32_t kLowest = std::numeric_limits<int32_t>::min();
constexpr int32_t kHighest = std::numeric_limits<int32_t>::max();

TEST(CandidacyTest, AmongEqualsTheFirstToComeIsFirst) {
  EXPECT_TRUE(Place(0, 1).Before(Place(0, 2)));
  EXPECT_FALSE(Place(0, 2).Before(Place(0, 1)));
}

TEST(CandidacyTest, ACandidacyIsNotBeforeItself) { EXPECT_FALSE(Place(3, 1).Before(Place(3, 1))); }

TEST(CandidacyTest, PriorityGoesBeforeArrival) {
  EXPECT_TRUE(Place(1, 9).Before(Place(0, 1)));
  EXPECT_FALSE(Place(0, 1).Before(Place(1, 9)));
  EXPECT_TRUE(Place(0, 9).Before(Place(-1, 1)));
}

TEST(CandidacyTest, TheExtremesOfPriorityAreInOrder) {
  EXPECT_TRUE(Place(kHighest, 9).Before(Place(kLowest, 1)));
  EXPECT_FALSE(Place(kLowest, 1).Before(Place(kHighest, 9)));
  EXPECT_TRUE(Place(kHighest, 9).Before(Place(kHighest - 1, 1)));
  EXPECT_TRUE(Place(kLowest + 1, 9).Before(Place(kLowest, 1)));
}

TEST(CauseTest, EveryCauseHasItsOwnName) {
  std::set<std::string_view> names;

  for (int cause = 1; cause <= 7; ++cause) names.insert(CauseName(static_cast<Cause>(cause)));

  EXPECT_THAT(names, AllOf(SizeIs(7), Each(Not(IsEmpty()))));
  EXPECT_THAT(CauseName(Cause::kNone), IsEmpty());
}

TEST(EventTypeTest, EveryTypeHasItsName) {
  EXPECT_EQ(EventTypeName(EventType::kElected), "ELECTED");
  EXPECT_EQ(EventTypeName(EventType::kProclaimed), "PROCLAIMED");
  EXPECT_EQ(EventTypeName(EventType::kVacated), "VACATED");
  EXPECT_EQ(EventTypeName(EventType::kHandoverAsked), "HANDOVER_ASKED");
}

TEST(AdminActionTest, EveryActionHasItsName) {
  EXPECT_EQ(AdminActionName(AdminAction::kAppointed), "APPOINTED");
  EXPECT_EQ(AdminActionName(AdminAction::kDeposed), "DEPOSED");
  EXPECT_EQ(AdminActionName(AdminAction::kPaused), "PAUSED");
  EXPECT_EQ(AdminActionName(AdminAction::kResumed), "RESUMED");
  EXPECT_EQ(AdminActionName(AdminAction::kConfigured), "CONFIGURED");
  EXPECT_EQ(AdminActionName(AdminAction::kDeleted), "DELETED");
  EXPECT_EQ(AdminActionName(AdminAction::kSessionEnded), "SESSION_ENDED");
  EXPECT_EQ(AdminActionName(AdminAction::kPurged), "PURGED");
  EXPECT_EQ(AdminActionName(AdminAction::kTermsRaised), "TERMS_RAISED");
}

TEST(LeadershipTest, ALeadershipNamesTheLeaderAndItsSuccessor) {
  Election election{ElectionName{"orders"}, Term{7}, Revision{13}, Ticket{1}};
  EXPECT_EQ(LeadershipOf(election), std::nullopt);

  election.leader = Leader{{}, "a", 10s, "v", DbTime{100s}, CallId{5}};
  const Leadership undisturbed{election.name, Term{7}, *election.leader, ""};
  EXPECT_THAT(LeadershipOf(election), Optional(undisturbed));

  election.appointment = Appointment{"b"};
  const Leadership asked{election.name, Term{7}, *election.leader, "b"};
  EXPECT_THAT(LeadershipOf(election), Optional(asked));
}

// Two replicas that disagree about a partition lose events. These numbers must never change.
class PartitionTest : public ::testing::TestWithParam<std::pair<std::string, int>> {};

TEST_P(PartitionTest, AnElectionsPartitionNeverChanges) {
  const auto& [name, partition] = GetParam();

  EXPECT_EQ(PartitionOf(ElectionName{name}), partition);
}

INSTANTIATE_TEST_SUITE_P(Each, PartitionTest,
                         ::testing::Values(std::pair("", 1), std::pair("a", 0), std::pair("b", 1),
                                           std::pair("orders", 2), std::pair("Orders", 2),
                                           std::pair("orders ", 3), std::pair("orders/eu", 1),
                                           std::pair("f\u00f6\u00f6", 0), std::pair("billing", 2),
                                           std::pair("\xff\x80", 1),
                                           std::pair(std::string(255, 'x'), 1)));

TEST(PartitionSpreadTest, PartitionsShareTheElectionsEvenly) {
  std::array<int, kPartitionCount> elections{};

  for (int i = 0; i < 1000 * kPartitionCount; ++i) {
    ++elections[static_cast<size_t>(PartitionOf(ElectionName{"orders/" + std::to_string(i)}))];
  }

  EXPECT_THAT(elections, Each(AllOf(Ge(850), Le(1150))));
}

TEST(HashTest, EqualSessionIdsHashAlikeAndOthersDiffer) {
  const auto a = *SessionId::FromHex("000102030405060708090a0b0c0d0eff");
  const auto b = *SessionId::FromHex("000102030405060708090a0b0c0d0efe");

  EXPECT_EQ(std::hash<SessionId>{}(a), std::hash<SessionId>{}(SessionId(a)));
  EXPECT_NE(std::hash<SessionId>{}(a), std::hash<SessionId>{}(b));
}

}  // namespace
}  // namespace tenure
