#include "bench/report/results.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tenure::bench {
namespace {

using ::testing::DoubleEq;
using ::testing::Eq;
using ::testing::Optional;

Verdict OnlyVerdict(const Results& results, RowId id) {
  return results.Judge(results.At(id), results.At(id).goals.at(0));
}

TEST(ResultsTest, ARowShowsTheMedianOfItsRounds) {
  Results results = NoResults();

  results.At(RowId::kReads).rounds[Column::kEtcd] = {100, 300, 200};

  EXPECT_THAT(results.At(RowId::kReads).Value(Column::kEtcd), Optional(DoubleEq(200)));
}

TEST(ResultsTest, ARowForTheWorstCaseShowsTheLargest) {
  Results results = NoResults();

  results.At(RowId::kCrash).rounds[Column::kTenure] = {2050, 2101, 2040};

  EXPECT_THAT(results.At(RowId::kCrash).Value(Column::kTenure), Optional(DoubleEq(2101)));
  EXPECT_FALSE(OnlyVerdict(results, RowId::kCrash).met);
}

TEST(ResultsTest, AThroughputIsComparedWithEachPeer) {
  Results results = NoResults();
  Row& row = results.At(RowId::kCycles32);

  row.rounds = {{Column::kTenure, {4000}}, {Column::kEtcd, {2000}}, {Column::kZooKeeper, {5000}}};

  const Verdict etcd = results.Judge(row, row.goals.at(0));
  EXPECT_THAT(etcd.goal, Eq("at least 1.1 x etcd"));
  EXPECT_THAT(etcd.bound, Optional(DoubleEq(2200)));
  EXPECT_THAT(etcd.measured, Optional(DoubleEq(2)));
  EXPECT_TRUE(etcd.met);
  const Verdict zookeeper = results.Judge(row, row.goals.at(1));
  EXPECT_THAT(zookeeper.goal, Eq("at least 1.1 x ZooKeeper"));
  EXPECT_THAT(zookeeper.measured, Optional(DoubleEq(0.8)));
  EXPECT_FALSE(zookeeper.met);
  EXPECT_FALSE(results.Met(row));
}

TEST(ResultsTest, ALatencyMustNotExceedItsMultipleOfThePeers) {
  Results results = NoResults();

  results.At(RowId::kHandOver).rounds = {{Column::kTenure, {1.9}}, {Column::kEtcd, {1.4}}};

  EXPECT_FALSE(OnlyVerdict(results, RowId::kHandOver).met);
}

TEST(ResultsTest, ALongQueueIsComparedWithAShortOne) {
  Results results = NoResults();

  results.At(RowId::kHandOver).rounds[Column::kTenure] = {2};
  results.At(RowId::kHandOverLongQueue).rounds[Column::kTenure] = {3};

  const Verdict verdict = OnlyVerdict(results, RowId::kHandOverLongQueue);
  EXPECT_THAT(verdict.measured, Optional(DoubleEq(1.5)));
  EXPECT_TRUE(verdict.met);
}

TEST(ResultsTest, AGoalThatWasNotMeasuredIsNotMet) {
  Results results = NoResults();

  results.At(RowId::kReads).rounds[Column::kTenure] = {1'000'000};

  EXPECT_FALSE(OnlyVerdict(results, RowId::kReads).met);
  EXPECT_FALSE(results.AllMet());
}

TEST(ResultsTest, FiguresOfWorkNotDoneAsPlannedMeetNoGoal) {
  Results results = NoResults();
  Row& row = results.At(RowId::kOpenCampaignP99);
  row.rounds = {{Column::kTenure, {2}}, {Column::kEtcd, {3}}, {Column::kZooKeeper, {9}}};

  row.spoiled = {Column::kZooKeeper};
  EXPECT_TRUE(OnlyVerdict(results, RowId::kOpenCampaignP99).met);
  row.spoiled = {Column::kEtcd};
  EXPECT_FALSE(OnlyVerdict(results, RowId::kOpenCampaignP99).met);
  row.spoiled = {Column::kTenure};
  EXPECT_FALSE(OnlyVerdict(results, RowId::kOpenCampaignP99).met);
}

TEST(ResultsTest, ARowWithoutAGoalIsMet) {
  Results results = NoResults();
  Row& row = results.At(RowId::kCycles8);

  row.goals.clear();

  EXPECT_TRUE(results.Met(row));
}

TEST(ResultsTest, FiguresHaveSignificantDigitsOnly) {
  EXPECT_THAT(FigureText(1234567.8), Eq("1,234,568"));
  EXPECT_THAT(FigureText(2100), Eq("2,100"));
  EXPECT_THAT(FigureText(123.4), Eq("123"));
  EXPECT_THAT(FigureText(12.34), Eq("12.3"));
  EXPECT_THAT(FigureText(20), Eq("20"));
  EXPECT_THAT(FigureText(0.126), Eq("0.13"));
  EXPECT_THAT(FigureText(1.3), Eq("1.3"));
}

}  // namespace
}  // namespace tenure::bench
