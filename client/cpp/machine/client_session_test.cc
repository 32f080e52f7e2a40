#include "client/cpp/machine/client_session_testing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tenure {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST_F(ClientSessionTest, TheFirstCampaignOpensItAndOneStreamRenewsIt) {
  session_.Add(1, {"orders", "", 0, false, std::nullopt});
  session_.Add(2, {"mail", "", 0, false, std::nullopt});

  EXPECT_THAT(Decide(), ElementsAre("campaign orders"));
  EXPECT_EQ(campaign_.request_id().size(), 16);
  AnswerStanding();
  EXPECT_THAT(Decide(), ElementsAre("open", "renew", "campaign mail"));

  EXPECT_EQ(campaign_.session_id(), "s1");
  EXPECT_EQ(campaign_.request_id(), "");
}

TEST_F(ClientSessionTest, ItIsRenewedEveryThirdOfItsLease) {
  Stand();
  EXPECT_THAT(Decide(), IsEmpty());

  EXPECT_EQ(session_.NextWake(), kStart + 3s);
  now_ = kStart + 3s;

  EXPECT_THAT(Decide(), ElementsAre("renew"));
}

TEST_F(ClientSessionTest, ALostAnswerIsFollowedByTheSameRequest) {
  session_.Add(1, {"orders", "", 0, false, std::nullopt});
  (void)Decide();
  const std::string request_id = campaign_.request_id();

  FailCampaign(kUnreachable);
  now_ += 1s;

  EXPECT_THAT(Decide(), ElementsAre("another replica", "campaign orders"));
  EXPECT_EQ(campaign_.request_id(), request_id);
}

// A lost answer had opened it. Asking for it again is pointless.
TEST_F(ClientSessionTest, ASessionThatEndedBeforeItWasKnownIsNotAskedForAgain) {
  session_.Add(1, {"orders", "", 0, false, std::nullopt});
  (void)Decide();
  const std::string request_id = campaign_.request_id();

  FailCampaign(
      Failure(grpc::StatusCode::FAILED_PRECONDITION, "SESSION_ENDED", {{"cause", "EXPIRED"}}));
  now_ += 1s;

  EXPECT_THAT(Decide(), ElementsAre("campaign orders"));
  EXPECT_NE(campaign_.request_id(), request_id);
}

TEST_F(ClientSessionTest, AReplicaThatIsSilentForHalfAHeartbeatIsAbandoned) {
  Stand();
  now_ = kStart + 3s;
  (void)Decide();
  EXPECT_EQ(session_.NextWake(), kStart + 4500ms);

  now_ = kStart + 4500ms;
  auto decided = Decide();
  EXPECT_THAT(decided, ElementsAre("another replica for this silent one", "close"));
  now_ += 20ms;

  EXPECT_THAT(Decide(), ElementsAre("open", "renew"));
}

TEST_F(ClientSessionTest, ABrokenStreamIsReopenedOnAnotherReplica) {
  Stand();

  session_.OnStreamClosed(stream_, now_);
  EXPECT_THAT(Decide(), ElementsAre("another replica"));
  now_ += 20ms;

  EXPECT_THAT(Decide(), ElementsAre("open", "renew"));
}

TEST_F(ClientSessionTest, TheBackoffGrowsWithEachFailureInARow) {
  Stand();

  for (int failures = 0; failures < 10; ++failures) {
    session_.OnStreamClosed(stream_, now_);
    (void)Decide();
    now_ = session_.NextWake();
    (void)Decide();
  }
  const auto before = now_;
  session_.OnStreamClosed(stream_, now_);
  (void)Decide();

  EXPECT_GE(session_.NextWake() - before, 250ms);
  EXPECT_LE(session_.NextWake() - before, 500ms);
}

TEST_F(ClientSessionTest, AFailureAfterASuccessMayBeFollowedByATryAtOnce) {
  Stand();
  Lease::Time::duration least = 1h;

  for (int failures = 0; failures < 50; ++failures) {
    session_.OnStreamClosed(stream_, now_);
    (void)Decide();
    least = std::min(least, session_.NextWake() - now_);
    now_ = session_.NextWake();
    (void)Decide();
    AnswerRenewal();
  }

  EXPECT_LT(least, 10ms);
}

