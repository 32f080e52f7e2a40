// Depose, Pause, Delete, and the end of a session by an operator.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/law_testing.h"

namespace tenure::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Optional;
using ::testing::Pair;
using ::testing::SizeIs;

// --- Depose ---

TEST(DeposeTest, TheTermEndsAndTheSeatPassesOn) {
  auto docket = Given(LedBy("a", Term{7}), Waiting("b"));

  const auto answer = Do(docket, Deposing(Term{7}));

  EXPECT_THAT(answer, AnswersChanged());
  EXPECT_THAT(docket.events, ElementsAre(Vacated("a", Cause::kDeposed, Term{7}, Revision{14}),
                                         Elected("b", Term{8}, Revision{15})));
  EXPECT_THAT(docket.admin_changes, ElementsAre(Recorded(AdminAction::kDeposed, Term{7}, "'a'")));
}

TEST(DeposeTest, TheSessionStaysAliveAndMayCampaignAgain) {
  auto docket = Given(LedBy("a", Term{7}));

  (void)Do(docket, Deposing(Term{7}));

  EXPECT_EQ(SessionIn(docket, "a"), SessionOfCandidate("a"));
  EXPECT_THAT(Do(docket, CampaignBy("a")), AnswersElected());
}

TEST(DeposeTest, DeposingAnEndedTermSucceeds) {
  auto led = Given(LedBy("a", Term{7}), Waiting("b"));
  auto vacant = Given(VacantAfter(Term{7}), Waiting("b"), Paused());
  const auto led_before = led;
  const auto vacant_before = vacant;

  EXPECT_THAT(Do(led, Deposing(Term{6}, 30s)), AnswersUnchanged());
  EXPECT_THAT(Do(vacant, Deposing(Term{7}, 30s)), AnswersUnchanged());
  EXPECT_THAT(led, IsSameAs(led_before));
  EXPECT_THAT(vacant, IsSameAs(vacant_before));
}

TEST(DeposeTest, ATermThatWasNeverGrantedIsRefused) {
  auto docket = Given(LedBy("a", Term{7}));
  const auto before = docket;

  EXPECT_THAT(Do(docket, Deposing(Term{8})), FailsWith(Reason::kStaleTerm, "current_term", "7"));
  EXPECT_THAT(docket, IsSameAs(before));
}

TEST(DeposeTest, AnUnknownElectionIsRefused) {
  auto docket = Given();

  EXPECT_THAT(Do(docket, Deposing(Term{1})), FailsWith(Reason::kElectionNotFound));
}

// --- Cool-downs ---

TEST(CoolDownTest, ACoolDownIsRecorded) {
  auto docket = Given(LedBy("a", Term{7}));

  (void)Do(docket, Deposing(Term{7}, 30s));

  EXPECT_THAT(docket.admin_changes,
              ElementsAre(Recorded(AdminAction::kDeposed, Term{7}, "'a', kept out for 30s")));
}

TEST(CoolDownTest, ADeposedCandidateIsNotElectedUntilItsCoolDownEnds) {
  auto docket = Given(LedBy("a", Term{7}));
  (void)Do(docket, Deposing(Term{7}, 5s));
  EXPECT_THAT(Do(docket, CampaignBy("a")), AnswersStanding());

  docket.now = kNow + 5s + -kInstant;
  EXPECT_THAT(Do(docket, CampaignBy("a")), AnswersStanding());

  docket.now = kNow + 5s;
  EXPECT_THAT(Do(docket, CampaignBy("a")), AnswersElected());
}

TEST(CoolDownTest, ACoolDownAppliesToTheCandidateAndNotItsSession) {
  auto docket = Given(LedBy("a", Term{7}), Waiting("a/2"));

  (void)Do(docket, Deposing(Term{7}, 5s));

  EXPECT_THAT(docket, IsVacantAfter(Term{7}));
  EXPECT_THAT(Do(docket, FirstCampaignBy("a/3")), AnswersStanding());
}

