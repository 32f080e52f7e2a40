// Sessions: they end once, and they never come back.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/law/law_testing.h"

namespace tenure::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

MATCHER_P(Is, session, "") { return arg && *arg == session; }

// --- EndSession ---

TEST(EndSessionTest, TheSessionEndsWithTheGivenCause) {
  auto transaction = Given(Alive("a"));

  const auto ended = EndSession(transaction, Id("a"), Cause::kSessionClosed);

  EXPECT_THAT(ended, Is(SessionIn(transaction, "a")));
  EXPECT_EQ(SessionIn(transaction, "a").ended, Cause::kSessionClosed);
  EXPECT_EQ(SessionIn(transaction, "a").ended_at, kNow);
  EXPECT_THAT(transaction.ended, ElementsAre(Id("a")));
}

TEST(EndSessionTest, TheFirstCauseIsKept) {
  auto transaction = Given(Ended("a", Cause::kSuperseded));
  const auto before = transaction;

  const auto ended = EndSession(transaction, Id("a"), Cause::kSessionClosed);

  EXPECT_THAT(ended, Is(SessionIn(before, "a")));
  EXPECT_THAT(transaction, IsSameAs(before));
}

TEST(EndSessionTest, EndingTwiceIsReportedOnce) {
  auto transaction = Given(Alive("a"));

  (void)EndSession(transaction, Id("a"), Cause::kSessionClosed);
  (void)EndSession(transaction, Id("a"), Cause::kDeposed);

  EXPECT_EQ(SessionIn(transaction, "a").ended, Cause::kSessionClosed);
  EXPECT_THAT(transaction.ended, ElementsAre(Id("a")));
}

TEST(EndSessionTest, ASessionThatHasEndedIsRefusedWhateverIsAskedOfIt) {
  auto transaction = Given(LedBy("b", Term{7}), Ended("a", Cause::kSuperseded));
  const auto before = transaction;

  EXPECT_THAT(Do(transaction, CampaignBy("a")),
              FailsWith(Reason::kSessionEnded, "cause", "SUPERSEDED"));
  EXPECT_THAT(transaction, IsSameAs(before));
}

TEST(EndSessionTest, AnUnknownSessionIsRefused) {
  auto transaction = Given();

  EXPECT_THAT(EndSession(transaction, Id("a"), Cause::kSessionClosed),
              FailsWith(Reason::kSessionNotFound));
}

TEST(EndSessionTest, ItsSeatPassesWhenTheElectionIsSettled) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b"));

  (void)EndSession(transaction, Id("a"), Cause::kSessionClosed);
  (void)Do(transaction, ReconciliationOf("a"));

  EXPECT_THAT(transaction.events,
              ElementsAre(Vacated("a", Cause::kSessionClosed, Term{7}, Revision{14}),
                          Elected("b", Term{8}, Revision{15})));
}

// --- The error for callers ---

TEST(SessionEndedErrorTest, TheErrorNamesCauseAndHandleButNotTheSecret) {
  Session session = SessionOfCandidate("a");
  session.id = *SessionId::FromHex("000102030405060708090a0b0c0d0eff");
  session.ended = Cause::kExpired;

  const Error error = SessionEndedError(session);

  EXPECT_EQ(error.reason, Reason::kSessionEnded);
  EXPECT_THAT(error.metadata, ElementsAre(::testing::Pair("cause", "EXPIRED")));
  EXPECT_THAT(error.message, HasSubstr("0001020304050607"));
  EXPECT_THAT(error.message, Not(HasSubstr("08090a0b0c0d0eff")));
}

}  // namespace
}  // namespace tenure::testing
