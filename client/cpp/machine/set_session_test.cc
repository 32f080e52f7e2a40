#include "client/cpp/machine/client_session_testing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tenure {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Seats 1 and 2, "a" and "b", which lead together or not at all.
class SetSessionTest : public ClientSessionTest {
 protected:
  static SeatOptions Options(const std::string& election, bool has_work = true) {
    return {election, "", 0, has_work, std::nullopt, true};
  }
  SetSessionTest() { session_.AddSet(1, {Options("a"), Options("b")}); }

  // Holds the seats, and has not asked for confirmation yet.
  void Hold() {
    EXPECT_THAT(Decide(), ElementsAre("campaign a+b"));
    AnswerAllElected();
  }
  void Lead() {
    Hold();
    EXPECT_THAT(Decide(), ElementsAre("open", "renew"));
    AnswerRenewal({Seat7("a"), Seat7("b")});
    EXPECT_THAT(Decide(), IsEmpty());
    EXPECT_THAT(News(), ElementsAre("1 elected", "2 elected"));
  }
  // In an open session with an open stream; the next campaign is under way.
  void BeBlocked() {
    (void)Decide();
    AnswerBlocked("b");
    EXPECT_THAT(Decide(), ElementsAre("open", "renew", "campaign a+b"));
    AnswerRenewal();
    EXPECT_THAT(News(), ElementsAre("1 blocked", "2 blocked"));
  }
};

TEST_F(SetSessionTest, ItsSeatsAreBelievedInWhenARenewalHasConfirmedThem) {
  Hold();
  EXPECT_THAT(Decide(), ElementsAre("open", "renew"));
  EXPECT_THAT(News(), IsEmpty());
  EXPECT_FALSE(Believes(1) || Believes(2));

  AnswerRenewal({Seat7("a"), Seat7("b")});
  (void)Decide();

  EXPECT_THAT(News(), ElementsAre("1 elected", "2 elected"));
  EXPECT_TRUE(Believes(1) && Believes(2));
}

TEST_F(SetSessionTest, OneSetIsConfirmedAtOnceWhenAnotherLeads) {
  Lead();
  session_.AddSet(3, {Options("c")});
  EXPECT_THAT(Decide(), ElementsAre("campaign c"));

  AnswerElected("c");

  EXPECT_THAT(Decide(), ElementsAre("renew"));
}

TEST_F(SetSessionTest, ARenewalThatWasSentBeforeTheGrantConfirmsNothing) {
  (void)Decide();
  AnswerBlocked("b");
  EXPECT_THAT(Decide(), ElementsAre("open", "renew", "campaign a+b"));
  AnswerAllElected();
  EXPECT_THAT(Decide(), IsEmpty());

  AnswerRenewal({Seat7("a"), Seat7("b")});
  EXPECT_THAT(Decide(), ElementsAre("renew"));
  EXPECT_FALSE(Believes(1));
  AnswerRenewal();
  (void)Decide();

  EXPECT_TRUE(Believes(1) && Believes(2));
}

TEST_F(SetSessionTest, ASeatThatIsGoneBeforeItIsConfirmedIsNeverReported) {
  Hold();
  (void)Decide();

  AnswerRenewal({Seat7("a")});

  EXPECT_THAT(Decide(), ElementsAre("resign a"));
  EXPECT_THAT(News(), IsEmpty());
  EXPECT_FALSE(Believes(1) || Believes(2));
}

TEST_F(SetSessionTest, AnUnconfirmedSetIsGivenUpWithItsLease) {
  Hold();
  (void)Decide();
  session_.OnStreamClosed(stream_, now_);

  now_ = kStart + 8100ms;

  EXPECT_THAT(Decide(), ::testing::IsSupersetOf({"resign a", "resign b"}));
  EXPECT_THAT(News(), IsEmpty());
}

TEST_F(SetSessionTest, WhileItIsBlockedItHoldsNothingAndWaitsInTheCall) {
  BeBlocked();
  EXPECT_EQ(FromProto(campaign_.wait()), Duration(500ms));
  now_ += 500ms;
  AnswerBlocked("b");

  EXPECT_THAT(Decide(), ElementsAre("campaign a+b"));
  EXPECT_THAT(News(), IsEmpty());
  AnswerAllElected();
  EXPECT_THAT(Decide(), ElementsAre("renew"));
  AnswerRenewal();
  (void)Decide();

  EXPECT_TRUE(Believes(1) && Believes(2));
}

TEST_F(SetSessionTest, LeavingABlockedSetDoesNotWaitForItsCall) {
  BeBlocked();
  session_.Leave(1, now_);
  EXPECT_THAT(Decide(), ElementsAre("cancel"));
  EXPECT_THAT(Decide(), IsEmpty());

  FailCampaign({grpc::StatusCode::CANCELLED, "cancelled"});
  EXPECT_THAT(Decide(), ElementsAre("resign a", "resign b"));
  AnswerResign();
  AnswerResign();

  EXPECT_THAT(session_.TakeGone(), ElementsAre(1, 2));
}

TEST_F(SetSessionTest, ASetThatWasGrantedBeforeItsCallWasCancelledIsGivenUp) {
  BeBlocked();
  session_.Leave(1, now_);
  EXPECT_THAT(Decide(), ElementsAre("cancel"));

  AnswerAllElected();

  EXPECT_THAT(Decide(), ElementsAre("resign a", "resign b"));
  EXPECT_EQ(resign_.term(), 7);
  EXPECT_THAT(News(), IsEmpty());
}