TEST_F(ClientSessionTest, ManyFailedCallsAbandonAReplicaOnlyOnce) {
  Stand();
  for (uint64_t seat = 2; seat <= 40; ++seat) {
    session_.Add(seat, {"e" + std::to_string(seat), "", 0, false, std::nullopt});
  }
  (void)Decide();

  while (!calls_.empty()) FailCampaign(kUnreachable);

  const auto decided = session_.Decide(now_);
  ASSERT_FALSE(decided.empty());
  EXPECT_TRUE(std::holds_alternative<UseAnotherReplica>(decided.front()));
  EXPECT_EQ(std::ranges::count_if(decided,
                                  [](const Effect& effect) {
                                    return std::holds_alternative<UseAnotherReplica>(effect);
                                  }),
            1);
}

TEST_F(ClientSessionTest, TheNumberOfConcurrentCallsIsBounded) {
  Stand();
  for (uint64_t seat = 2; seat <= 1'001; ++seat) {
    session_.Add(seat, {"e" + std::to_string(seat), "", 0, false, std::nullopt});
  }

  EXPECT_EQ(Decide().size(), 64);
  AnswerStanding();

  EXPECT_EQ(Decide().size(), 1);
}

TEST_F(ClientSessionTest, ANoticeOnTheStreamMakesItLeadAtOnce) {
  Stand();

  NoticeElected(Seat7("orders"));

  EXPECT_THAT(News(), ElementsAre("1 elected"));
  EXPECT_TRUE(Believes());
  EXPECT_EQ(session_.BelievedUntil(1), kStart + 8100ms);
}

TEST_F(ClientSessionTest, TheLeaseIsCountedFromBeforeTheRenewalWasSent) {
  Lead();
  now_ = kStart + 3s;
  (void)Decide();

  now_ = kStart + 4s;
  AnswerRenewal();

  EXPECT_EQ(session_.BelievedUntil(1), kStart + 3s + 8100ms);
}

TEST_F(ClientSessionTest, TheLeaseIsCountedFromBeforeTheCampaignWasSent) {
  session_.Add(1, {"orders", "", 0, false, std::nullopt});
  (void)Decide();

  now_ = kStart + 1s;
  AnswerElected("orders");

  EXPECT_EQ(session_.BelievedUntil(1), kStart + 8100ms);
}

TEST_F(ClientSessionTest, AGrantThatArrivesAfterTheLeaseIsNotBelieved) {
  session_.Add(1, {"orders", "", 0, false, std::nullopt});
  (void)Decide();

  now_ = kStart + 8100ms;
  AnswerElected("orders");

  EXPECT_THAT(News(), IsEmpty());
  EXPECT_FALSE(Believes());
  EXPECT_THAT(Decide(), Contains("resign orders"));
}

// It may be the session that an earlier attempt opened, whose answer was lost. The service renews
// it for each attempt.
TEST_F(ClientSessionTest, TheLeaseOfARepeatedCampaignIsCountedFromBeforeTheRepetition) {
  session_.Add(1, {"orders", "", 0, false, std::nullopt});
  (void)Decide();
  FailCampaign(kUnreachable);
  now_ = kStart + 1s;
  (void)Decide();

  now_ = kStart + 2s;
  AnswerElected("orders");

  EXPECT_EQ(session_.BelievedUntil(1), kStart + 1s + 8100ms);
}

TEST_F(ClientSessionTest, ASeatMissingFromANewStreamIsLost) {
  Lead();
  session_.OnStreamClosed(stream_, now_);
  now_ += 20ms;
  (void)Decide();

  AnswerRenewal();

  EXPECT_THAT(News(), ElementsAre("1 lost UNSPECIFIED"));
}

