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
  auto docket = Given(Alive("a", kNow + 1s));

  const auto renewed = Renew(docket, Id("a"));

  EXPECT_THAT(renewed, Is(SessionOfCandidate("a", kNow + kLease)));
  EXPECT_EQ(SessionIn(docket, "a").expires_at, kNow + kLease);
}

TEST(RenewTest, ARenewalAfterTheClockWasSetBackLastsNoLongerThanALease) {
  auto docket = Given(Alive("a", kNow + 1h));

  EXPECT_THAT(Renew(docket, Id("a")), Is(SessionOfCandidate("a", kNow + kLease)));
}

// Nodes of a cluster that are used at the same time have clocks of their own.
TEST(RenewTest, ARenewalByAClockThatIsALittleBehindShortensNothing) {
  auto docket = Given(Alive("a", kNow + kLease + 2s));

  EXPECT_THAT(Renew(docket, Id("a")), Is(SessionOfCandidate("a", kNow + kLease + 2s)));
}

TEST(RenewTest, ACampaignAfterTheClockWasSetBackRenewsForALease) {
  auto docket = Given(LedBy("a", Term{7}), Alive("a", kNow + 1h));

  (void)Do(docket, CampaignBy("a"));

  EXPECT_EQ(SessionIn(docket, "a").expires_at, kNow + kLease);
}

TEST(RenewTest, ARenewalInTheLastInstantIsInTime) {
  auto docket = Given(Alive("a", kNow + kInstant));

  EXPECT_THAT(Renew(docket, Id("a")), Is(SessionOfCandidate("a", kNow + kLease)));
}

TEST(RenewTest, ARenewalAfterTheLeaseIsTooLateAndMarksTheExpiry) {
  auto docket = Given(Expired("a"));

  EXPECT_THAT(Renew(docket, Id("a")), FailsWith(Reason::kSessionEnded, "cause", "EXPIRED"));
  EXPECT_EQ(SessionIn(docket, "a").ended, Cause::kExpired);
  EXPECT_EQ(SessionIn(docket, "a").expires_at, kNow);
  EXPECT_THAT(docket.ended, ElementsAre(Id("a")));
}

TEST(RenewTest, AnExpiredSessionStaysExpiredEvenIfTheClockStepsBack) {
  auto docket = Given(Expired("a"));
  (void)Renew(docket, Id("a"));

  docket.now = kNow + -5s;

  EXPECT_THAT(Renew(docket, Id("a")), FailsWith(Reason::kSessionEnded, "cause", "EXPIRED"));
  EXPECT_THAT(Do(docket, CampaignBy("a")), FailsWith(Reason::kSessionEnded));
}

// --- FollowClock ---

struct Jump {
  std::string name;
  DbTime expires_at;  // when the clock shows kNow again, or already
  Duration by;
  DbTime follows_to;
};

class FollowClockTest : public ::testing::TestWithParam<Jump> {};

TEST_P(FollowClockTest, ALeaseLosesNoTimeAndLastsNoLongerThanItsLength) {
  auto docket = Given(Alive("a", GetParam().expires_at));

  FollowClock(docket, Id("a"), GetParam().by);

  EXPECT_EQ(SessionIn(docket, "a").expires_at, GetParam().follows_to);
  EXPECT_EQ(SessionIn(docket, "a").ended, Cause::kNone);
}

INSTANTIATE_TEST_SUITE_P(
    Each, FollowClockTest,
    ::testing::Values(Jump{"Ahead", kNow + -1h + 4s, 1h, kNow + kLease},
                      Jump{"AheadWithinItsLease", kNow + 4s, 5s, kNow + kLease},
                      Jump{"AheadAfterItsLease", kNow + -1h, 1h, kNow + -1h},
                      Jump{"AheadAndRenewedSince", kNow + kLease, 1h, kNow + kLease},
                      Jump{"Back", kNow + 1h + 4s, -1h, kNow + kLease},
                      Jump{"BackAndRenewedSince", kNow + 4s, -1h, kNow + 4s}),
    [](const auto& info) { return info.param.name; });

TEST(FollowClockTest, AnEndedSessionStaysAsItIs) {
  auto docket = Given(Ended("a", Cause::kExpired));
  const auto before = docket;

  FollowClock(docket, Id("a"), 1h);

  EXPECT_THAT(docket, IsSameAs(before));
}

TEST(FollowClockTest, ALeaseIsNotCutBelowWhatALongerOneHadPromised) {
  auto docket = Given(Alive("a", kNow + 1h));
  docket.sessions[Id("a")].opened_at = kNow + -1h;
  docket.sessions[Id("a")].lease_ttl_asked = kLease;
  docket.sessions[Id("a")].lease_ttl_since = kNow;  // halved by the last renewal, perhaps again

  FollowClock(docket, Id("a"), -1h);

  EXPECT_EQ(SessionIn(docket, "a").expires_at, kNow + kLeaseGrowthMax * kLease);
}