TEST(CoolDownTest, OtherCandidatesGoFirst) {
  auto docket = Given(LedBy("b", Term{7}), Waiting("a", {.priority = 9}), Waiting("c"),
                      KeptOut("a", kNow + 5s));

  (void)Do(docket, ResignBy("b"));

  EXPECT_THAT(docket, IsLedBy("c", Term{8}));
  EXPECT_THAT(QueueIn(docket), ElementsAre("a"));
}

TEST(CoolDownTest, ANewcomerGoesFirst) {
  auto docket = Given(VacantAfter(Term{7}), Waiting("a", {.priority = 9}), KeptOut("a", kNow + 5s));

  EXPECT_THAT(Do(docket, FirstCampaignBy("c")), AnswersElected());
}

TEST(CoolDownTest, IfAllWaitingCandidatesCoolDownEachEndIsAwaited) {
  auto docket = Given(VacantAfter(Term{7}), Waiting("a"), Waiting("b", {.priority = -1}),
                      KeptOut("b", kNow + 2s), KeptOut("a", kNow + 5s), KeptOut("c", kNow + -1s));

  (void)Do(docket, Settlement());
  EXPECT_THAT(ElectionIn(docket).wake_at, Optional(kNow + 2s));

  docket.now = kNow + 2s;
  (void)Do(docket, Settlement());
  EXPECT_THAT(ElectionIn(docket).wake_at, Optional(kNow + 5s));

  docket.now = kNow + 5s;
  (void)Do(docket, Settlement());
  EXPECT_THAT(docket, IsLedBy("a", Term{8}));
  EXPECT_EQ(ElectionIn(docket).wake_at, std::nullopt);
}

TEST(CoolDownTest, IfTheOnlyCandidateReadCoolsDownTheElectionIsUnsettled) {
  auto docket = Given(VacantAfter(Term{7}), Waiting("a"), HorizonAt("a"), KeptOut("a", kNow + 5s));

  (void)Do(docket, Settlement());

  EXPECT_THAT(docket, IsVacantAfter(Term{7}));
  EXPECT_THAT(docket.unsettled, ElementsAre(kElection));
}

TEST(CoolDownTest, TheElectionKnowsTheEndOfTheLastCoolDown) {
  auto docket = Given(LedBy("a", Term{7}), Waiting("b"), Waiting("c"));

  (void)Do(docket, Deposing(Term{7}, 9s));
  (void)Do(docket, Deposing(Term{8}, 5s));

  EXPECT_EQ(ElectionIn(docket).cooling_until, kNow + 9s);
  EXPECT_THAT(ContestIn(docket).cool_downs,
              ElementsAre(Pair("a", kNow + 9s), Pair("b", kNow + 5s)));
}

Fact ManyKeptOut(DbTime until) {
  return [=](Docket& docket) {
    for (size_t i = 0; i < kCoolDownsMax; ++i) KeptOut("x" + std::to_string(i), until)(docket);
  };
}

TEST(CoolDownTest, ACoolDownOverTheLimitIsRefusedAndTheTermContinues) {
  auto docket = Given(LedBy("a", Term{7}), ManyKeptOut(kNow + kInstant));
  const auto before = docket;

  EXPECT_THAT(Do(docket, Deposing(Term{7}, 5s)),
              FailsWith(Reason::kTooManyCoolDowns, "limit", std::to_string(kCoolDownsMax)));
  EXPECT_THAT(docket, IsSameAs(before));
  EXPECT_THAT(Do(docket, Deposing(Term{7})), AnswersChanged());
}

TEST(CoolDownTest, EndedCoolDownsMakeRoom) {
  auto docket = Given(LedBy("a", Term{7}), ManyKeptOut(kNow));

  EXPECT_THAT(Do(docket, Deposing(Term{7}, 5s)), AnswersChanged());
  EXPECT_THAT(ContestIn(docket).cool_downs, ElementsAre(Pair("a", kNow + 5s)));
}