TEST_F(SetSessionTest, TheLossOfOneSeatEndsTheWorkAndThenTheOthers) {
  Lead();

  NoticeLost("b", 7, v1::CAUSE_DEPOSED);
  EXPECT_THAT(Decide(), IsEmpty());
  EXPECT_THAT(News(), ElementsAre("1 stop work", "2 lost DEPOSED", "2 stop work"));
  EXPECT_FALSE(Believes(1));
  session_.WorkEnded(1, now_);

  EXPECT_THAT(Decide(), ElementsAre("resign a"));
  EXPECT_THAT(News(), ElementsAre("1 lost RESIGNED"));
  AnswerResign();
  EXPECT_THAT(Decide(), IsEmpty());
  now_ += 3s;
  EXPECT_THAT(Decide(), ElementsAre("renew", "campaign a+b"));
}

TEST_F(SetSessionTest, AHandoverOfOneSeatEndsTheWorkAndThenAll) {
  Lead();

  AskToStepDown("b", 7, "c");
  EXPECT_THAT(Decide(), IsEmpty());
  EXPECT_THAT(News(), ElementsAre("1 stop work", "2 hand over", "2 stop work"));
  EXPECT_TRUE(Believes(1));
  session_.WorkEnded(1, now_);

  EXPECT_THAT(Decide(), ElementsAre("resign a", "resign b"));
}

TEST_F(SetSessionTest, AHandoverRequestedBeforeTheConfirmationFollowsIt) {
  Hold();
  (void)Decide();
  AskToStepDown("b", 7, "c");

  AnswerRenewal({Seat7("a"), Seat7("b")});
  (void)Decide();

  EXPECT_THAT(News(),
              ElementsAre("1 elected", "1 stop work", "2 elected", "2 hand over", "2 stop work"));
}

TEST_F(SetSessionTest, SeatsThatAreReportedOneByOneAreKept) {
  BeBlocked();

  NoticeElected(Seat7("a"));
  EXPECT_THAT(Decide(), IsEmpty());
  NoticeElected(Seat7("b"));
  EXPECT_THAT(Decide(), ElementsAre("renew"));
  AnswerAllElected();
  AnswerRenewal();
  (void)Decide();

  EXPECT_TRUE(Believes(1) && Believes(2));
}

TEST_F(SetSessionTest, ALostAnswerIsAskedForAgainAndNoSeatGivenUpMeanwhile) {
  BeBlocked();
  NoticeElected(Seat7("a"));

  FailCampaign(kUnreachable);
  now_ += 20ms;
  EXPECT_THAT(Decide(), ElementsAre("another replica", "campaign a+b"));
  AnswerAllElected();
  EXPECT_THAT(Decide(), ElementsAre("renew"));
  AnswerRenewal();
  (void)Decide();

  EXPECT_TRUE(Believes(1) && Believes(2));
}

TEST_F(SetSessionTest, ASeatThatIsHeldAloneIsGivenUp) {
  BeBlocked();
  NoticeElected(Seat7("a"));

  AnswerBlocked("b");

  EXPECT_THAT(Decide(), ElementsAre("resign a"));
  EXPECT_THAT(News(), IsEmpty());
}

TEST_F(SetSessionTest, ItsDeadlineIsThatOfAllItsSeats) {
  Lead();

  now_ = kStart + 8100ms;
  EXPECT_FALSE(Believes(1) || Believes(2));
  (void)Decide();

  EXPECT_THAT(News(),
              ElementsAre("1 stop work", "1 lost EXPIRED", "2 stop work", "2 lost EXPIRED"));
}

TEST_F(SetSessionTest, TheEndOfTheSessionEndsAllItsTerms) {
  Lead();

  EndSession(v1::CAUSE_EXPIRED);

  EXPECT_THAT(News(),
              ElementsAre("1 lost EXPIRED", "1 stop work", "2 lost EXPIRED", "2 stop work"));
}

TEST_F(SetSessionTest, ItsNextCampaignWaitsUntilTheOldWorkHasEnded) {
  Lead();
  EndSession(v1::CAUSE_EXPIRED);
  EXPECT_THAT(Decide(), ElementsAre("close"));

  session_.WorkEnded(1, now_);

  EXPECT_THAT(Decide(), ElementsAre("campaign a+b"));
  EXPECT_EQ(campaign_.wait().nanos(), 0);
}

TEST_F(SetSessionTest, AnotherElectorOfOneOfItsElectionsBeginsWhenTheWholeSetIsGone) {
  Lead();
  session_.Abandon(1, now_);
  session_.Add(3, {"b", "", 0, false, std::nullopt});
  EXPECT_THAT(Decide(), ElementsAre("resign a", "resign b"));
  AnswerResign();
  AnswerResign();
  EXPECT_THAT(session_.TakeGone(), ElementsAre(1, 2));

  EXPECT_THAT(Decide(), ElementsAre("campaign b"));
}

TEST_F(ClientSessionTest, ASetOfOneQueuesAndIsConfirmed) {
  session_.AddSet(1, {{"orders", "", 0, false, std::nullopt, true}});
  EXPECT_THAT(Decide(), ElementsAre("campaign orders"));
  EXPECT_EQ(campaign_.elections_size(), 0);
  AnswerStanding();
  (void)Decide();
  AnswerRenewal();

  NoticeElected(Seat7("orders"));
  EXPECT_THAT(Decide(), ElementsAre("renew"));
  EXPECT_FALSE(Believes());
  AnswerRenewal();
  (void)Decide();

  EXPECT_TRUE(Believes());
  EXPECT_THAT(News(), ElementsAre("1 elected"));
}

}  // namespace
}  // namespace tenure
