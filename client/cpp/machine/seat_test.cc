#include "client/cpp/machine/seat.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/cpp/machine/client_testing.h"

namespace tenure {
namespace {

using namespace std::chrono_literals;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

std::string Text(const SeatEvent& event) {
  struct Texter {
    std::string operator()(const Standing& e) {
      return "standing " + std::to_string(e.place.position());
    }
    std::string operator()(const SetBlocked& e) { return "blocked by " + e.elections.front(); }
    std::string operator()(const Elected& e) {
      return "elected " + std::to_string(e.leadership.term());
    }
    std::string operator()(const Suspended&) { return "suspended"; }
    std::string operator()(const Resumed&) { return "resumed"; }
    std::string operator()(const HandoverAsked& e) { return "hand over to " + e.successor; }
    std::string operator()(const StopWork&) { return "stop work"; }
    std::string operator()(const Overrun&) { return "overrun"; }
    std::string operator()(const Lost& e) { return "lost " + v1::Cause_Name(e.cause).substr(6); }
    std::string operator()(const Troubled& e) { return "trouble " + e.status.error_message(); }
    std::string operator()(const Refused& e) { return "refused " + e.status.error_message(); }
  };
  return std::visit(Texter(), event);
}

// A seat with a lease of 10 s that is renewed whenever a test says so. It is believed in for 9 s,
// overdue after 5 s, and its work may take 2.5 s to end.
class SeatTest : public ::testing::Test {
 protected:
  static SeatOptions Options(bool has_work) { return {"orders", "a:1", 0, has_work, std::nullopt}; }

  static v1::Standing Place(uint64_t position) {
    v1::Standing place;
    place.set_position(position);
    return place;
  }
  // Moves to this time, so that time passes for the seat.
  void At(std::chrono::milliseconds when) {
    now_ = kStart + when;
    seat_.Pass(now_, lease_);
  }
  void Renewed() { lease_.Renewed(now_, 10s); }
  void Elect(uint64_t term) {
    v1::Leadership leadership;
    leadership.set_election("orders");
    leadership.set_term(term);
    leadership.set_value("a:1");
    seat_.OnElected(leadership, now_, lease_);
  }
  void Lead(uint64_t term = 1) {
    At(0s);
    Renewed();
    seat_.Asked();
    Elect(term);
    (void)Events();
  }
  std::vector<std::string> Events() {
    std::vector<std::string> texts;
    for (const SeatEvent& event : seat_.TakeEvents()) texts.push_back(Text(event));
    return texts;
  }
  [[nodiscard]] bool Believes() const { return now_ < seat_.BelievedUntil(lease_); }

  Lease lease_;
  Lease::Time now_ = kStart;
  Seat seat_{Options(true)};
};

TEST_F(SeatTest, AfterItsOneTermItStandsNoMore) {
  SeatOptions options = Options(false);
  options.one_term = true;
  for (const bool deposed : {true, false}) {
    seat_ = Seat(options);
    lease_ = Lease();
    Lead(7);
    EXPECT_FALSE(seat_.Gone());

    if (deposed) seat_.OnLost(7, v1::CAUSE_DEPOSED, now_);
    if (!deposed) At(9s);
    if (!deposed) seat_.OnResigned(7, false, now_);

    EXPECT_TRUE(seat_.Gone());
  }
}

// A seat that leads when its set does.
class SeatOfASetTest : public SeatTest {
 protected:
  SeatOfASetTest() { seat_ = Seat({"orders", "a:1", 0, true, std::nullopt, true}); }

