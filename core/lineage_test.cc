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
HistorySight Sight(const std::string& server = "a") {
  return {.server = {.number = 1, .name = "MySQL", .history = server},
          .offsets = kOffsets,
          .latest = At(3, "a"),
          .remembered = At(3, "a"),
          .now = {Duration(5)}};
}
const HistoryMemory kMemory{3, 103, kOffsets};

TEST(LineageTest, AKnownHistoryGoesOn) {
  EXPECT_EQ(Judge(kMemory, Sight()).verdict, Verdict::kGoesOn);
  HistorySight further = Sight();
  further.offsets = {11, 21, 31, 41};
  EXPECT_EQ(Judge(kMemory, further).verdict, Verdict::kGoesOn);
  EXPECT_THAT(Judge(kMemory, further).why, IsEmpty());
}

TEST(LineageTest, ANewDatabaseBegins) {
  HistorySight sight = Sight();
  sight.latest = sight.remembered = std::nullopt;
  sight.offsets = {};

  EXPECT_EQ(Judge({}, sight).verdict, Verdict::kBegins);
  const Epoch first = NextEpoch({}, sight, Epoch::State::kOpen, 7);
  EXPECT_EQ(first, (Epoch{.number = 8, .token = 7, .server = "a", .began_at = {Duration(5)}}));
}

TEST(LineageTest, AnotherServiceHasAnotherKeyAndAHistoryOfItsOwn) {
  HistoryMemory memory = kMemory;
  HistorySight sight = Sight();
  sight.remembered.reset();
  EXPECT_FALSE(IsAnotherService(memory, sight));
  memory.session_key = "a";
  EXPECT_FALSE(IsAnotherService(memory, sight)) << "no replica has used it yet";
  sight.session_key = "a";
  EXPECT_FALSE(IsAnotherService(memory, sight));
  sight.session_key = "b";
  EXPECT_TRUE(IsAnotherService(memory, sight));
  HistoryMemory older = memory;
  older.Saw("b");
  older.Saw("c");
  EXPECT_FALSE(IsAnotherService(older, sight)) << "a backup of before it was wiped";
  EXPECT_FALSE(IsAnotherService({}, sight));
  sight.remembered = Sight().remembered;
  EXPECT_FALSE(IsAnotherService(memory, sight)) << "it was wiped, and repaired since";
  sight.remembered->token = 99;
  EXPECT_TRUE(IsAnotherService(memory, sight));
}

TEST(LineageTest, AnOffsetBelowTheOneSeenIsALoss) {
  for (size_t partition = 0; partition < kOffsets.size(); ++partition) {
    HistorySight sight = Sight();
    --sight.offsets[partition];
    EXPECT_EQ(Judge(kMemory, sight).verdict, Verdict::kLost) << partition;
    EXPECT_THAT(Judge(kMemory, sight).why, HasSubstr("partition " + std::to_string(partition)));
  }
}

TEST(LineageTest, AWipedDatabaseIsALoss) {
  HistorySight sight = Sight();
  sight.latest = sight.remembered = std::nullopt;
  sight.offsets = {};

  EXPECT_EQ(Judge(kMemory, sight).verdict, Verdict::kLost);
  EXPECT_EQ(NextEpoch(kMemory, sight, Epoch::State::kLost, 7).number, 11U);
}

// That history went on by itself, so its offsets may be higher than those seen.
TEST(LineageTest, AnotherEpochOfTheSameNumberIsALoss) {
  HistorySight sight = Sight();
  sight.offsets = {99, 99, 99, 99};
  sight.remembered->token = 1;
  EXPECT_EQ(Judge(kMemory, sight).verdict, Verdict::kLost);

  sight.remembered.reset();
  EXPECT_EQ(Judge(kMemory, sight).verdict, Verdict::kLost);
}

TEST(LineageTest, AnotherServerMayHaveLostCommitsEvenIfNobodyRemembers) {
  EXPECT_EQ(Judge(kMemory, Sight("b")).verdict, Verdict::kLost);
  EXPECT_EQ(Judge({}, Sight("b")).verdict, Verdict::kLost);
  EXPECT_THAT(Judge({}, Sight("b")).why, HasSubstr("b after a"));
}

