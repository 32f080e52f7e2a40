// Sessions: they are renewed, they end once, and they never come back.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/law_testing.h"

namespace tenure::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

MATCHER_P(Is, session, "") { return arg && *arg == session; }

// --- Renew ---

TEST(RenewTest, ARenewalLastsAWholeLeaseFromNow) {
  auto transaction = Given(Alive("a", kNow + 1s));

  const auto renewed = Renew(transaction, Id("a"));

  EXPECT_THAT(renewed, Is(SessionOfCandidate("a", kNow + kLease)));
  EXPECT_EQ(SessionIn(transaction, "a").expires_at, kNow + kLease);
}

TEST(RenewTest, ARenewalAfterTheClockWasSetBackLastsNoLongerThanALease) {
  auto transaction = Given(Alive("a", kNow + 1h));

  EXPECT_THAT(Renew(transaction, Id("a")), Is(SessionOfCandidate("a", kNow + kLease)));
}

// Nodes of a cluster that are used at the same time have clocks of their own.
TEST(RenewTest, ARenewalByAClockThatIsALittleBehindShortensNothing) {
  auto transaction = Given(Alive("a", kNow + kLease + 2s));

  EXPECT_THAT(Renew(transaction, Id("a")), Is(SessionOfCandidate("a", kNow + kLease + 2s)));
}

TEST(RenewTest, ACampaignAfterTheClockWasSetBackRenewsForALease) {
  auto transaction = Given(LedBy("a", Term{7}), Alive("a", kNow + 1h));

  (void)Do(transaction, CampaignBy("a"));

  EXPECT_EQ(SessionIn(transaction, "a").expires_at, kNow + kLease);
}

TEST(RenewTest, ARenewalInTheLastInstantIsInTime) {
  auto transaction = Given(Alive("a", kNow + kInstant));

  EXPECT_THAT(Renew(transaction, Id("a")), Is(SessionOfCandidate("a", kNow + kLease)));
}

TEST(RenewTest, ARenewalAfterTheLeaseIsTooLateAndMarksTheExpiry) {
  auto transaction = Given(Expired("a"));

  EXPECT_THAT(Renew(transaction, Id("a")), FailsWith(Reason::kSessionEnded, "cause", "EXPIRED"));
  EXPECT_EQ(SessionIn(transaction, "a").ended, Cause::kExpired);
  EXPECT_EQ(SessionIn(transaction, "a").expires_at, kNow);
  EXPECT_THAT(transaction.ended, ElementsAre(Id("a")));
}

TEST(RenewTest, AnExpiredSessionStaysExpiredEvenIfTheClockStepsBack) {
  auto transaction = Given(Expired("a"));
  (void)Renew(transaction, Id("a"));

  transaction.now = kNow + -5s;

  EXPECT_THAT(Renew(transaction, Id("a")), FailsWith(Reason::kSessionEnded, "cause", "EXPIRED"));
  EXPECT_THAT(Do(transaction, CampaignBy("a")), FailsWith(Reason::kSessionEnded));
}

// --- FollowClock ---

struct Jump {
  std::string name;
  DbTime expires_at;  // by the clock before, where that shows kNow now
};

class FollowClockTest : public ::testing::TestWithParam<Jump> {};

TEST_P(FollowClockTest, ALeaseBeginsAnew) {
  auto transaction = Given(Alive("a", GetParam().expires_at));

  FollowClock(transaction, Id("a"));

  EXPECT_EQ(SessionIn(transaction, "a").expires_at, kNow + kLease);
  EXPECT_EQ(SessionIn(transaction, "a").ended, Cause::kNone);
}

// The last one was granted while the clock was back, before it was set ahead by less.
INSTANTIATE_TEST_SUITE_P(Each, FollowClockTest,
                         ::testing::Values(Jump{"Ahead", kNow + -1h + 4s},
                                           Jump{"AheadWithinItsLease", kNow + 4s},
                                           Jump{"Back", kNow + 1h + 4s},
                                           Jump{"BackAndAhead", kNow + -1s}),
                         [](const auto& info) { return info.param.name; });

