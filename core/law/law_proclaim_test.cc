// Proclaim: the leader changes its value.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/law/law_testing.h"

namespace tenure::testing {
namespace {

using ::testing::ElementsAre;

TEST(ProclaimTest, TheLeadersValueChanges) {
  auto transaction = Given(LedBy("a", Term{7}, {.value = "v"}));

  const auto answer = Do(transaction, ProclaimBy("a", Term{7}, "w"));

  EXPECT_THAT(answer, AnswersProclaimed(Term{7}, "w"));
  EXPECT_EQ(ElectionIn(transaction).leader->value, "w");
  EXPECT_THAT(transaction.events, ElementsAre(Proclaimed("a", Term{7}, Revision{14}, "w")));
}

TEST(ProclaimTest, NothingElseOfTheLeadershipChanges) {
  auto transaction = Given(LedBy("a", Term{7}, {.value = "v"}), Waiting("b"));
  auto expected = ElectionIn(transaction);
  expected.revision = expected.revision.Next();
  expected.leader->value = std::string("w");

  (void)Do(transaction, ProclaimBy("a", Term{7}, "w"));

  EXPECT_EQ(ElectionIn(transaction), expected);
}

TEST(ProclaimTest, TheCurrentValueSucceedsWithoutAnEvent) {
  auto transaction = Given(LedBy("a", Term{7}, {.value = "v"}));
  const auto before = transaction;

  const auto answer = Do(transaction, ProclaimBy("a", Term{7}, "v"));

  EXPECT_THAT(answer, AnswersProclaimed(Term{7}, "v"));
  EXPECT_THAT(transaction, IsSameAs(before));
}

TEST(ProclaimTest, EachValueHasItsOwnEvent) {
  auto transaction = Given(LedBy("a", Term{7}));

  (void)Do(transaction, ProclaimBy("a", Term{7}, "v"));
  (void)Do(transaction, ProclaimBy("a", Term{7}, "w"));

  EXPECT_THAT(transaction.events, ElementsAre(Proclaimed("a", Term{7}, Revision{14}, "v"),
                                              Proclaimed("a", Term{7}, Revision{15}, "w")));
}

TEST(ProclaimTest, AWaiterIsNotLeader) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b"));
  const auto before = transaction;

  EXPECT_THAT(Do(transaction, ProclaimBy("b", Term{7}, "w")), FailsWith(Reason::kNotLeader));
  EXPECT_THAT(transaction, IsSameAs(before));
}

TEST(ProclaimTest, AStrangerIsNotLeader) {
  auto transaction = Given(LedBy("a", Term{7}), Alive("b"));

  EXPECT_THAT(Do(transaction, ProclaimBy("b", Term{7}, "w")), FailsWith(Reason::kNotLeader));
}

TEST(ProclaimTest, NobodyIsLeaderOfAVacantSeat) {
  auto transaction = Given(VacantAfter(Term{7}), Alive("a"));

  EXPECT_THAT(Do(transaction, ProclaimBy("a", Term{7}, "w")), FailsWith(Reason::kNotLeader));
}

TEST(ProclaimTest, AnotherTermIsStaleAndTheErrorNamesTheCurrentOne) {
  auto transaction = Given(LedBy("a", Term{7}));
  const auto before = transaction;

  EXPECT_THAT(Do(transaction, ProclaimBy("a", Term{6}, "w")),
              FailsWith(Reason::kStaleTerm, "current_term", "7"));
  EXPECT_THAT(Do(transaction, ProclaimBy("a", Term{8}, "w")),
              FailsWith(Reason::kStaleTerm, "current_term", "7"));
  EXPECT_THAT(transaction, IsSameAs(before));
}

TEST(ProclaimTest, AnUnknownElectionIsRefused) {
  auto transaction = Given(Alive("a"));
  const auto before = transaction;

  EXPECT_THAT(Do(transaction, ProclaimBy("a", Term{1}, "w")), FailsWith(Reason::kElectionNotFound));
  EXPECT_THAT(transaction, IsSameAs(before));
}

TEST(ProclaimTest, AnUnknownSessionIsRefused) {
  auto transaction = Given(VacantAfter(Term{7}));

  EXPECT_THAT(Do(transaction, ProclaimBy("a", Term{7}, "w")), FailsWith(Reason::kSessionNotFound));
}

TEST(ProclaimTest, ALeaderWithAnEndedSessionIsRefusedAndTheSeatPasses) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b"), Ended("a", Cause::kSuperseded));

  EXPECT_THAT(Do(transaction, ProclaimBy("a", Term{7}, "w")),
              FailsWith(Reason::kSessionEnded, "cause", "SUPERSEDED"));
  EXPECT_THAT(transaction, IsLedBy("b", Term{8}));
}

TEST(ProclaimTest, AnExpiredLeaderIsRefusedAndTheSeatPasses) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b"), Expired("a"));

  EXPECT_THAT(Do(transaction, ProclaimBy("a", Term{7}, "w")),
              FailsWith(Reason::kSessionEnded, "cause", "EXPIRED"));
  EXPECT_THAT(transaction.events, ElementsAre(Vacated("a", Cause::kExpired, Term{7}, Revision{14}),
                                              Elected("b", Term{8}, Revision{15})));
}

}  // namespace
}  // namespace tenure::testing
