#include "server/engine/outages.h"

#include <gtest/gtest.h>

namespace tenure::engine {
namespace {

using namespace std::chrono_literals;

constexpr SteadyTime kStart{1h};

class OutagesTest : public ::testing::Test {
 protected:
  // The database answers every 100 ms, from now on until so long after the start.
  void AnswerUntil(SteadyTime::duration after) {
    for (; now_ <= kStart + after; now_ += 100ms) outages_.Answered(now_);
  }
  [[nodiscard]] std::optional<std::pair<SteadyTime::duration, SteadyTime::duration>> LastUntil(
      SteadyTime::duration after) const {
    const auto last = outages_.LastUntil(kStart + after);
    if (!last) return std::nullopt;
    return std::pair(last->began - kStart, last->ended - kStart);
  }

  SteadyTime now_ = kStart;
  Outages outages_{kStart};
};

using Span = std::pair<SteadyTime::duration, SteadyTime::duration>;

TEST_F(OutagesTest, ADatabaseThatAnswersIsNotAway) {
  AnswerUntil(10s);

  EXPECT_EQ(LastUntil(10s + 749ms), std::nullopt);
}

TEST_F(OutagesTest, ADatabaseHangsIfItIsSilentOrATransactionTakesTooLong) {
  AnswerUntil(10s);
  EXPECT_FALSE(outages_.Hangs(kStart + 10s + 749ms));
  EXPECT_TRUE(outages_.Hangs(kStart + 10s + 750ms));

  const Outages::UnderWay first(outages_, kStart + 10s);
  {
    const Outages::UnderWay second(outages_, kStart + 10s + 500ms);
    AnswerUntil(11s);
    EXPECT_FALSE(outages_.Hangs(kStart + 11s - 1ms));
    EXPECT_TRUE(outages_.Hangs(kStart + 11s));
  }
  EXPECT_TRUE(outages_.Hangs(kStart + 11s));
}

TEST_F(OutagesTest, AnOutageLastsUntilTheNextAnswer) {
  AnswerUntil(10s);

  EXPECT_EQ(LastUntil(12s), Span(10s, 12s));
  EXPECT_EQ(LastUntil(30s), Span(10s, 30s));
  now_ = kStart + 31s;
  AnswerUntil(40s);
  EXPECT_EQ(LastUntil(40s), Span(10s, 31s));
}

TEST_F(OutagesTest, TheLastOutageCounts) {
  AnswerUntil(10s);
  now_ = kStart + 20s;
  AnswerUntil(30s);
  now_ = kStart + 31s;
  AnswerUntil(35s);

  EXPECT_EQ(LastUntil(35s), Span(30s, 31s));
}

TEST_F(OutagesTest, ADatabaseThatIsBackForAMomentIsStillAway) {
  AnswerUntil(10s);
  now_ = kStart + 20s;
  AnswerUntil(20s + 300ms);

  EXPECT_EQ(LastUntil(21s + 100ms), Span(10s, 21s + 100ms));
  now_ = kStart + 21s + 200ms;
  AnswerUntil(22s);
  EXPECT_EQ(LastUntil(22s), Span(10s, 21s + 200ms));
  EXPECT_EQ(outages_.LastUntil(kStart + 22s)->last_began, kStart + 20s + 300ms);
}

TEST_F(OutagesTest, ADatabaseThatCannotBeWrittenIsAwayAlthoughItAnswers) {
  AnswerUntil(10s);
  outages_.Announced(Fail(Reason::kStoreUnavailable, "the disk is full"));
  AnswerUntil(20s);

  EXPECT_EQ(outages_.write_fault()->message, "the disk is full");
  EXPECT_EQ(outages_.last_answer(), kStart + 10s);
  EXPECT_EQ(LastUntil(20s), Span(10s, 20s));
  outages_.Announced({});
  AnswerUntil(30s);
  EXPECT_FALSE(outages_.write_fault());
  EXPECT_EQ(LastUntil(30s), Span(10s, 20s + 100ms));
}

TEST_F(OutagesTest, WhereTransactionsCommitADatabaseCanBeWritten) {
  outages_.Announced(Fail(Reason::kStoreUnavailable, "no right to do this"));
  outages_.Committed();
  EXPECT_FALSE(outages_.write_fault());

  outages_.Announced(Fail(Reason::kStoreUnavailable, "no right to do this"));
  outages_.Committed();
  outages_.Announced(Fail(Reason::kStoreUnavailable, "no right to do this"));
  EXPECT_FALSE(outages_.write_fault());

  outages_.Announced(Fail(Reason::kStoreUnavailable, "no right to do this"));
  EXPECT_TRUE(outages_.write_fault());
}

TEST_F(OutagesTest, AReplicaThatStartsWithoutItsDatabaseCountsFromThen) {
  now_ = kStart + 7s;
  AnswerUntil(8s);

  EXPECT_EQ(LastUntil(8s), Span(0s, 7s));
}

}  // namespace
}  // namespace tenure::engine