TEST_F(ClientSessionTest, ASeatIsMissingOnlyIfNoPartOfTheListHasIt) {
  Lead();
  session_.OnStreamClosed(stream_, now_);
  now_ += 20ms;
  (void)Decide();

  AnswerRenewal({Seat7("mail")}, true);
  now_ += 3s;
  EXPECT_THAT(Decide(), ElementsAre("renew"));
  sequence_ -= 1;
  AnswerRenewal({Seat7("orders")});

  EXPECT_THAT(News(), IsEmpty());
  EXPECT_TRUE(Believes());
}

TEST_F(ClientSessionTest, ASeatThatNoPartOfTheListHasIsLost) {
  Lead();
  session_.OnStreamClosed(stream_, now_);
  now_ += 20ms;
  (void)Decide();

  AnswerRenewal({Seat7("mail")}, true);
  EXPECT_THAT(News(), IsEmpty());
  AnswerRenewal();

  EXPECT_THAT(News(), ElementsAre("1 lost UNSPECIFIED"));
}

TEST_F(ClientSessionTest, ASeatLostBeforeTheFirstStreamAskedIsLost) {
  session_.Add(1, {"orders", "", 0, false, std::nullopt});
  (void)Decide();
  AnswerElected("orders");
  EXPECT_THAT(Decide(), ElementsAre("open", "renew"));

  AnswerRenewal();

  EXPECT_THAT(News(), ElementsAre("1 elected", "1 lost UNSPECIFIED"));
}

TEST_F(ClientSessionTest, ASeatGrantedWhileTheListWasReadIsAskedForAgain) {
  Stand();
  session_.Add(2, {"mail", "", 0, false, std::nullopt});
  session_.OnStreamClosed(stream_, now_);
  now_ += 20ms;
  EXPECT_THAT(Decide(), ElementsAre("another replica", "open", "renew", "campaign mail"));
  AnswerElected("mail");
  AnswerRenewal();
  EXPECT_TRUE(Believes(2));
  (void)Decide();

  now_ += 3s;
  EXPECT_THAT(Decide(), ElementsAre("close", "open", "renew"));
  AnswerRenewal();

  EXPECT_FALSE(Believes(2));
}

TEST_F(ClientSessionTest, ASeatThatWasAskedForAgainAndIsListedIsNotInDoubtAnyMore) {
  Stand();
  session_.Add(2, {"mail", "", 0, false, std::nullopt});
  session_.OnStreamClosed(stream_, now_);
  now_ += 20ms;
  (void)Decide();
  AnswerElected("mail");
  AnswerRenewal();
  (void)Decide();
  now_ += 3s;
  EXPECT_THAT(Decide(), ElementsAre("close", "open", "renew"));

  AnswerRenewal({Seat7("mail")});
  (void)Decide();
  now_ += 3s;

  EXPECT_THAT(Decide(), ElementsAre("renew"));
}

TEST_F(ClientSessionTest, ASeatReportedByTheStreamIsNotInDoubt) {
  Stand();
  session_.Add(2, {"mail", "", 0, false, std::nullopt});
  session_.OnStreamClosed(stream_, now_);
  now_ += 20ms;
  (void)Decide();
  AnswerElected("mail");
  AnswerRenewal();
  (void)Decide();

  NoticeElected(Seat7("mail"));
  now_ += 3s;

  EXPECT_THAT(Decide(), ElementsAre("renew"));
}

TEST_F(ClientSessionTest, ASeatInDoubtThatIsLostIsNotAskedForAgain) {
  Stand();
  session_.Add(2, {"mail", "", 0, false, std::nullopt});
  session_.OnStreamClosed(stream_, now_);
  now_ += 20ms;
  (void)Decide();
  AnswerElected("mail");
  AnswerRenewal();
  (void)Decide();

  NoticeLost("mail", 7, v1::CAUSE_DEPOSED);
  (void)Decide();
  now_ += 3s;

  EXPECT_THAT(Decide(), ElementsAre("renew"));
}

