#include "core/lineage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tenure {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr PartitionOffsets kOffsets{10, 20, 30, 40};

Epoch At(uint64_t number, const std::string& server) {
  return {.number = number, .token = 100 + number, .server = server};
}

// A database at epoch 3, reached on `server`, and a replica that knows it.
HistoryReading Reading(const std::string& server = "a") {
  return {.server = {.number = 1, .name = "MySQL", .history = server},
          .offsets = kOffsets,
          .latest = At(3, "a"),
          .remembered = At(3, "a"),
          .now = {Duration(5)}};
}
const HistoryMemory kMemory{3, 103, kOffsets};

TEST(LineageTest, AKnownHistoryGoesOn) {
  EXPECT_EQ(Assess(kMemory, Reading()).finding, Finding::kGoesOn);
  HistoryReading further = Reading();
  further.offsets = {11, 21, 31, 41};
  EXPECT_EQ(Assess(kMemory, further).finding, Finding::kGoesOn);
  EXPECT_THAT(Assess(kMemory, further).why, IsEmpty());
}

TEST(LineageTest, ANewDatabaseBegins) {
  HistoryReading reading = Reading();
  reading.latest = reading.remembered = std::nullopt;
  reading.offsets = {};

  EXPECT_EQ(Assess({}, reading).finding, Finding::kBegins);
  const Epoch first = NextEpoch({}, reading, Epoch::State::kOpen, 7);
  EXPECT_EQ(first, (Epoch{.number = 8, .token = 7, .server = "a", .began_at = {Duration(5)}}));
}

TEST(LineageTest, AnotherServiceHasAnotherKeyAndAHistoryOfItsOwn) {
  HistoryMemory memory = kMemory;
  HistoryReading reading = Reading();
  reading.remembered.reset();
  EXPECT_FALSE(IsAnotherService(memory, reading));
  memory.session_key = "a";
  EXPECT_FALSE(IsAnotherService(memory, reading)) << "no replica has used it yet";
  reading.session_key = "a";
  EXPECT_FALSE(IsAnotherService(memory, reading));
  reading.session_key = "b";
  EXPECT_TRUE(IsAnotherService(memory, reading));
  HistoryMemory older = memory;
  older.Saw("b");
  older.Saw("c");
  EXPECT_FALSE(IsAnotherService(older, reading)) << "a backup of before it was wiped";
  EXPECT_FALSE(IsAnotherService({}, reading));
  reading.remembered = Reading().remembered;
  EXPECT_FALSE(IsAnotherService(memory, reading)) << "it was wiped, and repaired since";
  reading.remembered->token = 99;
  EXPECT_TRUE(IsAnotherService(memory, reading));
}

TEST(LineageTest, AnOffsetBelowTheOneSeenIsALoss) {
  for (size_t partition = 0; partition < kOffsets.size(); ++partition) {
    HistoryReading reading = Reading();
    --reading.offsets[partition];
    EXPECT_EQ(Assess(kMemory, reading).finding, Finding::kLost) << partition;
    EXPECT_THAT(Assess(kMemory, reading).why, HasSubstr("partition " + std::to_string(partition)));
  }
}

TEST(LineageTest, AWipedDatabaseIsALoss) {
  HistoryReading reading = Reading();
  reading.latest = reading.remembered = std::nullopt;
  reading.offsets = {};

  EXPECT_EQ(Assess(kMemory, reading).finding, Finding::kLost);
  EXPECT_EQ(NextEpoch(kMemory, reading, Epoch::State::kLost, 7).number, 11U);
}

// That history went on by itself, so its offsets may be higher than those seen.
TEST(LineageTest, AnotherEpochOfTheSameNumberIsALoss) {
  HistoryReading reading = Reading();
  reading.offsets = {99, 99, 99, 99};
  reading.remembered->token = 1;
  EXPECT_EQ(Assess(kMemory, reading).finding, Finding::kLost);

  reading.remembered.reset();
  EXPECT_EQ(Assess(kMemory, reading).finding, Finding::kLost);
}