TEST(CoolDownTest, RenewingACoolDownNeedsNoRoom) {
  auto docket = Given(LedBy("x3", Term{7}), ManyKeptOut(kNow + 1s));

  EXPECT_THAT(Do(docket, Deposing(Term{7}, 5s)), AnswersChanged());
  EXPECT_THAT(ContestIn(docket).cool_downs, SizeIs(kCoolDownsMax));
  EXPECT_EQ(ContestIn(docket).cool_downs.at("x3"), kNow + 5s);
}

// --- Pause ---

TEST(PauseTest, APauseLeavesTheLeaderInItsSeat) {
  auto docket = Given(LedBy("a", Term{7}), Waiting("b"));

  EXPECT_THAT(Do(docket, Pausing()), AnswersChanged());

  EXPECT_THAT(docket, IsLedBy("a", Term{7}));
  EXPECT_THAT(docket.events, IsEmpty());
  EXPECT_THAT(docket.admin_changes, ElementsAre(Recorded(AdminAction::kPaused, Term{7}, "")));
}

TEST(PauseTest, APausedLeaderMayCampaignAndProclaim) {
  auto docket = Given(LedBy("a", Term{7}), Paused());

  EXPECT_THAT(Do(docket, CampaignBy("a", {.value = "v"})), AnswersElected());
  EXPECT_THAT(Do(docket, ProclaimBy("a", Term{7}, "w")), AnswersProclaimed(Term{7}, "w"));
}

// How a term may end in a paused election, or a vacant seat be asked for.
const std::map<std::string, Command>& CommandsForAPausedElection() {
  static const std::map<std::string, Command> commands = {
      {"Resign", ResignBy("a")},
      {"Withdraw", WithdrawalBy("a", Attempt{5})},
      {"Depose", Deposing(Term{7})},
  };
  return commands;
}

class PausedTest : public ::testing::TestWithParam<std::pair<const std::string, Command>> {};

TEST_P(PausedTest, TheTermEndsAndNobodyIsElectedBeforeTheResume) {
  auto docket = Given(LedBy("a", Term{7}, {.attempt = {5}}), Waiting("b"), Paused());

  (void)Do(docket, GetParam().second);
  EXPECT_THAT(Do(docket, Settlement()), AnswersDone());
  EXPECT_THAT(Do(docket, FirstCampaignBy("c", {.priority = 9})), AnswersStanding());
  EXPECT_THAT(docket, IsVacantAfter(Term{7}));
  EXPECT_EQ(ElectionIn(docket).wake_at, std::nullopt);

  EXPECT_THAT(Do(docket, Resuming()), AnswersChanged());
  EXPECT_THAT(docket, IsLedBy("c", Term{8}));
}

INSTANTIATE_TEST_SUITE_P(Each, PausedTest, ::testing::ValuesIn(CommandsForAPausedElection()),
                         [](const auto& info) { return info.param.first; });

TEST(PauseTest, APauseDoesNotKeepADeadLeader) {
  auto docket = Given(LedBy("a", Term{7}), Waiting("b"), Paused(), Expired("a"));

  (void)Do(docket, Settlement());

  EXPECT_THAT(docket, IsVacantAfter(Term{7}));
}

TEST(PauseTest, PausingAVacantSeatCancelsItsWakeUpAndResumingRestoresIt) {
  auto docket = Given(VacantAfter(Term{7}), Waiting("b"), VacantUntil(kNow + 5s));
  (void)Do(docket, Settlement());

  (void)Do(docket, Pausing());
  EXPECT_EQ(ElectionIn(docket).wake_at, std::nullopt);

  (void)Do(docket, Resuming());
  EXPECT_THAT(ElectionIn(docket).wake_at, Optional(kNow + 5s));
}

TEST(PauseTest, PausingTwiceIsRecordedOnce) {
  auto docket = Given(LedBy("a", Term{7}));
  (void)Do(docket, Pausing());
  const auto once = docket;

  EXPECT_THAT(Do(docket, Pausing()), AnswersUnchanged());
  EXPECT_THAT(docket, IsSameAs(once));
}

