#include "server/calls/campaign.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/calls/calls_testing.h"

namespace tenure::calls {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

Session SessionA(Duration lease_ttl = 9s) {
  Session session;
  session.id = Id("a");
  session.candidate = "a";
  session.lease_ttl = lease_ttl;
  return session;
}

Leader LeaderOf(const std::string& name) {
  Leader leader;
  leader.session = Id(name);
  leader.candidate = name;
  return leader;
}

Election LedBy(const std::string& name, uint64_t term) {
  Election election;
  election.name = {"orders"};
  election.term = {term};
  election.leader = LeaderOf(name);
  return election;
}

Changed ElectedIn(const std::string& name, uint64_t term) {
  return ChangeOf("orders", term, EventType::kElected, name, term);
}

SessionOver AEnded() {
  Session session = SessionA();
  session.ended = Cause::kExpired;
  return {session};
}

constexpr auto kDraining = "error: this replica is shutting down; the place in the queue is kept";
constexpr auto kNoAnswer = "error: the database did not answer in time";

// Session a campaigns in `orders`, with a lease of 9 s, by call 7.
class WaitingCampaignTest : public ::testing::Test {
 protected:
  using Texts = std::vector<std::string>;

  // How long the caller waits, and how long it has until its deadline.
  void Limit(std::optional<Duration> wait, std::optional<Duration> deadline = {}) {
    CampaignPatience patience{{}, wait};
    if (deadline) patience.answer_by = SteadyTime(1h) + *deadline;
    call_ = Driver(WaitingCampaign(Stands(), patience));
  }
  static Campaign Stands() {
    Campaign campaign;
    campaign.election = {"orders"};
    campaign.session = Id("a");
    campaign.call_id = {7};
    return campaign;
  }
  Texts Begin() { return call_.Step(Begun{}); }
  // Its command is answered: it stands behind b, in term 4.
  Texts Stand(Duration lease_ttl = 9s) {
    return call_.Step(Answered{CampaignAnswer{SessionA(lease_ttl), LedBy("b", 4), false}});
  }
  void Wait() {
    Begin();
    Stand();
  }
  Texts Due(TimerId timer) { return call_.Step(calls::Due{timer}); }
  // Where it stands, as it is read: at a place, or nowhere.
  Texts Read(bool with_position, const Election& election, bool waiting, bool alive = true) {
    return call_.Step(
        PlaceRead{with_position, engine::Place{ElectionView{election, alive}, waiting, 2}});
  }