TEST(LineageTest, AnotherServerMayHaveLostCommitsEvenIfNobodyRemembers) {
  EXPECT_EQ(Assess(kMemory, Reading("b")).finding, Finding::kLost);
  EXPECT_EQ(Assess({}, Reading("b")).finding, Finding::kLost);
  EXPECT_THAT(Assess({}, Reading("b")).why, HasSubstr("b after a"));
}

TEST(LineageTest, AServerPromotedInPlaceOfALosslessOneBegins) {
  HistoryReading reading = Reading("b");
  reading.latest->lossless = true;

  EXPECT_EQ(Assess(kMemory, reading).finding, Finding::kBegins);
  EXPECT_EQ(NextEpoch(kMemory, reading, Epoch::State::kOpen, 7).number, 11U);

  --reading.offsets[0];
  EXPECT_EQ(Assess(kMemory, reading).finding, Finding::kLost) << "it promised too much";
}

// The source may have stopped waiting for its copies before it died. Its last writes, and every
// replica that knew of them, died with it.
TEST(LineageTest, APromotionThatNoReplicaSurvivedIsALoss) {
  HistoryReading reading = Reading("b");
  reading.latest->lossless = true;
  HistoryMemory none;
  EXPECT_EQ(Assess(none, reading).finding, Finding::kUnknown);

  none.somebody_lives = true;
  EXPECT_EQ(Assess(none, reading).finding, Finding::kBegins);
  none.somebody_lives = false;
  EXPECT_EQ(Assess(none, reading).finding, Finding::kLost);
  EXPECT_EQ(Assess(none, Reading()).finding, Finding::kGoesOn) << "it is the same server";
}

TEST(LineageTest, AServerThatPromisesLessOrMoreBeginsAnEpoch) {
  HistoryReading reading = Reading();
  reading.latest->lossless = true;
  EXPECT_EQ(Assess(kMemory, reading).finding, Finding::kBegins);

  reading = Reading();
  reading.server.guards_write = true;
  EXPECT_EQ(Assess(kMemory, reading).finding, Finding::kBegins);
  EXPECT_TRUE(NextEpoch(kMemory, reading, Epoch::State::kOpen, 7).guards_write);
}

TEST(LineageTest, ALossFoundByAnotherReplicaIsALoss) {
  HistoryReading reading = Reading();
  reading.latest = At(4, "a");
  reading.latest->state = Epoch::State::kLost;

  EXPECT_EQ(Assess(kMemory, reading).finding, Finding::kIsLost);
  EXPECT_EQ(Assess({}, reading).finding, Finding::kIsLost);
}

// The wait for the longest lease starts again: for the old loss it ended long ago.
TEST(LineageTest, ALossThatCameBackFromABackupIsANewOne) {
  HistoryReading reading = Reading();
  reading.latest = At(2, "a");
  reading.latest->state = Epoch::State::kLost;
  reading.remembered.reset();

  EXPECT_EQ(Assess(kMemory, reading).finding, Finding::kLost);
  EXPECT_EQ(NextEpoch(kMemory, reading, Epoch::State::kLost, 7).number, 11U);
}

TEST(LineageTest, AfterARepairTheLossNoLongerMatters) {
  HistoryReading reading = Reading();
  reading.offsets = {};
  reading.remembered.reset();
  reading.latest = At(5, "a");
  reading.latest->state = Epoch::State::kRepaired;
  reading.repaired = 5;

  EXPECT_EQ(Assess(kMemory, reading).finding, Finding::kGoesOn);

  // But it has to be a repair of this history, or of one that was ahead of it.
  reading.latest->number = reading.repaired = 2;
  EXPECT_EQ(Assess(kMemory, reading).finding, Finding::kLost);
}

TEST(LineageTest, ARepairedEpochIsRemembered) {
  HistoryReading reading = Reading();
  reading.latest->state = reading.remembered->state = Epoch::State::kRepaired;
  reading.repaired = 3;
  EXPECT_EQ(Assess(kMemory, reading).finding, Finding::kGoesOn);

  --reading.offsets[0];
  EXPECT_EQ(Assess(kMemory, reading).finding, Finding::kLost);
}

}  // namespace
}  // namespace tenure
