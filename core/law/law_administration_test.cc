// Depose, Pause, Delete, and the end of a session by an operator.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/law/law_testing.h"

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
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b"));

  const auto answer = Do(transaction, Deposing(Term{7}));

  EXPECT_THAT(answer, AnswersChanged());
  EXPECT_THAT(transaction.events, ElementsAre(Vacated("a", Cause::kDeposed, Term{7}, Revision{14}),
                                              Elected("b", Term{8}, Revision{15})));
  EXPECT_THAT(transaction.admin_changes,
              ElementsAre(Recorded(AdminAction::kDeposed, Term{7}, "'a'")));
}

TEST(DeposeTest, TheSessionStaysAliveAndMayCampaignAgain) {
  auto transaction = Given(LedBy("a", Term{7}));

  (void)Do(transaction, Deposing(Term{7}));

  EXPECT_EQ(SessionIn(transaction, "a"), SessionOfCandidate("a"));
  EXPECT_THAT(Do(transaction, CampaignBy("a")), AnswersElected());
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
  auto transaction = Given(LedBy("a", Term{7}));
  const auto before = transaction;

  EXPECT_THAT(Do(transaction, Deposing(Term{8})),
              FailsWith(Reason::kStaleTerm, "current_term", "7"));
  EXPECT_THAT(transaction, IsSameAs(before));
}

TEST(DeposeTest, AnUnknownElectionIsRefused) {
  auto transaction = Given();

  EXPECT_THAT(Do(transaction, Deposing(Term{1})), FailsWith(Reason::kElectionNotFound));
}

// --- Cool-downs ---

TEST(CoolDownTest, ACoolDownIsRecorded) {
  auto transaction = Given(LedBy("a", Term{7}));

  (void)Do(transaction, Deposing(Term{7}, 30s));

  EXPECT_THAT(transaction.admin_changes,
              ElementsAre(Recorded(AdminAction::kDeposed, Term{7}, "'a', kept out for 30s")));
}

TEST(CoolDownTest, ADeposedCandidateIsNotElectedUntilItsCoolDownEnds) {
  auto transaction = Given(LedBy("a", Term{7}));
  (void)Do(transaction, Deposing(Term{7}, 5s));
  EXPECT_THAT(Do(transaction, CampaignBy("a")), AnswersStanding());

  transaction.now = kNow + 5s + -kInstant;
  EXPECT_THAT(Do(transaction, CampaignBy("a")), AnswersStanding());

  transaction.now = kNow + 5s;
  EXPECT_THAT(Do(transaction, CampaignBy("a")), AnswersElected());
}

TEST(CoolDownTest, ACoolDownAppliesToTheCandidateAndNotItsSession) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("a/2"));

  (void)Do(transaction, Deposing(Term{7}, 5s));

  EXPECT_THAT(transaction, IsVacantAfter(Term{7}));
  EXPECT_THAT(Do(transaction, FirstCampaignBy("a/3")), AnswersStanding());
}

TEST(CoolDownTest, OtherCandidatesGoFirst) {
  auto transaction = Given(LedBy("b", Term{7}), Waiting("a", {.priority = 9}), Waiting("c"),
                           KeptOut("a", kNow + 5s));

  (void)Do(transaction, ResignBy("b"));

  EXPECT_THAT(transaction, IsLedBy("c", Term{8}));
  EXPECT_THAT(QueueIn(transaction), ElementsAre("a"));
}

TEST(CoolDownTest, ANewcomerGoesFirst) {
  auto transaction =
      Given(VacantAfter(Term{7}), Waiting("a", {.priority = 9}), KeptOut("a", kNow + 5s));

  EXPECT_THAT(Do(transaction, FirstCampaignBy("c")), AnswersElected());
}