  Driver<WaitingCampaign> call_{WaitingCampaign(Stands(), {})};
};

// --- The answer ---

TEST_F(WaitingCampaignTest, BeginsWithItsCommand) {
  EXPECT_THAT(Begin(), ElementsAre("no answer in 10000 ms", "submit"));
}

TEST_F(WaitingCampaignTest, AnElectionAtOnceCountsNoWait) {
  Begin();

  EXPECT_THAT(call_.Step(Answered{CampaignAnswer{SessionA(), LedBy("a", 5), true}}),
              ElementsAre("stop no answer", "elected in term 5"));
  EXPECT_TRUE(call_.finished());
}

TEST_F(WaitingCampaignTest, AWaitingCallRenewsEveryThirdOfItsLease) {
  Begin();
  EXPECT_THAT(Stand(9s), ElementsAre("stop no answer", "renewal in 3000 ms"));
}

TEST_F(WaitingCampaignTest, AWaitingCallRenewsAtLeastEveryFiveSeconds) {
  Begin();
  EXPECT_THAT(Stand(60s), ElementsAre("stop no answer", "renewal in 5000 ms"));
}

TEST_F(WaitingCampaignTest, CallsWithEqualLeasesRenewTogether) {
  call_.Advance(100ms);
  Begin();
  EXPECT_THAT(Stand(9s), ElementsAre("stop no answer", "renewal in 2900 ms"));
  call_.Advance(1399ms);
  EXPECT_THAT(Read(false, LedBy("b", 4), true), ElementsAre("renewal in 1501 ms"));
  call_.Advance(1ms);
  EXPECT_THAT(Read(false, LedBy("b", 4), true), ElementsAre("renewal in 3000 ms"));
}

TEST_F(WaitingCampaignTest, ARefusalIsAnswered) {
  Begin();
  EXPECT_THAT(call_.Step(Answered{Fail(Reason::kQueueFull, "full")}), ElementsAre("error: full"));
}

TEST_F(WaitingCampaignTest, NoAnswerInTimeIsAnError) {
  Begin();
  EXPECT_THAT(Due(TimerId::kNoAnswer), ElementsAre(kNoAnswer));
  EXPECT_TRUE(call_.finished());
}

TEST_F(WaitingCampaignTest, AnAnswerAfterTheEndIsIgnored) {
  Begin();
  Due(TimerId::kNoAnswer);

  EXPECT_THAT(Stand(), IsEmpty());
}

// --- Elected while it waits ---

TEST_F(WaitingCampaignTest, AnElectionEndsTheWait) {
  Wait();
  call_.Advance(2s);

  EXPECT_THAT(call_.Step(ElectedIn("a", 5)), ElementsAre("waited 2000 ms", "elected in term 5"));
}

TEST_F(WaitingCampaignTest, AnElectionBeforeTheAnswerIsKept) {
  Begin();
  EXPECT_THAT(call_.Step(ElectedIn("a", 5)), IsEmpty());

  EXPECT_THAT(Stand(), ElementsAre("stop no answer", "waited 0 ms", "elected in term 5"));
}

TEST_F(WaitingCampaignTest, AnElectionFromBeforeTheCandidacyIsIgnored) {
  Begin();
  call_.Step(ElectedIn("a", 4));

  EXPECT_THAT(Stand(), ElementsAre("stop no answer", "renewal in 3000 ms"));
  EXPECT_THAT(call_.Step(ElectedIn("a", 4)), IsEmpty());
}

TEST_F(WaitingCampaignTest, EventsOfOthersAreIgnored) {
  Wait();

  EXPECT_THAT(call_.Step(ElectedIn("b", 5)), IsEmpty());
  EXPECT_THAT(call_.Step(ChangeOf("jobs", 5, EventType::kElected, "a", 5)), IsEmpty());
  EXPECT_THAT(call_.Step(ChangeOf("orders", 5, EventType::kVacated, "a", 5)), IsEmpty());
}

// --- Renewals, and reads of its place ---

TEST_F(WaitingCampaignTest, ARenewalIsFollowedByTheNextOne) {
  Wait();

  EXPECT_THAT(Due(TimerId::kRenewal), ElementsAre("renew a"));
  EXPECT_THAT(call_.Step(Renewed{0, SessionA()}), ElementsAre("renewal in 3000 ms"));
}

TEST_F(WaitingCampaignTest, TheNinthRenewalIsFollowedByAReadOfItsPlace) {
  Wait();
  for (int looks = 0; looks < 2; ++looks) {
    for (int i = 1; i < 9; ++i) {
      EXPECT_THAT(call_.Step(Renewed{0, SessionA()}), ElementsAre("renewal in 3000 ms"));
    }
    EXPECT_THAT(call_.Step(Renewed{0, SessionA()}), ElementsAre("read place"));
    EXPECT_THAT(Read(false, LedBy("b", 4), true), ElementsAre("renewal in 3000 ms"));
  }
}

TEST_F(WaitingCampaignTest, ARenewalThatAnswersAShorterLeaseIsFollowedSooner) {
  Wait();

  EXPECT_THAT(call_.Step(Renewed{0, SessionA(3s)}), ElementsAre("renewal in 1000 ms"));
}

TEST_F(WaitingCampaignTest, AFailedRenewalIsTriedAgainAndFollowedByARead) {
  Wait();

  EXPECT_THAT(call_.Step(Renewed{0, Unavailable()}), ElementsAre("renewal in 500 ms"));
  EXPECT_THAT(call_.Step(Renewed{0, SessionA()}), ElementsAre("read place"));
}

TEST_F(WaitingCampaignTest, AFailedReadIsTriedAgain) {
  Wait();

  EXPECT_THAT(call_.Step(PlaceRead{false, Unavailable()}), ElementsAre("renewal in 3000 ms"));
  EXPECT_THAT(call_.Step(Renewed{0, SessionA()}), ElementsAre("read place"));
}

TEST_F(WaitingCampaignTest, TheEndOfItsSessionIsFoundByARenewal) {
  Wait();
  EXPECT_THAT(call_.Step(Renewed{0, Fail(Reason::kSessionEnded, "ended")}),
              ElementsAre("error: ended"));
}

TEST_F(WaitingCampaignTest, ASeatWithoutAnEventIsFoundByARead) {
  Wait();
  EXPECT_THAT(Read(false, LedBy("a", 5), false), ElementsAre("waited 0 ms", "elected in term 5"));
}

TEST_F(WaitingCampaignTest, ALostPlaceIsFoundByARead) {
  Wait();
  EXPECT_THAT(Read(false, LedBy("b", 4), false), ElementsAre("renew a"));
  EXPECT_THAT(call_.Step(Renewed{0, SessionA()}),
              ElementsAre("error: the session has left election 'orders'"));
}

TEST_F(WaitingCampaignTest, APlaceLostWithItsSessionIsReported) {
  Wait();
  Read(false, LedBy("b", 4), false);
  EXPECT_THAT(call_.Step(Renewed{0, Fail(Reason::kSessionEnded, "ended")}),
              ElementsAre("error: ended"));
}

TEST_F(WaitingCampaignTest, AFailedRenewalLeavesTheReasonForALostPlaceUnknown) {
  Wait();
  Read(false, LedBy("b", 4), false);
  EXPECT_THAT(call_.Step(Renewed{0, Unavailable()}), ElementsAre("error: the database is away"));
}

TEST_F(WaitingCampaignTest, AfterAResetThePlaceIsReadAtOnce) {
  Begin();
  EXPECT_THAT(call_.Step(HistoryReset{}), IsEmpty());
  Stand();

  EXPECT_THAT(call_.Step(HistoryReset{}), ElementsAre("renew a"));
  EXPECT_THAT(call_.Step(Renewed{0, SessionA()}), ElementsAre("read place"));
}

// --- Patience ---

TEST_F(WaitingCampaignTest, ACallThatDoesNotWaitGetsItsPlace) {
  Limit(0s);
  Begin();

  EXPECT_THAT(Stand(), ElementsAre("stop no answer", "no answer in 10000 ms", "read position"));
  EXPECT_THAT(Read(true, LedBy("b", 4), true), ElementsAre("standing at 2 behind b"));
}

TEST_F(WaitingCampaignTest, ALeaderWhoseSessionHasEndedIsNotShown) {
  Limit(0s);
  Wait();
  EXPECT_THAT(Read(true, LedBy("b", 4), true, false), ElementsAre("standing at 2"));
}

TEST_F(WaitingCampaignTest, ATimerEndsTheWait) {
  Limit(4s);
  Begin();

  EXPECT_THAT(Stand(), ElementsAre("stop no answer", "wait over in 4000 ms", "renewal in 3000 ms"));
  EXPECT_THAT(Due(TimerId::kWaitOver), ElementsAre("no answer in 10000 ms", "read position"));
}

TEST_F(WaitingCampaignTest, TheWaitEndsBeforeTheDeadline) {
  Limit({}, 4s);
  EXPECT_THAT(Begin(), ElementsAre("no answer in 4000 ms", "submit"));
  EXPECT_THAT(Stand(), ElementsAre("stop no answer", "wait over in 3800 ms", "renewal in 3000 ms"));
}

TEST_F(WaitingCampaignTest, ANearDeadlineEndsTheWaitAQuarterEarlier) {
  Limit({}, 400ms);
  Begin();
  EXPECT_THAT(Stand(), ElementsAre("stop no answer", "wait over in 300 ms", "renewal in 3000 ms"));
}

TEST_F(WaitingCampaignTest, TheShorterPatienceCounts) {
  Limit(2s, 4s);
  Begin();
  EXPECT_THAT(Stand(), ElementsAre("stop no answer", "wait over in 2000 ms", "renewal in 3000 ms"));
}

TEST_F(WaitingCampaignTest, AnElectionDuringTheLastReadIsTheAnswer) {
  Limit(0s);
  Wait();

  EXPECT_THAT(call_.Step(ElectedIn("a", 5)), ElementsAre("waited 0 ms", "elected in term 5"));
  EXPECT_THAT(Read(true, LedBy("b", 4), true), IsEmpty());
}

TEST_F(WaitingCampaignTest, AReadFromBeforeTheWaitEndedIsIgnored) {
  Limit(4s);
  Wait();
  Due(TimerId::kWaitOver);

  EXPECT_THAT(Read(false, LedBy("b", 4), true), IsEmpty());
  EXPECT_THAT(call_.Step(Renewed{0, Unavailable()}), IsEmpty());
}

TEST_F(WaitingCampaignTest, APlaceThatCannotBeReadIsAnError) {
  Limit(0s);
  Wait();

  EXPECT_THAT(call_.Step(PlaceRead{true, Unavailable()}),
              ElementsAre("error: the database is away"));
  EXPECT_TRUE(call_.finished());
}

TEST_F(WaitingCampaignTest, APlaceThatIsNotReadInTimeIsAnError) {
  Limit(0s);
  Wait();
  EXPECT_THAT(Due(TimerId::kNoAnswer), ElementsAre(kNoAnswer));
}

// --- Cancelled ---

TEST_F(WaitingCampaignTest, ACallCancelledWhileItWaitsGivesUpItsPlace) {
  Wait();
  EXPECT_THAT(call_.Step(Cancelled{}), ElementsAre("take back orders call 7", "hang up"));
}

TEST_F(WaitingCampaignTest, ACallCancelledBeforeItsAnswerGivesUpTheResult) {
  Begin();
  EXPECT_THAT(call_.Step(Cancelled{}), ElementsAre("hang up"));
  EXPECT_THAT(Stand(), ElementsAre("take back orders call 7"));
}

TEST_F(WaitingCampaignTest, ARefusalNeedsNoWithdrawal) {
  Begin();
  call_.Step(Cancelled{});
  EXPECT_THAT(call_.Step(Answered{Unavailable()}), IsEmpty());
}

TEST_F(WaitingCampaignTest, ACallCancelledWhileItsPlaceIsReadKeepsThePlace) {
  Limit(0s);
  Wait();
  EXPECT_THAT(call_.Step(Cancelled{}), ElementsAre("hang up"));
}

TEST_F(WaitingCampaignTest, NothingIsDoneAfterTheEnd) {
  Wait();
  call_.Step(ElectedIn("a", 5));

  EXPECT_THAT(call_.Step(Cancelled{}), IsEmpty());
  EXPECT_THAT(call_.Step(Drained{}), IsEmpty());
  EXPECT_THAT(call_.Step(AEnded()), IsEmpty());
  EXPECT_THAT(call_.Step(HistoryReset{}), IsEmpty());
  EXPECT_THAT(Due(TimerId::kRenewal), IsEmpty());
}

// --- The replica shuts down, or the session ends ---

TEST_F(WaitingCampaignTest, AShutdownEndsTheWait) {
  Wait();
  EXPECT_THAT(call_.Step(Drained{}), ElementsAre(kDraining));
}

TEST_F(WaitingCampaignTest, AShutdownBeforeTheAnswerTakesEffectWithTheAnswer) {
  Begin();
  EXPECT_THAT(call_.Step(Drained{}), IsEmpty());
  EXPECT_THAT(Stand(), ElementsAre("stop no answer", kDraining));
}

TEST_F(WaitingCampaignTest, AShutdownBeforeTheAnswerHidesNoElection) {
  Begin();
  call_.Step(Drained{});
  call_.Step(ElectedIn("a", 5));

  EXPECT_THAT(Stand(), ElementsAre("stop no answer", "waited 0 ms", "elected in term 5"));
}

TEST_F(WaitingCampaignTest, TheEndOfTheSessionEndsTheWait) {
  Wait();
  EXPECT_THAT(call_.Step(AEnded()), ElementsAre(::testing::HasSubstr("ended")));
}

// Session a wants `jobs` and `orders`, by call 7.
class CampaignSetTest : public ::testing::Test {
 protected:
  using Texts = std::vector<std::string>;