TEST(ResumeTest, AResumeIsRecordedWithTheTermBeforeIt) {
  auto docket = Given(VacantAfter(Term{7}), Waiting("b"), Paused());

  const auto answer = Do(docket, Resuming());

  EXPECT_THAT(docket, IsLedBy("b", Term{8}));
  EXPECT_THAT(docket.admin_changes, ElementsAre(Recorded(AdminAction::kResumed, Term{7}, "")));
  EXPECT_EQ(std::get<AdminAnswer>(*answer).election, ElectionIn(docket));
}

TEST(ResumeTest, ResumingAnElectionThatIsNotPausedChangesNothing) {
  auto docket = Given(LedBy("a", Term{7}), Waiting("b"));
  const auto before = docket;

  EXPECT_THAT(Do(docket, Resuming()), AnswersUnchanged());
  EXPECT_THAT(docket, IsSameAs(before));
}

TEST(PauseTest, AnUnknownElectionIsRefused) {
  auto docket = Given();
  const auto before = docket;

  EXPECT_THAT(Do(docket, Pausing()), FailsWith(Reason::kElectionNotFound));
  EXPECT_THAT(Do(docket, Resuming()), FailsWith(Reason::kElectionNotFound));
  EXPECT_THAT(docket, IsSameAs(before));
}

// --- Delete ---

TEST(DeleteTest, DeletingEndsTheTermAndElectsNobody) {
  auto docket = Given(LedBy("a", Term{7}), Waiting("b"));

  const auto answer = Do(docket, Deleting(Term{7}));

  EXPECT_THAT(answer, AnswersChanged());
  EXPECT_THAT(docket.events, ElementsAre(Vacated("a", Cause::kDeleted, Term{7}, Revision{14})));
  EXPECT_THAT(docket.admin_changes, ElementsAre(Recorded(AdminAction::kDeleted, Term{7}, "")));
}

TEST(DeleteTest, DeletingKeepsOnlyTheNumbersThatMustNotBeReused) {
  auto docket = Given(LedBy("a", Term{7}), Waiting("b"), Waiting("c"), HorizonAt("c"),
                      WithSettings({.lock_delay = 5s, .queue_max = 9}), Paused(), Appointed("b"),
                      KeptOut("d", kNow + 5s));

  (void)Do(docket, Deleting(Term{7}));

  Election tombstone{kElection, Term{7}, Revision{14}, Ticket{2}};
  tombstone.deleted = true;
  tombstone.history_from = Revision{14};
  EXPECT_EQ(ElectionIn(docket), tombstone);
  EXPECT_TRUE(ContestIn(docket).emptied);
  EXPECT_FALSE(ContestIn(docket).exists);
  EXPECT_THAT(QueueIn(docket), IsEmpty());
  EXPECT_THAT(ContestIn(docket).cool_downs, IsEmpty());
  EXPECT_EQ(ContestIn(docket).horizon, std::nullopt);
}

TEST(DeleteTest, DeletingAVacantSeatHasNoEvent) {
  auto docket = Given(VacantAfter(Term{7}), Waiting("b", {.priority = -1}), VacantUntil(kNow + 5s));

  (void)Do(docket, Deleting(Term{7}));

  EXPECT_THAT(docket.events, IsEmpty());
  EXPECT_EQ(ElectionIn(docket).history_from, Revision{15});
  EXPECT_EQ(ElectionIn(docket).vacant_until, DbTime{});
}

TEST(DeleteTest, DeletingKeepsTheEventOfAnExpiredLeader) {
  auto docket = Given(LedBy("a", Term{7}), Expired("a"));

  (void)Do(docket, Deleting(Term{7}));

  EXPECT_THAT(docket.events, ElementsAre(Vacated("a", Cause::kExpired, Term{7}, Revision{14})));
  EXPECT_EQ(ElectionIn(docket).history_from, Revision{14});
}