TEST(CoolDownTest, IfAllWaitingCandidatesCoolDownEachEndIsAwaited) {
  auto transaction =
      Given(VacantAfter(Term{7}), Waiting("a"), Waiting("b", {.priority = -1}),
            KeptOut("b", kNow + 2s), KeptOut("a", kNow + 5s), KeptOut("c", kNow + -1s));

  (void)Do(transaction, Reconciliation());
  EXPECT_THAT(ElectionIn(transaction).wake_at, Optional(kNow + 2s));

  transaction.now = kNow + 2s;
  (void)Do(transaction, Reconciliation());
  EXPECT_THAT(ElectionIn(transaction).wake_at, Optional(kNow + 5s));

  transaction.now = kNow + 5s;
  (void)Do(transaction, Reconciliation());
  EXPECT_THAT(transaction, IsLedBy("a", Term{8}));
  EXPECT_EQ(ElectionIn(transaction).wake_at, std::nullopt);
}

TEST(CoolDownTest, IfTheOnlyCandidateReadCoolsDownTheElectionIsUnsettled) {
  auto transaction =
      Given(VacantAfter(Term{7}), Waiting("a"), HorizonAt("a"), KeptOut("a", kNow + 5s));

  (void)Do(transaction, Reconciliation());

  EXPECT_THAT(transaction, IsVacantAfter(Term{7}));
  EXPECT_THAT(transaction.undecided, ElementsAre(kElection));
  EXPECT_THAT(ElectionIn(transaction).wake_at, Optional(kNow));  // should this replica die
}

TEST(CoolDownTest, TheElectionKnowsTheEndOfTheLastCoolDown) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b"), Waiting("c"));

  (void)Do(transaction, Deposing(Term{7}, 9s));
  (void)Do(transaction, Deposing(Term{8}, 5s));

  EXPECT_EQ(ElectionIn(transaction).cooling_until, kNow + 9s);
  EXPECT_THAT(StateIn(transaction).cool_downs,
              ElementsAre(Pair("a", kNow + 9s), Pair("b", kNow + 5s)));
}

Fact ManyKeptOut(DbTime until) {
  return [=](TransactionState& transaction) {
    for (size_t i = 0; i < kCoolDownsMax; ++i) KeptOut("x" + std::to_string(i), until)(transaction);
  };
}

TEST(CoolDownTest, ACoolDownOverTheLimitIsRefusedAndTheTermContinues) {
  auto transaction = Given(LedBy("a", Term{7}), ManyKeptOut(kNow + kInstant));
  const auto before = transaction;

  EXPECT_THAT(Do(transaction, Deposing(Term{7}, 5s)),
              FailsWith(Reason::kTooManyCoolDowns, "limit", std::to_string(kCoolDownsMax)));
  EXPECT_THAT(transaction, IsSameAs(before));
  EXPECT_THAT(Do(transaction, Deposing(Term{7})), AnswersChanged());
}

TEST(CoolDownTest, EndedCoolDownsMakeRoom) {
  auto transaction = Given(LedBy("a", Term{7}), ManyKeptOut(kNow));

  EXPECT_THAT(Do(transaction, Deposing(Term{7}, 5s)), AnswersChanged());
  EXPECT_THAT(StateIn(transaction).cool_downs, ElementsAre(Pair("a", kNow + 5s)));
}

TEST(CoolDownTest, RenewingACoolDownNeedsNoRoom) {
  auto transaction = Given(LedBy("x3", Term{7}), ManyKeptOut(kNow + 1s));

  EXPECT_THAT(Do(transaction, Deposing(Term{7}, 5s)), AnswersChanged());
  EXPECT_THAT(StateIn(transaction).cool_downs, SizeIs(kCoolDownsMax));
  EXPECT_EQ(StateIn(transaction).cool_downs.at("x3"), kNow + 5s);
}

// --- Pause ---