  void Limit(std::optional<Duration> wait, std::optional<Duration> deadline = {}) {
    CampaignPatience patience{{}, wait};
    if (deadline) patience.answer_by = SteadyTime(1h) + *deadline;
    call_ = Driver(CampaignSet(Stands(), patience));
  }
  static CampaignForAll Stands() {
    CampaignForAll campaign;
    campaign.elections = {{"jobs"}, {"orders"}};
    campaign.session = Id("a");
    campaign.call_id = {7};
    return campaign;
  }
  Texts Begin() { return call_.Step(Begun{}); }
  Texts Block(Duration lease_ttl = 9s) {
    return call_.Step(Answered{CampaignForAllAnswer{SessionA(lease_ttl), {}, {{"orders"}}}});
  }
  Texts Elect() {
    const Leadership seat{{"jobs"}, {1}, LeaderOf("a"), {}};
    return call_.Step(Answered{CampaignForAllAnswer{SessionA(), {seat, seat}, {}}});
  }
  Texts Vacate() { return call_.Step(ChangeOf("orders", 5, EventType::kVacated, "b", 4)); }
  Texts Due(TimerId timer) { return call_.Step(calls::Due{timer}); }

  Driver<CampaignSet> call_{CampaignSet(Stands(), {})};
};

TEST_F(CampaignSetTest, BeginsWithATry) {
  EXPECT_THAT(Begin(), ElementsAre("no answer in 10000 ms", "submit set of 2"));
  EXPECT_THAT(Elect(), ElementsAre("stop no answer", "elected in all 2"));
}

TEST_F(CampaignSetTest, TriesAgainEveryThirdOfItsLease) {
  Begin();
  EXPECT_THAT(Block(1500ms), ElementsAre("stop no answer", "retry in 500 ms"));
}

TEST_F(CampaignSetTest, TriesAgainAtLeastEverySecond) {
  Begin();
  EXPECT_THAT(Block(), ElementsAre("stop no answer", "retry in 1000 ms"));
  call_.Advance(1s);

  EXPECT_THAT(Due(TimerId::kRetry), ElementsAre("no answer in 10000 ms", "submit set of 2"));
  EXPECT_THAT(Elect(), ElementsAre("stop no answer", "waited 1000 ms", "elected in all 2"));
}

TEST_F(CampaignSetTest, EachTryIsFollowedByTheNext) {
  Begin();
  Block();
  for (int i = 0; i < 2; ++i) {
    call_.Advance(1s);
    Due(TimerId::kRetry);
    EXPECT_THAT(Block(), ElementsAre("stop no answer", "retry in 1000 ms"));
  }
}

TEST_F(CampaignSetTest, TriesAgainSoonAfterAVacancy) {
  Begin();
  Block();
  EXPECT_THAT(Vacate(), ElementsAre("retry in 5 ms"));
}

TEST_F(CampaignSetTest, ASeriesOfVacanciesDoesNotDelayATry) {
  Begin();
  Block();
  Vacate();
  call_.Advance(4ms);

  EXPECT_THAT(Vacate(), IsEmpty());
}

TEST_F(CampaignSetTest, AVacancyDuringATryMakesTheNextOneSooner) {
  Begin();
  EXPECT_THAT(Vacate(), IsEmpty());
  EXPECT_THAT(Block(), ElementsAre("stop no answer", "retry in 5 ms"));
}

TEST_F(CampaignSetTest, AVacancyHastensOneTryOnly) {
  Begin();
  Block();
  Vacate();
  call_.Advance(5ms);
  Due(TimerId::kRetry);

  EXPECT_THAT(Block(), ElementsAre("stop no answer", "retry in 1000 ms"));
}

TEST_F(CampaignSetTest, AnElectionIsNoVacancy) {
  Begin();
  Block();
  EXPECT_THAT(call_.Step(ElectedIn("b", 5)), IsEmpty());
}

TEST_F(CampaignSetTest, ACallThatDoesNotWaitLearnsWhatBlocksIt) {
  Limit(0s);
  Begin();
  EXPECT_THAT(Block(), ElementsAre("stop no answer", "blocked in orders"));
}

TEST_F(CampaignSetTest, TheLastTryIsAtTheEndOfTheWait) {
  Limit(300ms);
  Begin();
  EXPECT_THAT(Block(), ElementsAre("stop no answer", "retry in 300 ms"));
  call_.Advance(300ms);
  Due(TimerId::kRetry);

  EXPECT_THAT(Block(), ElementsAre("stop no answer", "blocked in orders"));
}

TEST_F(CampaignSetTest, NoAnswerInTimeIsAnError) {
  Begin();
  EXPECT_THAT(Due(TimerId::kNoAnswer), ElementsAre(kNoAnswer));
}

TEST_F(CampaignSetTest, ACallCancelledDuringATryKeepsItsGrants) {
  Begin();
  EXPECT_THAT(call_.Step(Cancelled{}), ElementsAre("hang up"));
  EXPECT_THAT(Elect(), IsEmpty());
}

TEST_F(CampaignSetTest, ACallCancelledBetweenTriesHoldsNothing) {
  Begin();
  Block();
  EXPECT_THAT(call_.Step(Cancelled{}), ElementsAre("hang up"));
}

TEST_F(CampaignSetTest, AShutdownEndsTheWait) {
  Begin();
  Block();
  EXPECT_THAT(call_.Step(Drained{}),
              ElementsAre("error: this replica is shutting down; no seat was taken"));
}

TEST_F(CampaignSetTest, AShutdownDuringATryKeepsItsGrants) {
  Begin();
  EXPECT_THAT(call_.Step(Drained{}), IsEmpty());
  EXPECT_THAT(Elect(), ElementsAre("stop no answer", "elected in all 2"));
}

}  // namespace
}  // namespace tenure::calls