TEST_F(ClientSessionTest, ASeatGrantedAfterTheStreamAskedNeedNotBeListed) {
  Stand();
  session_.OnStreamClosed(stream_, now_);
  now_ += 20ms;
  (void)Decide();
  NoticeElected(Seat7("orders"));

  AnswerRenewal();

  EXPECT_TRUE(Believes());
  EXPECT_THAT(News(), ElementsAre("1 elected"));
}

TEST_F(ClientSessionTest, ASeatGrantedUnnoticedIsLearnedFromANewStream) {
  Stand();
  session_.OnStreamClosed(stream_, now_);
  now_ += 20ms;
  (void)Decide();

  AnswerRenewal({Seat7("orders")});

  EXPECT_THAT(News(), ElementsAre("1 elected"));
}

TEST_F(ClientSessionTest, LateMessagesOfAnOldStreamAreIgnored) {
  Stand();
  const uint64_t old_stream = stream_;
  session_.OnStreamClosed(stream_, now_);
  now_ += 20ms;
  (void)Decide();
  stream_ = old_stream;

  EndSession(v1::CAUSE_EXPIRED);

  EXPECT_THAT(Decide(), IsEmpty());
}

TEST_F(ClientSessionTest, TheSessionAfterAnExpiredOneNamesIt) {
  Lead();

  EndSession(v1::CAUSE_EXPIRED);

  EXPECT_THAT(News(), ElementsAre("1 lost EXPIRED"));
  EXPECT_THAT(Decide(), ElementsAre("close", "campaign orders"));
  EXPECT_EQ(campaign_.session_id(), "");
  EXPECT_EQ(campaign_.previous_session_id(), "s1");
}

TEST_F(ClientSessionTest, TheSessionAfterOneEndedByAnOperatorDoesNotNameIt) {
  Stand();

  EndSession(v1::CAUSE_DEPOSED);
  (void)Decide();

  EXPECT_EQ(campaign_.previous_session_id(), "");
}

TEST_F(ClientSessionTest, AForgottenSessionIsReplaced) {
  Stand();
  v1::KeepAliveResponse response;
  now_ = kStart + 3s;
  (void)Decide();
  response.mutable_renewal()->set_sequence(sequence_);
  response.mutable_renewal()->add_sessions()->set_not_found(true);

  session_.OnStreamMessage(stream_, response, now_);

  EXPECT_THAT(Decide(), ElementsAre("close", "campaign orders"));
}

TEST_F(ClientSessionTest, ASupersededCandidateDoesNotComeBack) {
  Lead();

  EndSession(v1::CAUSE_SUPERSEDED);

  EXPECT_THAT(News(), ElementsAre("1 lost SUPERSEDED", "1 refused"));
  EXPECT_THAT(Decide(), ElementsAre("close"));
}

TEST_F(ClientSessionTest, AnAnswerForAnEarlierSessionIsIgnored) {
  Lead();
  session_.Proclaim(1, "new", now_);
  (void)Decide();
  EndSession(v1::CAUSE_EXPIRED);

  AnswerElected("orders");

  EXPECT_FALSE(Believes());
}

TEST_F(ClientSessionTest, APermanentErrorRefusesTheCampaign) {
  session_.Add(1, {"orders", "", 0, false, std::nullopt});
  (void)Decide();

  FailCampaign(Failure(grpc::StatusCode::INVALID_ARGUMENT, "INVALID_LEASE_TTL"));

  EXPECT_THAT(News(), ElementsAre("1 refused"));
}

TEST_F(ClientSessionTest, AFullQueueIsRetriedLater) {
  Stand();
  session_.Add(2, {"mail", "", 0, false, std::nullopt});
  (void)Decide();

  FailCampaign(Failure(grpc::StatusCode::RESOURCE_EXHAUSTED, "QUEUE_FULL"));
  EXPECT_THAT(Decide(), IsEmpty());
  now_ += 5s;

  EXPECT_THAT(Decide(), ElementsAre("renew", "campaign mail"));
  EXPECT_THAT(News(), IsEmpty());
}