TEST(PauseTest, APauseLeavesTheLeaderInItsSeat) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b"));

  EXPECT_THAT(Do(transaction, Pausing()), AnswersChanged());

  EXPECT_THAT(transaction, IsLedBy("a", Term{7}));
  EXPECT_THAT(transaction.events, IsEmpty());
  EXPECT_THAT(transaction.admin_changes, ElementsAre(Recorded(AdminAction::kPaused, Term{7}, "")));
}

TEST(PauseTest, APausedLeaderMayCampaignAndProclaim) {
  auto transaction = Given(LedBy("a", Term{7}), Paused());

  EXPECT_THAT(Do(transaction, CampaignBy("a", {.value = "v"})), AnswersElected());
  EXPECT_THAT(Do(transaction, ProclaimBy("a", Term{7}, "w")), AnswersProclaimed(Term{7}, "w"));
}

// How a term may end in a paused election, or a vacant seat be asked for.
const std::map<std::string, Command>& CommandsForAPausedElection() {
  static const std::map<std::string, Command> commands = {
      {"Resign", ResignBy("a")},
      {"Depose", Deposing(Term{7})},
  };
  return commands;
}

class PausedTest : public ::testing::TestWithParam<std::pair<const std::string, Command>> {};

TEST_P(PausedTest, TheTermEndsAndNobodyIsElectedBeforeTheResume) {
  auto transaction = Given(LedBy("a", Term{7}, {.call_id = {5}}), Waiting("b"), Paused());

  (void)Do(transaction, GetParam().second);
  EXPECT_THAT(Do(transaction, Reconciliation()), AnswersDone());
  EXPECT_THAT(Do(transaction, FirstCampaignBy("c", {.priority = 9})), AnswersStanding());
  EXPECT_THAT(transaction, IsVacantAfter(Term{7}));
  EXPECT_EQ(ElectionIn(transaction).wake_at, std::nullopt);

  EXPECT_THAT(Do(transaction, Resuming()), AnswersChanged());
  EXPECT_THAT(transaction, IsLedBy("c", Term{8}));
}

INSTANTIATE_TEST_SUITE_P(Each, PausedTest, ::testing::ValuesIn(CommandsForAPausedElection()),
                         [](const auto& info) { return info.param.first; });

TEST(PauseTest, APauseDoesNotKeepADeadLeader) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b"), Paused(), Expired("a"));

  (void)Do(transaction, Reconciliation());

  EXPECT_THAT(transaction, IsVacantAfter(Term{7}));
}

TEST(PauseTest, PausingAVacantSeatCancelsItsWakeUpAndResumingRestoresIt) {
  auto transaction = Given(VacantAfter(Term{7}), Waiting("b"), VacantUntil(kNow + 5s));
  (void)Do(transaction, Reconciliation());

  (void)Do(transaction, Pausing());
  EXPECT_EQ(ElectionIn(transaction).wake_at, std::nullopt);

  (void)Do(transaction, Resuming());
  EXPECT_THAT(ElectionIn(transaction).wake_at, Optional(kNow + 5s));
}

TEST(PauseTest, PausingTwiceIsRecordedOnce) {
  auto transaction = Given(LedBy("a", Term{7}));
  (void)Do(transaction, Pausing());
  const auto once = transaction;

  EXPECT_THAT(Do(transaction, Pausing()), AnswersUnchanged());
  EXPECT_THAT(transaction, IsSameAs(once));
}

TEST(ResumeTest, AResumeIsRecordedWithTheTermBeforeIt) {
  auto transaction = Given(VacantAfter(Term{7}), Waiting("b"), Paused());

  const auto answer = Do(transaction, Resuming());

  EXPECT_THAT(transaction, IsLedBy("b", Term{8}));
  EXPECT_THAT(transaction.admin_changes, ElementsAre(Recorded(AdminAction::kResumed, Term{7}, "")));
  EXPECT_EQ(std::get<AdminAnswer>(*answer).election, ElectionIn(transaction));
}