TEST(FollowClockTest, AnEndedSessionStaysAsItIs) {
  auto transaction = Given(Ended("a", Cause::kExpired));
  const auto before = transaction;

  FollowClock(transaction, Id("a"));

  EXPECT_THAT(transaction, IsSameAs(before));
}

TEST(FollowClockTest, ALeaseIsNotCutBelowWhatALongerOneHadPromised) {
  auto transaction = Given(Alive("a", kNow + 1h));
  transaction.sessions[Id("a")].opened_at = kNow + -1h;
  transaction.sessions[Id("a")].lease_ttl_asked = kLease;
  transaction.sessions[Id("a")].lease_ttl_since =
      kNow;  // halved by the last renewal, perhaps again

  FollowClock(transaction, Id("a"));

  EXPECT_EQ(SessionIn(transaction, "a").expires_at, kNow + kLeaseGrowthMax * kLease);
}

TEST(RenewTest, AnEndedSessionStaysEnded) {
  auto transaction = Given(Ended("a", Cause::kSuperseded));
  const auto before = transaction;

  EXPECT_THAT(Renew(transaction, Id("a")), FailsWith(Reason::kSessionEnded, "cause", "SUPERSEDED"));
  EXPECT_THAT(transaction, IsSameAs(before));
}

TEST(RenewTest, AnUnknownSessionIsRefused) {
  auto transaction = Given();

  EXPECT_THAT(Renew(transaction, Id("a")), FailsWith(Reason::kSessionNotFound));
  EXPECT_THAT(transaction.sessions, IsEmpty());
}

TEST(RenewTest, ARenewalTouchesNoElection) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b"), Expired("a"));
  const auto election = ElectionIn(transaction);

  (void)Renew(transaction, Id("a"));
  (void)Renew(transaction, Id("b"));

  EXPECT_EQ(ElectionIn(transaction), election);
  EXPECT_THAT(transaction.events, IsEmpty());
}

// --- EndSession ---

TEST(EndSessionTest, TheSessionEndsWithTheGivenCause) {
  auto transaction = Given(Alive("a"));

  const auto ended = EndSession(transaction, Id("a"), Cause::kSessionClosed);

  EXPECT_THAT(ended, Is(SessionIn(transaction, "a")));
  EXPECT_EQ(SessionIn(transaction, "a").ended, Cause::kSessionClosed);
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

TEST(EndSessionTest, EndingAnExpiredSessionComesTooLate) {
  auto transaction = Given(Expired("a"));

  (void)EndSession(transaction, Id("a"), Cause::kSessionClosed);

  EXPECT_EQ(SessionIn(transaction, "a").ended, Cause::kExpired);
  EXPECT_THAT(transaction.ended, ElementsAre(Id("a")));
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

// --- ExpireIfDue ---

TEST(ExpireIfDueTest, AnExpiredSessionIsEnded) {
  auto transaction = Given(Expired("a"));

  ExpireIfDue(transaction, Id("a"));

  EXPECT_EQ(SessionIn(transaction, "a").ended, Cause::kExpired);
  EXPECT_THAT(transaction.ended, ElementsAre(Id("a")));
}

TEST(ExpireIfDueTest, OtherSessionsStayAsTheyAre) {
  auto transaction = Given(Alive("a", kNow + kInstant), Ended("b", Cause::kSessionClosed));
  const auto before = transaction;

  ExpireIfDue(transaction, Id("a"));
  ExpireIfDue(transaction, Id("b"));
  ExpireIfDue(transaction, Id("c"));

  EXPECT_THAT(transaction, IsSameAs(before));
}

TEST(ExpireIfDueTest, ExpiringTwiceIsReportedOnce) {
  auto transaction = Given(Expired("a"));

  ExpireIfDue(transaction, Id("a"));
  ExpireIfDue(transaction, Id("a"));

  EXPECT_THAT(transaction.ended, ElementsAre(Id("a")));
}

// --- What callers are told ---

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