TEST(RenewTest, AnEndedSessionStaysEnded) {
  auto docket = Given(Ended("a", Cause::kSuperseded));
  const auto before = docket;

  EXPECT_THAT(Renew(docket, Id("a")), FailsWith(Reason::kSessionEnded, "cause", "SUPERSEDED"));
  EXPECT_THAT(docket, IsSameAs(before));
}

TEST(RenewTest, AnUnknownSessionIsRefused) {
  auto docket = Given();

  EXPECT_THAT(Renew(docket, Id("a")), FailsWith(Reason::kSessionNotFound));
  EXPECT_THAT(docket.sessions, IsEmpty());
}

TEST(RenewTest, ARenewalTouchesNoElection) {
  auto docket = Given(LedBy("a", Term{7}), Waiting("b"), Expired("a"));
  const auto election = ElectionIn(docket);

  (void)Renew(docket, Id("a"));
  (void)Renew(docket, Id("b"));

  EXPECT_EQ(ElectionIn(docket), election);
  EXPECT_THAT(docket.events, IsEmpty());
}

// --- EndSession ---

TEST(EndSessionTest, TheSessionEndsWithTheGivenCause) {
  auto docket = Given(Alive("a"));

  const auto ended = EndSession(docket, Id("a"), Cause::kSessionClosed);

  EXPECT_THAT(ended, Is(SessionIn(docket, "a")));
  EXPECT_EQ(SessionIn(docket, "a").ended, Cause::kSessionClosed);
  EXPECT_THAT(docket.ended, ElementsAre(Id("a")));
}

TEST(EndSessionTest, TheFirstCauseIsKept) {
  auto docket = Given(Ended("a", Cause::kSuperseded));
  const auto before = docket;

  const auto ended = EndSession(docket, Id("a"), Cause::kSessionClosed);

  EXPECT_THAT(ended, Is(SessionIn(before, "a")));
  EXPECT_THAT(docket, IsSameAs(before));
}

TEST(EndSessionTest, EndingTwiceIsReportedOnce) {
  auto docket = Given(Alive("a"));

  (void)EndSession(docket, Id("a"), Cause::kSessionClosed);
  (void)EndSession(docket, Id("a"), Cause::kDeposed);

  EXPECT_EQ(SessionIn(docket, "a").ended, Cause::kSessionClosed);
  EXPECT_THAT(docket.ended, ElementsAre(Id("a")));
}

TEST(EndSessionTest, EndingAnExpiredSessionComesTooLate) {
  auto docket = Given(Expired("a"));

  (void)EndSession(docket, Id("a"), Cause::kSessionClosed);

  EXPECT_EQ(SessionIn(docket, "a").ended, Cause::kExpired);
  EXPECT_THAT(docket.ended, ElementsAre(Id("a")));
}

TEST(EndSessionTest, AnUnknownSessionIsRefused) {
  auto docket = Given();

  EXPECT_THAT(EndSession(docket, Id("a"), Cause::kSessionClosed),
              FailsWith(Reason::kSessionNotFound));
}

TEST(EndSessionTest, ItsSeatPassesWhenTheElectionIsSettled) {
  auto docket = Given(LedBy("a", Term{7}), Waiting("b"));

  (void)EndSession(docket, Id("a"), Cause::kSessionClosed);
  (void)Do(docket, SettlementOf("a"));

  EXPECT_THAT(docket.events, ElementsAre(Vacated("a", Cause::kSessionClosed, Term{7}, Revision{14}),
                                         Elected("b", Term{8}, Revision{15})));
}

// --- ExpireIfDue ---

TEST(ExpireIfDueTest, AnExpiredSessionIsEnded) {
  auto docket = Given(Expired("a"));

  ExpireIfDue(docket, Id("a"));

  EXPECT_EQ(SessionIn(docket, "a").ended, Cause::kExpired);
  EXPECT_THAT(docket.ended, ElementsAre(Id("a")));
}

TEST(ExpireIfDueTest, OtherSessionsStayAsTheyAre) {
  auto docket = Given(Alive("a", kNow + kInstant), Ended("b", Cause::kSessionClosed));
  const auto before = docket;

  ExpireIfDue(docket, Id("a"));
  ExpireIfDue(docket, Id("b"));
  ExpireIfDue(docket, Id("c"));

  EXPECT_THAT(docket, IsSameAs(before));
}

TEST(ExpireIfDueTest, ExpiringTwiceIsReportedOnce) {
  auto docket = Given(Expired("a"));

  ExpireIfDue(docket, Id("a"));
  ExpireIfDue(docket, Id("a"));

  EXPECT_THAT(docket.ended, ElementsAre(Id("a")));
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