TEST(LineageTest, AServerPromotedInPlaceOfALosslessOneBegins) {
  HistorySight sight = Sight("b");
  sight.latest->lossless = true;

  EXPECT_EQ(Judge(kMemory, sight).verdict, Verdict::kBegins);
  EXPECT_EQ(NextEpoch(kMemory, sight, Epoch::State::kOpen, 7).number, 11U);

  --sight.offsets[0];
  EXPECT_EQ(Judge(kMemory, sight).verdict, Verdict::kLost) << "it promised too much";
}

// The source may have stopped waiting for its copies before it died. Its last writes, and every
// replica that knew of them, died with it.
TEST(LineageTest, APromotionThatNoReplicaSurvivedIsALoss) {
  HistorySight sight = Sight("b");
  sight.latest->lossless = true;
  HistoryMemory none;
  EXPECT_EQ(Judge(none, sight).verdict, Verdict::kUnknown);

  none.somebody_lives = true;
  EXPECT_EQ(Judge(none, sight).verdict, Verdict::kBegins);
  none.somebody_lives = false;
  EXPECT_EQ(Judge(none, sight).verdict, Verdict::kLost);
  EXPECT_EQ(Judge(none, Sight()).verdict, Verdict::kGoesOn) << "it is the same server";
}

TEST(LineageTest, AServerThatPromisesLessOrMoreBeginsAnEpoch) {
  HistorySight sight = Sight();
  sight.latest->lossless = true;
  EXPECT_EQ(Judge(kMemory, sight).verdict, Verdict::kBegins);

  sight = Sight();
  sight.server.guards_write = true;
  EXPECT_EQ(Judge(kMemory, sight).verdict, Verdict::kBegins);
  EXPECT_TRUE(NextEpoch(kMemory, sight, Epoch::State::kOpen, 7).guards_write);
}

TEST(LineageTest, ALossFoundByAnotherReplicaIsALoss) {
  HistorySight sight = Sight();
  sight.latest = At(4, "a");
  sight.latest->state = Epoch::State::kLost;

  EXPECT_EQ(Judge(kMemory, sight).verdict, Verdict::kIsLost);
  EXPECT_EQ(Judge({}, sight).verdict, Verdict::kIsLost);
}

// The wait for the longest lease starts again: for the old loss it ended long ago.
TEST(LineageTest, ALossThatCameBackFromABackupIsANewOne) {
  HistorySight sight = Sight();
  sight.latest = At(2, "a");
  sight.latest->state = Epoch::State::kLost;
  sight.remembered.reset();

  EXPECT_EQ(Judge(kMemory, sight).verdict, Verdict::kLost);
  EXPECT_EQ(NextEpoch(kMemory, sight, Epoch::State::kLost, 7).number, 11U);
}

TEST(LineageTest, AfterARepairTheLossNoLongerMatters) {
  HistorySight sight = Sight();
  sight.offsets = {};
  sight.remembered.reset();
  sight.latest = At(5, "a");
  sight.latest->state = Epoch::State::kRepaired;
  sight.repaired = 5;

  EXPECT_EQ(Judge(kMemory, sight).verdict, Verdict::kGoesOn);

  // But it has to be a repair of this history, or of one that was ahead of it.
  sight.latest->number = sight.repaired = 2;
  EXPECT_EQ(Judge(kMemory, sight).verdict, Verdict::kLost);
}

TEST(LineageTest, ARepairedEpochIsRemembered) {
  HistorySight sight = Sight();
  sight.latest->state = sight.remembered->state = Epoch::State::kRepaired;
  sight.repaired = 3;
  EXPECT_EQ(Judge(kMemory, sight).verdict, Verdict::kGoesOn);

  --sight.offsets[0];
  EXPECT_EQ(Judge(kMemory, sight).verdict, Verdict::kLost);
}

}  // namespace
}  // namespace tenure