TEST_F(ClientSessionTest, ACampaignAnsweredSessionEndedEndsTheSession) {
  Stand();
  session_.Add(2, {"mail", "", 0, false, std::nullopt});
  (void)Decide();

  FailCampaign(
      Failure(grpc::StatusCode::FAILED_PRECONDITION, "SESSION_ENDED", {{"cause", "EXPIRED"}}));

  EXPECT_THAT(Decide(), ElementsAre("close", "campaign orders"));
  EXPECT_EQ(campaign_.previous_session_id(), "s1");
}

TEST_F(ClientSessionTest, AnUnansweredResignationIsRetriedAndItsTermNeverBelievedAgain) {
  Lead();
  session_.Abandon(1, now_);
  EXPECT_THAT(Decide(), ElementsAre("resign orders"));
  EXPECT_EQ(resign_.term(), 7);

  AnswerResign(kUnreachable);
  NoticeElected(Seat7("orders"));
  EXPECT_FALSE(Believes());
  now_ += 1s;

  EXPECT_THAT(Decide(), ElementsAre("another replica", "resign orders"));
  AnswerResign();
  EXPECT_THAT(session_.TakeGone(), ElementsAre(1));
}

TEST_F(ClientSessionTest, AFailedResignationIsSentAgain) {
  Lead();
  session_.Abandon(1, now_);
  (void)Decide();

  AnswerResign({grpc::StatusCode::INTERNAL, "stream reset by a proxy"});
  EXPECT_THAT(session_.TakeGone(), IsEmpty());
  now_ += 5s;

  EXPECT_THAT(Decide(), ::testing::Contains("resign orders"));
}

TEST_F(ClientSessionTest, ALeaderAskedToStepDownLetsOthersGoFirst) {
  Lead();
  AskToStepDown("orders", 7, "b");
  now_ = session_.NextWake();
  EXPECT_THAT(Decide(), ElementsAre("resign orders"));

  AnswerResign();

  EXPECT_THAT(Decide(), IsEmpty());
  now_ += 3s;
  EXPECT_THAT(Decide(), ::testing::Contains("campaign orders"));
}

TEST_F(ClientSessionTest, LeavingBeforeTheSessionIsKnownLeavesNothingBehind) {
  session_.Add(1, {"orders", "", 0, false, std::nullopt});
  (void)Decide();
  const std::string request_id = campaign_.request_id();
  FailCampaign(kUnreachable);

  session_.Abandon(1, now_);
  session_.Add(2, {"mail", "", 0, false, std::nullopt});
  EXPECT_THAT(Decide(), ElementsAre("another replica", "campaign mail"));

  EXPECT_NE(campaign_.request_id(), request_id);
  EXPECT_THAT(session_.TakeGone(), ElementsAre(1));
}

TEST_F(ClientSessionTest, LeavingTheQueueNeverEndsATerm) {
  Stand();
  session_.Abandon(1, now_);

  EXPECT_THAT(Decide(), ElementsAre("resign orders"));

  EXPECT_TRUE(resign_.has_term());
  EXPECT_EQ(resign_.term(), 0);
}

TEST_F(ClientSessionTest, APlaceThatHasBecomeTheSeatIsGivenUpAsTheSeat) {
  Stand();
  session_.Abandon(1, now_);
  (void)Decide();

  AnswerResign(
      Failure(grpc::StatusCode::FAILED_PRECONDITION, "STALE_TERM", {{"current_term", "7"}}));

  EXPECT_THAT(Decide(), ElementsAre("resign orders"));
  EXPECT_EQ(resign_.term(), 7);
  AnswerResign();
  EXPECT_THAT(session_.TakeGone(), ElementsAre(1));
}

TEST_F(ClientSessionTest, ASeatWithoutAnElectorIsGivenUp) {
  Stand();

  NoticeElected(Seat7("mail"));

  EXPECT_THAT(Decide(), ElementsAre("resign mail"));
  EXPECT_EQ(resign_.term(), 7);
  EXPECT_THAT(News(), IsEmpty());
  AnswerResign();
  (void)session_.TakeGone();
  EXPECT_THAT(Decide(), IsEmpty());
}