TEST(DeleteTest, DeletingKeepsAllEventsOfItsTransaction) {
  const ElectionName other{"orders/eu"};
  auto docket = Given(LedBy("a", Term{7}), In(other, LedBy("b", Term{3})));
  Resign in_the_other = ResignBy("b");
  in_the_other.election = other;

  (void)Do(docket, ProclaimBy("a", Term{7}, "v"));
  (void)Do(docket, ResignBy("a"));
  (void)Do(docket, in_the_other);
  (void)Do(docket, Deleting(Term{7}));

  ASSERT_THAT(docket.events,
              ElementsAre(Proclaimed("a", Term{7}, Revision{14}, "v"),
                          Vacated("a", Cause::kResigned, Term{7}, Revision{15}), ::testing::_));
  EXPECT_EQ(ElectionIn(docket).history_from, Revision{14});
}

TEST(DeleteTest, DeletingLeavesTheSessionsAlive) {
  auto docket = Given(LedBy("a", Term{7}), Waiting("b"));

  (void)Do(docket, Deleting(Term{7}));

  EXPECT_EQ(SessionIn(docket, "a"), SessionOfCandidate("a"));
  EXPECT_EQ(SessionIn(docket, "b"), SessionOfCandidate("b"));
  EXPECT_THAT(docket.ended, IsEmpty());
}

TEST(DeleteTest, DeletingTwiceChangesNothing) {
  auto docket = Given(LedBy("a", Term{7}));
  (void)Do(docket, Deleting(Term{7}));
  const auto once = docket;

  EXPECT_THAT(Do(docket, Deleting(Term{7})), AnswersUnchanged());
  EXPECT_THAT(docket, IsSameAs(once));
}

TEST(DeleteTest, AnElectionWithoutHistoryCanBeDeleted) {
  auto docket = Given();
  (void)Do(docket, Creating());

  EXPECT_THAT(Do(docket, Deleting(Term{0})), AnswersChanged());
  EXPECT_THAT(Do(docket, Deleting(Term{0})), AnswersUnchanged());
}

TEST(DeleteTest, AStaleTermIsRefusedAndChangesNothing) {
  auto docket = Given(LedBy("a", Term{7}));
  const auto before = docket;

  EXPECT_THAT(Do(docket, Deleting(Term{6})), FailsWith(Reason::kStaleTerm, "current_term", "7"));
  EXPECT_THAT(Do(docket, Deleting(Term{8})), FailsWith(Reason::kStaleTerm, "current_term", "7"));
  EXPECT_THAT(docket, IsSameAs(before));
}

TEST(DeleteTest, AnUnknownElectionIsRefused) {
  auto docket = Given();
  const auto before = docket;

  EXPECT_THAT(Do(docket, Deleting(Term{0})), FailsWith(Reason::kElectionNotFound));
  EXPECT_THAT(docket, IsSameAs(before));
}

TEST(DeletedElectionTest, ADeletedElectionIsUnknown) {
  auto docket = Given(LedBy("a", Term{7}));
  (void)Do(docket, Deleting(Term{7}));
  const auto deleted = docket;

  EXPECT_THAT(Do(docket, ProclaimBy("a", Term{7}, "v")), FailsWith(Reason::kElectionNotFound));
  EXPECT_THAT(Do(docket, ResignBy("a")), FailsWith(Reason::kElectionNotFound));
  EXPECT_THAT(Do(docket, Appointing("a", Term{7}, 5s)), FailsWith(Reason::kElectionNotFound));
  EXPECT_THAT(Do(docket, Deposing(Term{7})), FailsWith(Reason::kElectionNotFound));
  EXPECT_THAT(Do(docket, Pausing()), FailsWith(Reason::kElectionNotFound));
  EXPECT_THAT(Do(docket, Configuring()), FailsWith(Reason::kElectionNotFound));
  EXPECT_THAT(Do(docket, WithdrawalBy("a", Attempt{5})), AnswersDone());
  EXPECT_THAT(Do(docket, SettlementOf("a")), AnswersDone());
  EXPECT_THAT(docket, IsSameAs(deleted));
}