TEST(ResumeTest, ResumingAnElectionThatIsNotPausedChangesNothing) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b"));
  const auto before = transaction;

  EXPECT_THAT(Do(transaction, Resuming()), AnswersUnchanged());
  EXPECT_THAT(transaction, IsSameAs(before));
}

TEST(PauseTest, AnUnknownElectionIsRefused) {
  auto transaction = Given();
  const auto before = transaction;

  EXPECT_THAT(Do(transaction, Pausing()), FailsWith(Reason::kElectionNotFound));
  EXPECT_THAT(Do(transaction, Resuming()), FailsWith(Reason::kElectionNotFound));
  EXPECT_THAT(transaction, IsSameAs(before));
}

// --- Delete ---

TEST(DeleteTest, DeletingEndsTheTermAndElectsNobody) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b"));

  const auto answer = Do(transaction, Deleting(Term{7}));

  EXPECT_THAT(answer, AnswersChanged());
  EXPECT_THAT(transaction.events,
              ElementsAre(Vacated("a", Cause::kDeleted, Term{7}, Revision{14})));
  EXPECT_THAT(transaction.admin_changes, ElementsAre(Recorded(AdminAction::kDeleted, Term{7}, "")));
}

TEST(DeleteTest, DeletingKeepsOnlyTheNumbersThatMustNotBeReused) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b"), Waiting("c"), HorizonAt("c"),
                           WithSettings({.lock_delay = 5s, .queue_max = 9}), Paused(),
                           Appointed("b"), KeptOut("d", kNow + 5s));

  (void)Do(transaction, Deleting(Term{7}));

  Election tombstone{kElection, Term{7}, Revision{14}, Ticket{2}};
  tombstone.deleted = true;
  tombstone.vacancy = Vacancy{Cause::kDeleted, kNow};
  tombstone.history_from = Revision{14};
  EXPECT_EQ(ElectionIn(transaction), tombstone);
  EXPECT_TRUE(StateIn(transaction).emptied);
  EXPECT_FALSE(StateIn(transaction).exists);
  EXPECT_THAT(QueueIn(transaction), IsEmpty());
  EXPECT_THAT(StateIn(transaction).cool_downs, IsEmpty());
  EXPECT_EQ(StateIn(transaction).horizon, std::nullopt);
}

TEST(DeleteTest, DeletingAVacantSeatHasNoEvent) {
  auto transaction =
      Given(VacantAfter(Term{7}), Waiting("b", {.priority = -1}), VacantUntil(kNow + 5s));

  (void)Do(transaction, Deleting(Term{7}));

  EXPECT_THAT(transaction.events, IsEmpty());
  EXPECT_EQ(ElectionIn(transaction).history_from, Revision{15});
  EXPECT_EQ(ElectionIn(transaction).vacant_until, DbTime{});
}

TEST(DeleteTest, DeletingKeepsTheEventOfAnExpiredLeader) {
  auto transaction = Given(LedBy("a", Term{7}), Expired("a"));

  (void)Do(transaction, Deleting(Term{7}));

  EXPECT_THAT(transaction.events,
              ElementsAre(Vacated("a", Cause::kExpired, Term{7}, Revision{14})));
  EXPECT_EQ(ElectionIn(transaction).history_from, Revision{14});
}

TEST(DeleteTest, DeletingKeepsAllEventsOfItsTransaction) {
  const ElectionName other{"orders/eu"};
  auto transaction = Given(LedBy("a", Term{7}), In(other, LedBy("b", Term{3})));
  Resign in_the_other = ResignBy("b");
  in_the_other.election = other;

  (void)Do(transaction, ProclaimBy("a", Term{7}, "v"));
  (void)Do(transaction, ResignBy("a"));
  (void)Do(transaction, in_the_other);
  (void)Do(transaction, Deleting(Term{7}));

  ASSERT_THAT(transaction.events,
              ElementsAre(Proclaimed("a", Term{7}, Revision{14}, "v"),
                          Vacated("a", Cause::kResigned, Term{7}, Revision{15}), ::testing::_));
  EXPECT_EQ(ElectionIn(transaction).history_from, Revision{14});
}