TEST_F(ClientSessionTest, NothingIsReportedOfSeatsWithoutAnElector) {
  Stand();
  NoticeElected(Seat7("mail"));
  NoticeElected(Seat7("news"));

  EndSession(v1::CAUSE_SUPERSEDED);

  EXPECT_THAT(News(), ElementsAre("1 refused"));
}

TEST_F(ClientSessionTest, AListedSeatWithoutAnElectorIsGivenUp) {
  session_.Add(1, {"orders", "", 0, false, std::nullopt});
  (void)Decide();
  AnswerStanding();
  (void)Decide();

  AnswerRenewal({Seat7("mail")});

  EXPECT_THAT(Decide(), ElementsAre("resign mail"));
}

TEST_F(ClientSessionTest, ANewElectorNeverBelievesInATermThatAnEarlierElectorEnded) {
  Lead();
  session_.Abandon(1, now_);
  (void)Decide();
  AnswerResign();
  (void)session_.TakeGone();
  session_.Add(2, {"orders", "", 0, false, std::nullopt});

  NoticeElected(Seat7("orders"));

  EXPECT_FALSE(Believes(2));
  EXPECT_THAT(News(), IsEmpty());
}

TEST_F(ClientSessionTest, AResignationWaitsForTheRunningCampaign) {
  Stand();
  session_.Proclaim(1, "new", now_);
  EXPECT_THAT(Decide(), ElementsAre("campaign orders"));

  session_.Abandon(1, now_);
  EXPECT_THAT(Decide(), IsEmpty());
  AnswerStanding();

  EXPECT_THAT(Decide(), ElementsAre("resign orders"));
}

TEST_F(ClientSessionTest, ANewElectorStartsWhenTheOldOneHasLeft) {
  Lead();
  session_.Abandon(1, now_);
  session_.Add(2, {"orders", "", 0, false, std::nullopt});

  EXPECT_THAT(Decide(), ElementsAre("resign orders"));
  AnswerResign();
  (void)session_.TakeGone();

  EXPECT_THAT(Decide(), ElementsAre("campaign orders"));
}

TEST_F(ClientSessionTest, EndingTheSessionIsRetriedUntilTheDeadlineGiven) {
  Stand();
  session_.End(now_, now_ + 5s);
  now_ = kStart + 2500ms;

  for (int tries = 0; tries < 5; ++tries) {
    EXPECT_THAT(Decide(), ::testing::Contains("resign "));
    AnswerResign(kUnreachable);
    EXPECT_FALSE(session_.Ended());
    now_ += 500ms;
  }
  (void)Decide();
  AnswerResign(kUnreachable);

  EXPECT_TRUE(session_.Ended());
  EXPECT_EQ(session_.end_status().error_code(), grpc::StatusCode::UNAVAILABLE);
}

TEST_F(ClientSessionTest, WithADeadlineTheSeatsAreResignedBeforeTheSessionEnds) {
  Lead();
  session_.End(now_, now_ + 5s);
  EXPECT_THAT(Decide(), ElementsAre("resign orders"));
  AnswerResign(kUnreachable);
  now_ += 20ms;
  EXPECT_THAT(Decide(), ElementsAre("another replica", "resign orders"));
  AnswerResign();

  EXPECT_THAT(Decide(), ElementsAre("resign "));
  AnswerResign();

  EXPECT_TRUE(session_.Ended());
  EXPECT_TRUE(session_.end_status().ok());
}

TEST_F(ClientSessionTest, NobodyCampaignsWhileTheSessionIsEnded) {
  Lead();
  session_.End(now_, now_ + 5s);
  session_.Add(2, {"mail", "", 0, false, std::nullopt});
  EXPECT_THAT(Decide(), ElementsAre("resign orders"));
  AnswerResign();

  EXPECT_THAT(Decide(), ElementsAre("resign "));
}

