#include "tests/chaos/checker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tenure::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Election e, in which a led in term 1 from 10 to 20, with a deadline of 50.
class CheckerTest : public ::testing::Test {
 protected:
  CheckerTest() {
    history_.Add(line::Began({"e", 1}, 10), "a");
    history_.Add(line::Believed({"e", 1}, 20, 50), "a");
  }
  void BLeadsFrom(Nanoseconds at) {
    history_.Add(line::Began({"e", 2}, at), "b");
    history_.Add(line::Believed({"e", 2}, at + 5, at + 40), "b");
  }
  void Reads(Nanoseconds asked, Nanoseconds answered, uint64_t term, uint64_t revision) {
    history_.Add(Reading{"e", asked, answered, term, revision});
  }

  History history_;
};

TEST_F(CheckerTest, OneLeaderAfterTheOtherIsRight) {
  BLeadsFrom(50);
  EXPECT_THAT(Violations(history_), IsEmpty());
}

TEST_F(CheckerTest, ASuccessorMayBeginOnceTheLeaderHasResigned) {
  history_.Add(line::Ended({"e", 1}, 21), "a");
  BLeadsFrom(21);
  EXPECT_THAT(Violations(history_), IsEmpty());
}

TEST_F(CheckerTest, ALeaderBeforeTheDeadlineOfAnotherIsWrong) {
  BLeadsFrom(49);
  EXPECT_THAT(Violations(history_), ElementsAre(HasSubstr("a in term 1 could have acted")));
}

TEST_F(CheckerTest, AResignationAfterTheSuccessorBeganIsWrong) {
  BLeadsFrom(30);
  history_.Add(line::Ended({"e", 1}, 31), "a");
  EXPECT_THAT(Violations(history_), ElementsAre(HasSubstr("a in term 1 could have acted")));
}

TEST_F(CheckerTest, ActingAfterASuccessorIsWrongWhateverTheDeadline) {
  history_.Add(line::Ended({"e", 1}, 11), "a");
  BLeadsFrom(15);
  EXPECT_THAT(Violations(history_), ElementsAre(HasSubstr("a in term 1 acted")));
}

TEST_F(CheckerTest, ATermHasOneLeader) {
  history_.Add(line::Believed({"e", 1}, 22, 50), "b");
  EXPECT_THAT(Violations(history_), ElementsAre("a and b both led e in term 1"));
}

TEST_F(CheckerTest, ElectionsAreIndependent) {
  history_.Add(line::Began({"f", 2}, 12), "b");
  history_.Add(line::Believed({"f", 2}, 12, 60), "b");
  EXPECT_THAT(Violations(history_), IsEmpty());
}

TEST_F(CheckerTest, AReaderMayGetAChangeMadeDuringItsCall) {
  Reads(5, 30, 1, 1);
  Reads(8, 9, 0, 0);
  EXPECT_THAT(Violations(history_), IsEmpty());
}

TEST_F(CheckerTest, AReaderGetsNoLowerTermThanALeaderKnew) {
  Reads(11, 12, 0, 0);
  EXPECT_THAT(Violations(history_), ElementsAre(HasSubstr("got term 0 after 1 was known")));
}

TEST_F(CheckerTest, AReaderGetsNoLowerRevisionThanAnotherReader) {
  Reads(11, 12, 1, 7);
  Reads(13, 14, 1, 6);
  EXPECT_THAT(Violations(history_), ElementsAre(HasSubstr("got revision 6 after 7 was known")));
}

TEST_F(CheckerTest, VacanciesAreBetweenBeliefs) {
  BLeadsFrom(50);
  const auto vacancies = Vacancies(history_);
  ASSERT_EQ(vacancies.size(), 1U);
  EXPECT_EQ(vacancies[0].from, 20);
  EXPECT_EQ(vacancies[0].until, 50);
}

TEST(HistoryTest, WritesAreCounted) {
  History history;
  history.Add(line::Writes({"e", 1}), "a");
  history.Add(line::Wrote({"e", 1}), "a");
  history.Add(line::Writes({"e", 2}), "b");
  EXPECT_EQ(history.writes_tried("e"), 2U);
  EXPECT_EQ(history.writes_acknowledged("e"), 1U);
  EXPECT_EQ(history.writes_tried("f"), 0U);
}

TEST(HistoryTest, AnythingElseIsRefused) {
  History history;
  for (const char* line : {"", "began", "began e 1", "shouted e 1 5", "believed e 1 5"}) {
    EXPECT_THROW(history.Add(line, "a"), std::invalid_argument) << line;
  }
}

}  // namespace
}  // namespace tenure::testing