TEST(DeleteTest, DeletingLeavesTheSessionsAlive) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b"));

  (void)Do(transaction, Deleting(Term{7}));

  EXPECT_EQ(SessionIn(transaction, "a"), SessionOfCandidate("a"));
  EXPECT_EQ(SessionIn(transaction, "b"), SessionOfCandidate("b"));
  EXPECT_THAT(transaction.ended, IsEmpty());
}

TEST(DeleteTest, DeletingTwiceChangesNothing) {
  auto transaction = Given(LedBy("a", Term{7}));
  (void)Do(transaction, Deleting(Term{7}));
  const auto once = transaction;

  EXPECT_THAT(Do(transaction, Deleting(Term{7})), AnswersUnchanged());
  EXPECT_THAT(transaction, IsSameAs(once));
}

TEST(DeleteTest, AnElectionWithoutHistoryCanBeDeleted) {
  auto transaction = Given();
  (void)Do(transaction, Creating());

  EXPECT_THAT(Do(transaction, Deleting(Term{0})), AnswersChanged());
  EXPECT_THAT(Do(transaction, Deleting(Term{0})), AnswersUnchanged());
}

TEST(DeleteTest, AStaleTermIsRefusedAndChangesNothing) {
  auto transaction = Given(LedBy("a", Term{7}));
  const auto before = transaction;

  EXPECT_THAT(Do(transaction, Deleting(Term{6})),
              FailsWith(Reason::kStaleTerm, "current_term", "7"));
  EXPECT_THAT(Do(transaction, Deleting(Term{8})),
              FailsWith(Reason::kStaleTerm, "current_term", "7"));
  EXPECT_THAT(transaction, IsSameAs(before));
}

TEST(DeleteTest, AnUnknownElectionIsRefused) {
  auto transaction = Given();
  const auto before = transaction;

  EXPECT_THAT(Do(transaction, Deleting(Term{0})), FailsWith(Reason::kElectionNotFound));
  EXPECT_THAT(transaction, IsSameAs(before));
}

TEST(DeletedElectionTest, ADeletedElectionIsUnknown) {
  auto transaction = Given(LedBy("a", Term{7}));
  (void)Do(transaction, Deleting(Term{7}));
  const auto deleted = transaction;

  EXPECT_THAT(Do(transaction, ProclaimBy("a", Term{7}, "v")), FailsWith(Reason::kElectionNotFound));
  EXPECT_THAT(Do(transaction, ResignBy("a")), FailsWith(Reason::kElectionNotFound));
  EXPECT_THAT(Do(transaction, Appointing("a", Term{7}, 5s)), FailsWith(Reason::kElectionNotFound));
  EXPECT_THAT(Do(transaction, Deposing(Term{7})), FailsWith(Reason::kElectionNotFound));
  EXPECT_EQ(Do(transaction, Pausing()).error().message,
            "election 'orders' was deleted, and nobody has campaigned in it since");
  EXPECT_THAT(Do(transaction, Configuring()), FailsWith(Reason::kElectionNotFound));
  EXPECT_THAT(Do(transaction, WithdrawalBy("a", CallId{5})), AnswersDone());
  EXPECT_THAT(Do(transaction, ReconciliationOf("a")), AnswersDone());
  EXPECT_THAT(transaction, IsSameAs(deleted));
}