TEST_F(ClientSessionTest, ASeatThatCannotBeResignedIsFreedWithTheSession) {
  Lead();
  session_.End(now_, now_ + 5s);
  (void)Decide();
  AnswerResign(Failure(grpc::StatusCode::PERMISSION_DENIED, "PERMISSION_DENIED"));
  (void)Decide();

  now_ += 2500ms;

  EXPECT_THAT(Decide(), ElementsAre("resign "));
}

TEST_F(ClientSessionTest, ARefusedEndOfTheSessionIsNotTriedAgain) {
  Stand();
  session_.End(now_, now_ + 5s);
  (void)Decide();
  AnswerResign();
  EXPECT_THAT(Decide(), ElementsAre("resign "));

  AnswerResign(Failure(grpc::StatusCode::PERMISSION_DENIED, "PERMISSION_DENIED"));

  EXPECT_TRUE(session_.Ended());
  EXPECT_FALSE(session_.end_status().ok());
}

TEST_F(ClientSessionTest, ASessionThatIsGoneAlreadyHasEndedWell) {
  Stand();
  session_.End(now_, now_ + 5s);
  (void)Decide();
  AnswerResign();
  EXPECT_THAT(Decide(), ElementsAre("resign "));

  AnswerResign(Failure(grpc::StatusCode::NOT_FOUND, "SESSION_NOT_FOUND"));

  EXPECT_TRUE(session_.Ended());
  EXPECT_TRUE(session_.end_status().ok());
}

TEST_F(ClientSessionTest, TheSessionIsEndedWithTheLastElector) {
  Lead();

  session_.End(now_);
  EXPECT_THAT(Decide(), ElementsAre("resign "));
  EXPECT_FALSE(Believes());
  EXPECT_FALSE(session_.Ended());
  AnswerResign();

  EXPECT_TRUE(session_.Ended());
}

TEST_F(ClientSessionTest, WithoutASessionThereIsNothingToEnd) {
  session_.End(now_);
  (void)session_.Decide(now_);

  EXPECT_TRUE(session_.Ended());
}

TEST_F(ClientSessionTest, EndingTheSessionIsTriedOnSeveralReplicas) {
  Stand();
  session_.End(now_);

  for (int tries = 0; tries < 3; ++tries) {
    EXPECT_FALSE(session_.Ended());
    (void)Decide();
    AnswerResign(kUnreachable);
  }

  EXPECT_TRUE(session_.Ended());
}

TEST_F(ClientSessionTest, AReplicaOfAnotherServiceEndsNothingWhileTheLeaseLasts) {
  Lead();
  const auto wrong = Failure(grpc::StatusCode::FAILED_PRECONDITION, "WRONG_SERVICE");

  session_.OnStreamClosed(stream_, now_, wrong);

  EXPECT_TRUE(Believes());
  now_ += 20ms;
  EXPECT_THAT(Decide(), ElementsAre("another replica", "open", "renew"));
}

TEST_F(ClientSessionTest, ASessionEndsWithItsLeaseIfOnlyOtherServicesAreLeft) {
  Lead();
  const auto wrong = Failure(grpc::StatusCode::FAILED_PRECONDITION, "WRONG_SERVICE");
  now_ += 10s;
  (void)Decide();  // the belief has ended, and the session is still renewed

  session_.OnStreamClosed(stream_, now_, wrong);

  EXPECT_THAT(News(), ::testing::Contains("1 lost EXPIRED"));
  EXPECT_THAT(Decide(), ::testing::Contains("campaign orders"));
  EXPECT_EQ(campaign_.session_id(), "");
}

TEST_F(ClientSessionTest, AStaleTermErrorMeansThatTheSeatIsLost) {
  Lead();

  NoticeLost("orders", 7, v1::CAUSE_DEPOSED);

  EXPECT_FALSE(Believes());
  EXPECT_THAT(News(), ElementsAre("1 lost DEPOSED"));
  EXPECT_THAT(Decide(), ElementsAre("campaign orders"));
}

}  // namespace
}  // namespace tenure
