// Proclaim: the leader changes its value.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/law_testing.h"

namespace tenure::testing {
namespace {

using ::testing::ElementsAre;

TEST(ProclaimTest, TheLeadersValueChanges) {
  auto docket = Given(LedBy("a", Term{7}, {.value = "v"}));

  const auto answer = Do(docket, ProclaimBy("a", Term{7}, "w"));

  EXPECT_THAT(answer, AnswersProclaimed(Term{7}, "w"));
  EXPECT_EQ(ElectionIn(docket).leader->value, "w");
  EXPECT_THAT(docket.events, ElementsAre(Proclaimed("a", Term{7}, Revision{14}, "w")));
}

TEST(ProclaimTest, NothingElseOfTheLeadershipChanges) {
  auto docket = Given(LedBy("a", Term{7}, {.value = "v"}), Waiting("b"));
  auto expected = ElectionIn(docket);
  expected.revision = expected.revision.Next();
  expected.leader->value = std::string("w");

  (void)Do(docket, ProclaimBy("a", Term{7}, "w"));

  EXPECT_EQ(ElectionIn(docket), expected);
}

TEST(ProclaimTest, TheCurrentValueSucceedsWithoutAnEvent) {
  auto docket = Given(LedBy("a", Term{7}, {.value = "v"}));
  const auto before = docket;

  const auto answer = Do(docket, ProclaimBy("a", Term{7}, "v"));

  EXPECT_THAT(answer, AnswersProclaimed(Term{7}, "v"));
  EXPECT_THAT(docket, IsSameAs(before));
}

TEST(ProclaimTest, EachValueHasItsOwnEvent) {
  auto docket = Given(LedBy("a", Term{7}));

  (void)Do(docket, ProclaimBy("a", Term{7}, "v"));
  (void)Do(docket, ProclaimBy("a", Term{7}, "w"));

  EXPECT_THAT(docket.events, ElementsAre(Proclaimed("a", Term{7}, Revision{14}, "v"),
                                         Proclaimed("a", Term{7}, Revision{15}, "w")));
}

TEST(ProclaimTest, AWaiterIsNotLeader) {
  auto docket = Given(LedBy("a", Term{7}), Waiting("b"));
  const auto before = docket;

  EXPECT_THAT(Do(docket, ProclaimBy("b", Term{7}, "w")), FailsWith(Reason::kNotLeader));
  EXPECT_THAT(docket, IsSameAs(before));
}

TEST(ProclaimTest, AStrangerIsNotLeader) {
  auto docket = Given(LedBy("a", Term{7}), Alive("b"));

  EXPECT_THAT(Do(docket, ProclaimBy("b", Term{7}, "w")), FailsWith(Reason::kNotLeader));
}

TEST(ProclaimTest, NobodyIsLeaderOfAVacantSeat) {
  auto docket = Given(VacantAfter(Term{7}), Alive("a"));

  EXPECT_THAT(Do(docket, ProclaimBy("a", Term{7}, "w")), FailsWith(Reason::kNotLeader));
}

TEST(ProclaimTest, AnotherTermIsStaleAndTheErrorNamesTheCurrentOne) {
  auto docket = Given(LedBy("a", Term{7}));
  const auto before = docket;

  EXPECT_THAT(Do(docket, ProclaimBy("a", Term{6}, "w")),
              FailsWith(Reason::kStaleTerm, "current_term", "7"));
  EXPECT_THAT(Do(docket, ProclaimBy("a", Term{8}, "w")),
              FailsWith(Reason::kStaleTerm, "current_term", "7"));
  EXPECT_THAT(docket, IsSameAs(before));
}

TEST(ProclaimTest, AnUnknownElectionIsRefused) {
  auto docket = Given(Alive("a"));
  const auto before = docket;

  EXPECT_THAT(Do(docket, ProclaimBy("a", Term{1}, "w")), FailsWith(Reason::kElectionNotFound));
  EXPECT_THAT(docket, IsSameAs(before));
}

TEST(ProclaimTest, AnUnknownSessionIsRefused) {
  auto docket = Given(VacantAfter(Term{7}));

  EXPECT_THAT(Do(docket, ProclaimBy("a", Term{7}, "w")), FailsWith(Reason::kSessionNotFound));
}

TEST(ProclaimTest, ALeaderWithAnEndedSessionIsRefusedAndTheSeatPasses) {
  auto docket = Given(LedBy("a", Term{7}), Waiting("b"), Ended("a", Cause::kSuperseded));

  EXPECT_THAT(Do(docket, ProclaimBy("a", Term{7}, "w")),
              FailsWith(Reason::kSessionEnded, "cause", "SUPERSEDED"));
  EXPECT_THAT(docket, IsLedBy("b", Term{8}));
}

TEST(ProclaimTest, AnExpiredLeaderIsRefusedAndTheSeatPasses) {
  auto docket = Given(LedBy("a", Term{7}), Waiting("b"), Expired("a"));

  EXPECT_THAT(Do(docket, ProclaimBy("a", Term{7}, "w")),
              FailsWith(Reason::kSessionEnded, "cause", "EXPIRED"));
  EXPECT_THAT(docket.events, ElementsAre(Vacated("a", Cause::kExpired, Term{7}, Revision{14}),
                                         Elected("b", Term{8}, Revision{15})));
}

}  // namespace
}  // namespace tenure::testing