TEST(DeletedElectionTest, ANewCampaignContinuesWithHigherNumbers) {
  auto transaction =
      Given(LedBy("a", Term{7}), Waiting("b"), WithSettings({.lock_delay = 5s, .min_hold = 1h}));
  (void)Do(transaction, Deleting(Term{7}));

  EXPECT_THAT(Do(transaction, CampaignBy("b")), AnswersElected());
  EXPECT_THAT(Do(transaction, CampaignBy("a")), AnswersStanding());

  EXPECT_THAT(transaction, IsLedBy("b", Term{8}));
  EXPECT_THAT(transaction.events, ElementsAre(Vacated("a", Cause::kDeleted, Term{7}, Revision{14}),
                                              Elected("b", Term{8}, Revision{15})));
  EXPECT_EQ(PlaceIn(transaction, "a").ticket, Ticket{2});
  EXPECT_EQ(ElectionIn(transaction).history_from, Revision{14});
  EXPECT_EQ(ElectionIn(transaction).settings, Settings{});
  EXPECT_TRUE(StateIn(transaction).exists);
  EXPECT_FALSE(ElectionIn(transaction).deleted);
  EXPECT_TRUE(StateIn(transaction).emptied) << "the old queue is gone nevertheless";
}

TEST(DeletedElectionTest, AnOperatorCanBringItBack) {
  auto transaction = Given(LedBy("a", Term{7}));
  (void)Do(transaction, Deleting(Term{7}));

  EXPECT_THAT(Do(transaction, Creating()), AnswersChanged());

  EXPECT_TRUE(StateIn(transaction).exists);
  EXPECT_FALSE(ElectionIn(transaction).deleted);
  EXPECT_THAT(transaction, IsVacantAfter(Term{7}));
}

// --- DeposeSession ---

TEST(DeposeSessionTest, TheEndIsRecordedWithWhoAskedButWithoutTheSecret) {
  auto transaction = Given();
  const auto id = *SessionId::FromHex("000102030405060708090a0b0c0d0eff");
  transaction.sessions[id] = SessionOfCandidate("a");
  transaction.sessions[id].id = id;

  const auto ended = DeposeSession(transaction, id, kOperator);

  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->ended, Cause::kDeposed);
  EXPECT_EQ(transaction.sessions[id], *ended);
  EXPECT_THAT(transaction.ended, ElementsAre(id));
  ASSERT_THAT(transaction.admin_changes, SizeIs(1));
  const AdminChange expected{{},   AdminAction::kSessionEnded,        {},
                             kNow, "session 0001020304050607 of 'a'", kOperator};
  EXPECT_EQ(transaction.admin_changes[0], expected);
}

TEST(DeposeSessionTest, EndingASessionTwiceIsRecordedOnce) {
  auto transaction = Given(Alive("a"));
  (void)DeposeSession(transaction, Id("a"), kOperator);
  const auto once = transaction;

  EXPECT_TRUE(DeposeSession(transaction, Id("a"), kOperator));
  EXPECT_THAT(transaction, IsSameAs(once));
}

TEST(DeposeSessionTest, AnEndedSessionKeepsItsCauseAndIsNotRecorded) {
  auto transaction = Given(Expired("a"), Ended("b", Cause::kSessionClosed));

  EXPECT_EQ(DeposeSession(transaction, Id("a"), kOperator)->ended, Cause::kExpired);
  EXPECT_EQ(DeposeSession(transaction, Id("b"), kOperator)->ended, Cause::kSessionClosed);
  EXPECT_THAT(transaction.admin_changes, IsEmpty());
}

TEST(DeposeSessionTest, AnUnknownSessionIsRefused) {
  auto transaction = Given();

  EXPECT_THAT(DeposeSession(transaction, Id("a"), kOperator), FailsWith(Reason::kSessionNotFound));
  EXPECT_THAT(transaction.admin_changes, IsEmpty());
}

TEST(DeposeSessionTest, ItsSeatPassesWhenTheElectionIsSettled) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b"));

  (void)DeposeSession(transaction, Id("a"), kOperator);
  (void)Do(transaction, ReconciliationOf("a"));

  EXPECT_THAT(transaction.events, ElementsAre(Vacated("a", Cause::kDeposed, Term{7}, Revision{14}),
                                              Elected("b", Term{8}, Revision{15})));
}

}  // namespace
}  // namespace tenure::testing
