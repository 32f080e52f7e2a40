#include "bench/report/holder_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

namespace tenure::bench {
namespace {

using namespace std::chrono_literals;
using ::testing::Eq;
using ::testing::SizeIs;

HolderTime At(std::chrono::milliseconds time) { return HolderTime(time); }

HolderLog WorkedUntil(std::chrono::milliseconds last, std::chrono::milliseconds ended) {
  return ReadHolderLog(
      {HolderLine(HolderEvent::kBegan, At(0ms)), HolderLine(HolderEvent::kRenewed, At(1ms)),
       HolderLine(HolderEvent::kWorked, At(10ms)), HolderLine(HolderEvent::kWorked, At(last)),
       HolderLine(HolderEvent::kEnded, At(ended))});
}

TEST(HolderLogTest, ReadsBackWhatAHolderWrites) {
  const HolderLog log = WorkedUntil(20ms, 25ms);

  EXPECT_THAT(log.began, Eq(At(0ms)));
  EXPECT_THAT(log.ended, Eq(At(25ms)));
  EXPECT_THAT(log.resigning, Eq(std::nullopt));
  EXPECT_THAT(log.renewals, Eq(1));
  EXPECT_THAT(log.worked, SizeIs(2));
}

TEST(HolderLogTest, AnUnknownLineIsAnError) {
  EXPECT_THROW((void)ReadHolderLog({"slept 7"}), std::runtime_error);
  EXPECT_THROW((void)ReadHolderLog({"worked"}), std::runtime_error);
}

TEST(HolderLogTest, TheOverlapLastsUntilTheHolderKnows) {
  EXPECT_THAT(WorkedUntil(1000ms, 1002ms).OverlapMs(At(990ms)), Eq(12));
}

TEST(HolderLogTest, AHolderThatDoesNoWorkMeanwhileDoesNotOverlap) {
  EXPECT_THAT(WorkedUntil(20ms, 1002ms).OverlapMs(At(990ms)), Eq(0));
}

}  // namespace
}  // namespace tenure::bench