TEST(DeletedElectionTest, ANewCampaignContinuesWithHigherNumbers) {
  auto docket =
      Given(LedBy("a", Term{7}), Waiting("b"), WithSettings({.lock_delay = 5s, .min_hold = 1h}));
  (void)Do(docket, Deleting(Term{7}));

  EXPECT_THAT(Do(docket, CampaignBy("b")), AnswersElected());
  EXPECT_THAT(Do(docket, CampaignBy("a")), AnswersStanding());

  EXPECT_THAT(docket, IsLedBy("b", Term{8}));
  EXPECT_THAT(docket.events, ElementsAre(Vacated("a", Cause::kDeleted, Term{7}, Revision{14}),
                                         Elected("b", Term{8}, Revision{15})));
  EXPECT_EQ(PlaceIn(docket, "a").ticket, Ticket{2});
  EXPECT_EQ(ElectionIn(docket).history_from, Revision{14});
  EXPECT_EQ(ElectionIn(docket).settings, Settings{});
  EXPECT_TRUE(ContestIn(docket).exists);
  EXPECT_FALSE(ElectionIn(docket).deleted);
  EXPECT_TRUE(ContestIn(docket).emptied) << "the old queue is gone nevertheless";
}

TEST(DeletedElectionTest, AnOperatorCanBringItBack) {
  auto docket = Given(LedBy("a", Term{7}));
  (void)Do(docket, Deleting(Term{7}));

  EXPECT_THAT(Do(docket, Creating()), AnswersChanged());

  EXPECT_TRUE(ContestIn(docket).exists);
  EXPECT_FALSE(ElectionIn(docket).deleted);
  EXPECT_THAT(docket, IsVacantAfter(Term{7}));
}

// --- DeposeSession ---

TEST(DeposeSessionTest, TheEndIsRecordedWithWhoAskedButWithoutTheSecret) {
  auto docket = Given();
  const auto id = *SessionId::FromHex("000102030405060708090a0b0c0d0eff");
  docket.sessions[id] = SessionOfCandidate("a");
  docket.sessions[id].id = id;

  const auto ended = DeposeSession(docket, id, kOperator);

  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->ended, Cause::kDeposed);
  EXPECT_EQ(docket.sessions[id], *ended);
  EXPECT_THAT(docket.ended, ElementsAre(id));
  ASSERT_THAT(docket.admin_changes, SizeIs(1));
  const AdminChange expected{{},   AdminAction::kSessionEnded,        {},
                             kNow, "session 0001020304050607 of 'a'", kOperator};
  EXPECT_EQ(docket.admin_changes[0], expected);
}

TEST(DeposeSessionTest, EndingASessionTwiceIsRecordedOnce) {
  auto docket = Given(Alive("a"));
  (void)DeposeSession(docket, Id("a"), kOperator);
  const auto once = docket;

  EXPECT_TRUE(DeposeSession(docket, Id("a"), kOperator));
  EXPECT_THAT(docket, IsSameAs(once));
}

TEST(DeposeSessionTest, AnEndedSessionKeepsItsCauseAndIsNotRecorded) {
  auto docket = Given(Expired("a"), Ended("b", Cause::kSessionClosed));

  EXPECT_EQ(DeposeSession(docket, Id("a"), kOperator)->ended, Cause::kExpired);
  EXPECT_EQ(DeposeSession(docket, Id("b"), kOperator)->ended, Cause::kSessionClosed);
  EXPECT_THAT(docket.admin_changes, IsEmpty());
  EXPECT_THAT(docket.ended, ElementsAre(Id("a")));
}

TEST(DeposeSessionTest, AnUnknownSessionIsRefused) {
  auto docket = Given();

  EXPECT_THAT(DeposeSession(docket, Id("a"), kOperator), FailsWith(Reason::kSessionNotFound));
  EXPECT_THAT(docket.admin_changes, IsEmpty());
}

TEST(DeposeSessionTest, ItsSeatPassesWhenTheElectionIsSettled) {
  auto docket = Given(LedBy("a", Term{7}), Waiting("b"));

  (void)DeposeSession(docket, Id("a"), kOperator);
  (void)Do(docket, SettlementOf("a"));

  EXPECT_THAT(docket.events, ElementsAre(Vacated("a", Cause::kDeposed, Term{7}, Revision{14}),
                                         Elected("b", Term{8}, Revision{15})));
}

}  // namespace
}  // namespace tenure::testing