  void Hold() {
    At(0s);
    Renewed();
    seat_.Asked();
    Elect(7);
  }
};

class SeatWithoutWorkTest : public SeatTest {
 protected:
  SeatWithoutWorkTest() { seat_ = Seat(Options(false)); }
};

TEST_F(SeatTest, TheElectorStandsUntilItIsElected) {
  EXPECT_EQ(seat_.need(), Seat::Need::kCampaign);
  Renewed();
  seat_.Asked();

  seat_.OnStanding(Place(3), now_, now_ + 30s);
  EXPECT_THAT(Events(), ElementsAre("standing 3"));
  EXPECT_EQ(seat_.need_at(), now_ + 30s);
  seat_.Asked();
  seat_.OnStanding(Place(2), now_, now_ + 30s);
  EXPECT_THAT(Events(), IsEmpty());
  Elect(7);

  EXPECT_THAT(Events(), ElementsAre("elected 7"));
  EXPECT_TRUE(Believes());
  EXPECT_EQ(seat_.need(), Seat::Need::kNothing);
}

TEST_F(SeatTest, ATermIsReportedOnce) {
  Lead(7);

  Elect(7);
  Elect(6);

  EXPECT_THAT(Events(), IsEmpty());
  EXPECT_EQ(seat_.term(), 7);
}

TEST_F(SeatTest, AGrantWhoseLeaseHasEndedIsNotBelieved) {
  Renewed();
  At(9s);

  Elect(7);

  EXPECT_FALSE(Believes());
  EXPECT_THAT(Events(), IsEmpty());
  EXPECT_EQ(seat_.need(), Seat::Need::kResign);
}

TEST_F(SeatTest, HalfALeaseWithoutARenewalSuspendsAndARenewalResumes) {
  Lead();

  At(5s);
  EXPECT_THAT(Events(), ElementsAre("suspended"));
  EXPECT_TRUE(Believes());
  Renewed();
  At(5001ms);

  EXPECT_THAT(Events(), ElementsAre("resumed"));
}

TEST_F(SeatTest, WorkIsStoppedBeforeTheLeaseEndsAndThenTheNextTermIsAskedFor) {
  Lead();
  At(6499ms);
  EXPECT_THAT(Events(), ElementsAre("suspended"));

  At(6500ms);
  EXPECT_THAT(Events(), ElementsAre("stop work"));
  EXPECT_TRUE(Believes());
  EXPECT_EQ(seat_.need(), Seat::Need::kNothing);
  At(7s);
  seat_.WorkEnded(now_);

  EXPECT_FALSE(Believes());
  EXPECT_THAT(Events(), ElementsAre("lost RESIGNED"));
  EXPECT_EQ(seat_.need(), Seat::Need::kCampaign);
  EXPECT_EQ(seat_.after_term(), 1);
}

TEST_F(SeatTest, WorkIsStoppedAsLongBeforeTheLeaseEndsAsItNeeds) {
  // The lease is believed in for 9 s. A grace of more than half of it would leave no time to work.
  const std::vector<std::pair<Duration, Duration>> stop_after = {{1s, 8s}, {4s, 5s}, {6s, 4s}};
  for (const auto& [grace, when] : stop_after) {
    SeatOptions options = Options(true);
    options.stop_grace = grace;
    seat_ = Seat(options);
    lease_ = Lease();
    Lead();

    EXPECT_EQ(seat_.NextWake(lease_), kStart + std::min<Duration>(when, 5s));
    At(std::chrono::duration_cast<std::chrono::milliseconds>(when) - 1ms);
    EXPECT_THAT(Events(), Not(Contains("stop work")));
    At(std::chrono::duration_cast<std::chrono::milliseconds>(when));
    EXPECT_THAT(Events(), Contains("stop work"));
  }
}

TEST_F(SeatTest, WorkThatDoesNotStopOverrunsAndDelaysTheCampaign) {
  Lead();
  At(6500ms);
  (void)Events();

  At(9s);
  EXPECT_THAT(Events(), ElementsAre("overrun", "lost EXPIRED"));
  EXPECT_FALSE(Believes());
  EXPECT_EQ(seat_.need(), Seat::Need::kNothing);
  At(20s);
  EXPECT_THAT(Events(), IsEmpty());
  seat_.WorkEnded(now_);

  EXPECT_EQ(seat_.need(), Seat::Need::kCampaign);
  EXPECT_EQ(seat_.after_term(), 1);
  EXPECT_THAT(Events(), IsEmpty());
}

TEST_F(SeatTest, AProcessPausedPastItsLeaseLearnsOfTheLossAtOnce) {
  Lead();

  At(60s);

  EXPECT_FALSE(Believes());
  EXPECT_THAT(Events(), ElementsAre("stop work", "overrun", "lost EXPIRED"));
}

TEST_F(SeatTest, ARenewalAfterTheDeadlineDoesNotReviveTheBelief) {
  Lead();
  At(9s);

  Renewed();
  At(9001ms);

  EXPECT_FALSE(Believes());
}

TEST_F(SeatTest, ARenewalDoesNotCancelARequestedStop) {
  Lead();
  At(6500ms);

  Renewed();
  At(6600ms);
  seat_.WorkEnded(now_);

  EXPECT_THAT(Events(), ElementsAre("suspended", "stop work", "resumed", "lost RESIGNED"));
}

TEST_F(SeatTest, AHandoverRequestStopsTheWorkAndThenResignsTheSeat) {
  Lead(7);
  At(1s);
  Renewed();

  seat_.OnStepDownAsked(7, "b", now_);
  EXPECT_THAT(Events(), ElementsAre("hand over to b", "stop work"));
  EXPECT_TRUE(Believes());
  seat_.WorkEnded(now_);

  EXPECT_THAT(Events(), ElementsAre("lost RESIGNED"));
  EXPECT_EQ(seat_.need(), Seat::Need::kResign);
  seat_.OnResigned(7, false, now_ + 3s);
  EXPECT_EQ(seat_.need(), Seat::Need::kCampaign);
  EXPECT_EQ(seat_.need_at(), now_ + 3s);
}

TEST_F(SeatTest, WorkThatIgnoresAHandoverOverrunsButKeepsTheSeat) {
  Lead(7);
  seat_.OnStepDownAsked(7, "b", now_);
  (void)Events();

  At(2s);
  Renewed();
  At(2500ms);

  EXPECT_THAT(Events(), ElementsAre("overrun"));
  EXPECT_TRUE(Believes());
  EXPECT_EQ(seat_.need(), Seat::Need::kNothing);
}

TEST_F(SeatTest, ATermEndedByTheServiceEndsAtOnceAndACampaignFollowsTheWork) {
  Lead(7);

  seat_.OnLost(7, v1::CAUSE_DEPOSED, now_);
  EXPECT_FALSE(Believes());
  EXPECT_THAT(Events(), ElementsAre("lost DEPOSED", "stop work"));
  EXPECT_EQ(seat_.need(), Seat::Need::kNothing);
  seat_.WorkEnded(now_);

  EXPECT_EQ(seat_.need(), Seat::Need::kCampaign);
}

TEST_F(SeatTest, ATermWonWhileOldWorkIsEndingIsGivenUp) {
  Lead(7);
  seat_.OnLost(7, v1::CAUSE_DEPOSED, now_);
  (void)Events();

  Elect(8);
  EXPECT_FALSE(Believes());
  EXPECT_EQ(seat_.need(), Seat::Need::kNothing);
  seat_.WorkEnded(now_);

  EXPECT_EQ(seat_.need(), Seat::Need::kResign);
  EXPECT_EQ(seat_.term(), 8);
  EXPECT_THAT(Events(), IsEmpty());
}

TEST_F(SeatTest, ALateNoticeOfAResignedTermIsNotBelieved) {
  Lead(7);
  seat_.WorkEnded(now_);
  seat_.OnResigned(7, false, now_);
  (void)Events();

  Elect(7);

  EXPECT_FALSE(Believes());
  EXPECT_THAT(Events(), IsEmpty());
  EXPECT_EQ(seat_.need(), Seat::Need::kResign);
  seat_.OnResigned(7, false, now_);
  EXPECT_EQ(seat_.need(), Seat::Need::kCampaign);
}

TEST_F(SeatTest, AnUnnoticedEndOfATermIsReportedBeforeTheNextTerm) {
  seat_ = Seat(Options(false));
  Lead(7);

  Elect(9);

  EXPECT_THAT(Events(), ElementsAre("lost UNSPECIFIED", "elected 9"));
}

TEST_F(SeatTest, TheEndOfTheSessionEndsTheTerm) {
  Lead(7);

  seat_.OnSessionOver(v1::CAUSE_EXPIRED, now_);
  seat_.WorkEnded(now_);

  EXPECT_THAT(Events(), ElementsAre("lost EXPIRED", "stop work"));
  EXPECT_EQ(seat_.need(), Seat::Need::kCampaign);
}

TEST_F(SeatTest, TheEndOfTheSessionLeavesTheWorkItsGrace) {
  Lead(7);
  seat_.OnSessionOver(v1::CAUSE_EXPIRED, now_);
  lease_ = Lease();

  At(2499ms);
  EXPECT_THAT(Events(), ElementsAre("lost EXPIRED", "stop work"));
  At(2500ms);

  EXPECT_THAT(Events(), ElementsAre("overrun"));
}

TEST_F(SeatTest, TheElectorStandsAgainIfItsResignationIsReportedBeforeItIsAnswered) {
  Lead(7);
  seat_.WorkEnded(now_);

  seat_.OnLost(7, v1::CAUSE_RESIGNED, now_);
  EXPECT_EQ(seat_.need(), Seat::Need::kResign);
  seat_.OnResigned(7, false, now_ + 3s);

  EXPECT_EQ(seat_.need(), Seat::Need::kCampaign);
  EXPECT_EQ(seat_.need_at(), now_ + 3s);
}

TEST_F(SeatTest, LeavingWhileOldWorkIsEndingGivesUpAPossiblePlace) {
  Lead(7);
  seat_.Asked();
  seat_.OnLost(7, v1::CAUSE_DEPOSED, now_);
  seat_.Leave(now_);

  seat_.WorkEnded(now_);

  EXPECT_EQ(seat_.need(), Seat::Need::kResign);
}

TEST_F(SeatTest, AnAnswerOlderThanTheGrantDoesNotEndTheTerm) {
  Renewed();
  seat_.Asked();
  Elect(7);

  seat_.OnStanding(Place(3), now_, now_ + 30s);

  EXPECT_TRUE(Believes());
}

TEST_F(SeatTest, AnAnswerThatALeaderIsWaitingEndsItsTerm) {
  Lead(7);
  seat_.Proclaim("b:2", now_);
  EXPECT_EQ(seat_.need(), Seat::Need::kCampaign);
  seat_.Asked();

  seat_.OnStanding(Place(3), now_, now_ + 30s);

  EXPECT_FALSE(Believes());
  EXPECT_THAT(Events(), ElementsAre("lost UNSPECIFIED", "stop work"));
}

TEST_F(SeatTest, LateNewsOfATermEndedByAnAnswerIsIgnored) {
  Lead(7);
  seat_.Proclaim("b:2", now_);
  seat_.Asked();
  seat_.OnStanding(Place(3), now_, now_ + 30s);
  seat_.WorkEnded(now_);
  (void)Events();

  Elect(7);

  EXPECT_FALSE(Believes());
  EXPECT_THAT(Events(), IsEmpty());
}

TEST_F(SeatTest, ATermLostBeforeItsGrantArrivedIsFollowedByACampaignAtOnce) {
  seat_.Asked();
  seat_.OnStanding(Place(3), now_, now_ + 30s);

  seat_.OnLost(7, v1::CAUSE_DEPOSED, now_);

  EXPECT_EQ(seat_.need(), Seat::Need::kCampaign);
  EXPECT_EQ(seat_.need_at(), now_);
}

TEST_F(SeatTest, AValueProclaimedDuringACampaignIsSentAfterIt) {
  Renewed();
  seat_.Asked();
  seat_.Proclaim("b:2", now_);

  seat_.OnStanding(Place(3), now_, now_ + 30s);

  EXPECT_EQ(seat_.need_at(), now_);
}

TEST_F(SeatTest, LeavingStopsTheWorkThenResigns) {
  Lead(7);

  seat_.Leave(now_);
  EXPECT_THAT(Events(), ElementsAre("stop work"));
  EXPECT_FALSE(seat_.Gone());
  seat_.WorkEnded(now_);
  EXPECT_EQ(seat_.need(), Seat::Need::kResign);
  seat_.OnResigned(7, false, now_);

  EXPECT_TRUE(seat_.Gone());
  EXPECT_THAT(Events(), ElementsAre("lost RESIGNED"));
}

TEST_F(SeatTest, LeavingTheQueueGivesUpThePlace) {
  Renewed();
  seat_.Asked();
  seat_.OnStanding(Place(3), now_, now_ + 30s);

  seat_.Leave(now_);

  EXPECT_EQ(seat_.need(), Seat::Need::kResign);
  seat_.OnResigned(0, false, now_);
  EXPECT_TRUE(seat_.Gone());
}

TEST_F(SeatTest, LeavingDuringACampaignGivesUpAnyPossibleGrant) {
  Renewed();
  seat_.Asked();

  seat_.Leave(now_);
  EXPECT_EQ(seat_.need(), Seat::Need::kResign);
  Elect(7);

  EXPECT_FALSE(Believes());
  EXPECT_EQ(seat_.need(), Seat::Need::kResign);
  EXPECT_EQ(seat_.term(), 7);
}

TEST_F(SeatTest, LeavingTheQueueDoesNotEndATermGrantedMeanwhile) {
  Renewed();
  seat_.Asked();
  seat_.OnStanding(Place(3), now_, now_ + 30s);
  seat_.Leave(now_);
  Elect(7);

  seat_.OnResigned(0, false, now_);

  EXPECT_EQ(seat_.need(), Seat::Need::kResign);
  seat_.OnResigned(7, false, now_);
  EXPECT_TRUE(seat_.Gone());
}

TEST_F(SeatTest, ATermThatEndedLocallyIsGivenUpIfTheServiceStillGrantsIt) {
  Lead(7);
  seat_.OnLost(7, v1::CAUSE_DEPOSED, now_);
  seat_.WorkEnded(now_);
  (void)Events();

  seat_.Asked();
  Elect(7);

  EXPECT_EQ(seat_.need(), Seat::Need::kResign);
  EXPECT_EQ(seat_.term(), 7);
  EXPECT_FALSE(Believes());
  EXPECT_THAT(Events(), IsEmpty());
}

TEST_F(SeatTest, LeavingAlsoGivesUpAPlaceLeftAfterAResignation) {
  Lead(7);
  seat_.Leave(now_);
  seat_.WorkEnded(now_);

  seat_.OnResigned(7, true, now_);

  EXPECT_EQ(seat_.need(), Seat::Need::kResign);
  EXPECT_EQ(seat_.term(), 0);
}

TEST_F(SeatTest, AnElectorThatNeverCampaignedIsGoneAtOnce) {
  seat_.Leave(now_);

  EXPECT_TRUE(seat_.Gone());
}

TEST_F(SeatTest, TroubleIsReportedOnceUntilItEnds) {
  const grpc::Status unreachable(grpc::StatusCode::UNAVAILABLE, "unreachable");
  seat_.Asked();

  seat_.Unanswered(unreachable, now_);
  seat_.Unanswered(unreachable, now_);
  EXPECT_THAT(Events(), ElementsAre("trouble unreachable"));
  seat_.OnStanding(Place(1), now_, now_ + 30s);
  seat_.Unanswered(unreachable, now_);

  EXPECT_THAT(Events(), ElementsAre("standing 1", "trouble unreachable"));
}

TEST_F(SeatTest, TroubleThatTurnsIntoARefusalIsReportedAgain) {
  seat_.Asked();

  seat_.Unanswered({grpc::StatusCode::UNAVAILABLE, "unreachable"}, now_);
  seat_.Unanswered({grpc::StatusCode::DEADLINE_EXCEEDED, "silence"}, now_);
  seat_.Unanswered({grpc::StatusCode::PERMISSION_DENIED, "denied"}, now_);

  EXPECT_THAT(Events(), ElementsAre("trouble unreachable", "trouble denied"));
}

TEST_F(SeatTest, ARefusalIsReportedAndEndsTheCampaigning) {
  seat_.Asked();

  seat_.OnRefused({grpc::StatusCode::INVALID_ARGUMENT, "bad name"}, now_);

  EXPECT_THAT(Events(), ElementsAre("refused bad name"));
  EXPECT_NE(seat_.need(), Seat::Need::kCampaign);
}

TEST_F(SeatTest, TheElectorWakesUpForEveryDeadline) {
  Lead();

  EXPECT_EQ(seat_.NextWake(lease_), kStart + 5s);
  At(5s);
  EXPECT_EQ(seat_.NextWake(lease_), kStart + 6500ms);
  At(6500ms);
  EXPECT_EQ(seat_.NextWake(lease_), kStart + 9s);
  At(9s);
  EXPECT_EQ(seat_.NextWake(lease_), Lease::Time::max());
}

TEST_F(SeatWithoutWorkTest, TheTermEndsAtTheDeadlineAndTheNextIsAskedForOnceTheLeaseIsRenewed) {
  Lead();
  At(8999ms);
  EXPECT_THAT(Events(), ElementsAre("suspended"));
  EXPECT_TRUE(Believes());

  At(9s);

  EXPECT_FALSE(Believes());
  EXPECT_THAT(Events(), ElementsAre("lost EXPIRED"));
  EXPECT_EQ(seat_.need_at(), Lease::Time::max());
  now_ = kStart + 9500ms;
  Renewed();
  At(9500ms);
  EXPECT_EQ(seat_.need(), Seat::Need::kCampaign);
  EXPECT_EQ(seat_.need_at(), now_);
  EXPECT_EQ(seat_.after_term(), 1);
}

TEST_F(SeatWithoutWorkTest, TheFirstReaderToSeeTheDeadlineEndsTheTerm) {
  Lead();

  seat_.BeliefEnded(now_ + 9s);

  EXPECT_FALSE(Believes());
  EXPECT_EQ(seat_.after_term(), 1);
}

TEST_F(SeatWithoutWorkTest, LeavingEndsTheBeliefAtOnceAndResignsAfterTheGracePeriod) {
  Lead();

  seat_.Leave(now_);
  EXPECT_FALSE(Believes());
  EXPECT_THAT(Events(), ElementsAre("lost RESIGNED"));
  At(2499ms);
  EXPECT_EQ(seat_.need(), Seat::Need::kNothing);
  EXPECT_EQ(seat_.NextWake(lease_), kStart + 2500ms);
  At(2500ms);

  EXPECT_EQ(seat_.need(), Seat::Need::kResign);
}

TEST_F(SeatWithoutWorkTest, AnAbandonedSeatIsGivenUpAtOnce) {
  Lead();

  seat_.Abandon(now_);

  EXPECT_FALSE(Believes());
  EXPECT_EQ(seat_.need(), Seat::Need::kResign);
}

TEST_F(SeatOfASetTest, ItIsHeldUntilItBegins) {
  Hold();
  EXPECT_TRUE(seat_.held());
  EXPECT_FALSE(Believes());
  EXPECT_THAT(Events(), IsEmpty());
  EXPECT_EQ(seat_.need(), Seat::Need::kNothing);

  seat_.Begin(now_, lease_);

  EXPECT_TRUE(Believes());
  EXPECT_THAT(Events(), ElementsAre("elected 7"));
}

TEST_F(SeatOfASetTest, WithoutTheOthersItIsGivenUpAndNeverReported) {
  Hold();

  seat_.StandDown(now_);

  EXPECT_EQ(seat_.need(), Seat::Need::kResign);
  EXPECT_THAT(Events(), IsEmpty());
}

TEST_F(SeatOfASetTest, ALeaderWithoutTheOthersStopsItsWorkAndResigns) {
  Hold();
  seat_.Begin(now_, lease_);
  (void)Events();

  seat_.StandDown(now_);
  EXPECT_THAT(Events(), ElementsAre("stop work"));
  seat_.WorkEnded(now_);

  EXPECT_THAT(Events(), ElementsAre("lost RESIGNED"));
  EXPECT_EQ(seat_.need(), Seat::Need::kResign);
}

TEST_F(SeatOfASetTest, ItWakesUpWhenTheLeaseOfAHeldSeatEnds) {
  Hold();
  EXPECT_EQ(seat_.NextWake(lease_), kStart + 9s);

  At(9s);

  EXPECT_EQ(seat_.need(), Seat::Need::kResign);
  EXPECT_THAT(Events(), IsEmpty());
}

TEST_F(SeatOfASetTest, LeavingGivesUpAHeldSeat) {
  Hold();

  seat_.Leave(now_);

  EXPECT_EQ(seat_.need(), Seat::Need::kResign);
}

TEST_F(SeatOfASetTest, BlockedIsReportedOnceUntilItIsWon) {
  seat_.Asked();
  seat_.OnBlocked({"mail"}, now_, now_);
  seat_.Asked();
  seat_.OnBlocked({"mail"}, now_, now_ + 1s);
  EXPECT_THAT(Events(), ElementsAre("blocked by mail"));
  EXPECT_EQ(seat_.need_at(), now_ + 1s);

  Hold();
  seat_.Begin(now_, lease_);
  seat_.OnLost(7, v1::CAUSE_DEPOSED, now_);
  seat_.WorkEnded(now_);
  (void)Events();
  seat_.OnBlocked({"mail"}, now_, now_);

  EXPECT_THAT(Events(), ElementsAre("blocked by mail"));
}

TEST_F(SeatOfASetTest, ASeatThatIsLeftToABlockedSetIsGivenUp) {
  Hold();
  seat_.Asked();

  seat_.OnBlocked({"mail"}, now_, now_);

  EXPECT_EQ(seat_.need(), Seat::Need::kResign);
  EXPECT_EQ(seat_.term(), 7);
}

TEST_F(SeatOfASetTest, AGrantNewerThanABlockedAnswerIsKept) {
  seat_.Asked();
  At(0s);
  Renewed();
  Elect(7);

  seat_.OnBlocked({"mail"}, now_, now_);

  EXPECT_TRUE(seat_.held());
}

}  // namespace
}  // namespace tenure
