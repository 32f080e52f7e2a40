// Vacancies: how and since when a seat is empty, and what a grant tells of the one that it ends.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/law_testing.h"

namespace tenure::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Optional;

TEST(VacancyTest, ASeatThatNobodyHasHeldWasNotVacated) {
  auto transaction = Given();

  (void)Do(transaction, FirstCampaignBy("a"));

  EXPECT_THAT(transaction.successions, ElementsAre(Succession{}));
  EXPECT_EQ(ElectionIn(transaction).vacancy, std::nullopt);
}

TEST(VacancyTest, ASeatThatPassesInOneTransactionIsVacantForNoTime) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b"));

  (void)Do(transaction, ResignBy("a"));

  EXPECT_THAT(transaction.successions,
              ElementsAre(Succession{Vacancy{Cause::kResigned, kNow}, false}));
  EXPECT_EQ(ElectionIn(transaction).vacancy, std::nullopt);
}

TEST(VacancyTest, AnExpiredSeatIsVacantSinceTheEndOfTheLease) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b"), Alive("a", kNow + -3s));

  (void)Do(transaction, Reconciliation());

  EXPECT_THAT(transaction.successions,
              ElementsAre(Succession{Vacancy{Cause::kExpired, kNow + -3s}, false}));
}

TEST(VacancyTest, AVacancyLastsUntilAGrantInALaterTransaction) {
  auto transaction = Given(LedBy("a", Term{7}));
  (void)Do(transaction, ResignBy("a"));
  EXPECT_EQ(ElectionIn(transaction).vacancy, (Vacancy{Cause::kResigned, kNow}));
  LoadAgain(transaction);
  transaction.now = kNow + 5s;

  (void)Do(transaction, FirstCampaignBy("b"));

  EXPECT_THAT(transaction.successions,
              ElementsAre(Succession{Vacancy{Cause::kResigned, kNow}, false}));
}

TEST(VacancyTest, AVacancyShowsWhetherAnOperatorChoseTheSuccessor) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b"), Waiting("c"), Appointed("c"));

  (void)Do(transaction, ResignBy("a"));

  EXPECT_THAT(transaction.successions,
              ElementsAre(Succession{Vacancy{Cause::kResigned, kNow}, true}));
}

// --- After an outage ---

// The database was away from so long before now until now.
Fact Away(Duration length, Duration incumbent_wait = 2s) {
  return [=](TransactionState& transaction) {
    const DbTime began = transaction.now + -length;
    transaction.outage = Outage{began, began, transaction.now, incumbent_wait};
  };
}

// Its lease ended so long before now: it was renewed a whole lease before.
Fact Lapsed(std::string name, Duration ago = 0s) { return Alive(std::move(name), kNow + -ago); }

std::optional<Incumbent> IncumbentIn(const TransactionState& transaction) {
  const auto& vacancy = ElectionIn(transaction).vacancy;
  return vacancy ? vacancy->incumbent : std::nullopt;
}

TEST(OutageTest, TheSeatIsKeptForWhoCouldNotRenew) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b"), Lapsed("a", 3s), Away(10s));

  (void)Do(transaction, Reconciliation());

  EXPECT_EQ(IncumbentIn(transaction), (Incumbent{"a", kNow + 2s}));
  EXPECT_EQ(ElectionIn(transaction).leader, std::nullopt);
  EXPECT_EQ(ElectionIn(transaction).wake_at, kNow + 2s);
}

struct NotKept {
  std::string name;
  Fact fact;
};

class NotKeptTest : public ::testing::TestWithParam<NotKept> {};

TEST_P(NotKeptTest, TheNextCandidateIsElectedAtOnce) {
  auto transaction =
      Given(LedBy("a", Term{7}), Waiting("b"), Lapsed("a"), Away(10s), GetParam().fact);

  (void)Do(transaction, Reconciliation());

  EXPECT_EQ(ElectionIn(transaction).leader->candidate, "b");
}

INSTANTIATE_TEST_SUITE_P(
    Each, NotKeptTest,
    ::testing::Values(NotKept{"WithoutAnOutage",
                              [](TransactionState& transaction) { transaction.outage.reset(); }},
                      NotKept{"WhenSwitchedOff", Away(10s, 0s)},
                      NotKept{"AfterAnOutageInWhichItCouldRenew", Away(kLease / 2 - kInstant)},
                      NotKept{"IfItHadStoppedRenewingBefore", Lapsed("a", 5s + kInstant)},
                      NotKept{"IfItHadTimeToRenewAfterwards",
                              [](TransactionState& transaction) {
                                transaction.outage->began = transaction.now + -15s;
                                transaction.outage->ended = transaction.now + (-3s - kInstant);
                              }},
                      NotKept{"IfItWasDeposed", Ended("a", Cause::kDeposed)}),
    [](const auto& info) { return info.param.name; });

// The transaction after the seat of "a" was kept, so long ago.
TransactionState KeptSince(Duration ago) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b"), Lapsed("a"), Away(10s));
  (void)Do(transaction, Reconciliation());
  LoadAgain(transaction);
  transaction.now = transaction.now + ago;
  for (auto& [id, session] : transaction.sessions) {
    if (session.ended == Cause::kNone) session.expires_at = transaction.now + kLease;
  }
  return transaction;
}

// Its lease has a second left, but its holder stopped at nine tenths of it.
TEST(OutageTest, TheSeatIsKeptForWhoStoppedBelievingAndResigns) {
  auto transaction =
      Given(LedBy("a", Term{7}), Waiting("b"), Alive("a", kNow + kLease / 10), Away(7s));

  EXPECT_THAT(Do(transaction, ResignBy("a")), AnswersResigned(Term{7}));

  EXPECT_EQ(IncumbentIn(transaction), (Incumbent{"a", kNow + 2s}));
  EXPECT_THAT(Do(transaction, CampaignBy("a")), AnswersElected());
  EXPECT_EQ(ElectionIn(transaction).term, Term{8});
}

// It gives up its terms one by one, and renews in between. The last one had begun after the last
// answer to this replica, and before the database went away.
TEST(OutageTest, TheSeatIsKeptForWhoHasRenewedWhenItResigns) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b"), Alive("a", kNow + kLease), Away(7s));
  transaction.elections.begin()->second.election.leader->elected_at =
      transaction.outage->began + kOutageMin;

  (void)Do(transaction, ResignBy("a"));

  EXPECT_EQ(IncumbentIn(transaction), (Incumbent{"a", kNow + 2s}));
}

// Another replica granted it while the database was away from this one.
TEST(OutageTest, WhoResignsATermFromWithinTheOutageIsNotWaitedFor) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b"), Alive("a", kNow + kLease), Away(7s));
  transaction.elections.begin()->second.election.leader->elected_at =
      transaction.outage->began + kOutageMin + kInstant;

  (void)Do(transaction, ResignBy("a"));

  EXPECT_EQ(ElectionIn(transaction).leader->candidate, "b");
}

// It was elected while the database was back for a moment. The second outage may have been too
// short to cost it anything.
TEST(OutageTest, WhoWasElectedBetweenTwoOutagesHasOnlyTheLastBehindIt) {
  for (const bool missed : {true, false}) {
    SCOPED_TRACE(missed ? "long enough" : "too short");
    auto transaction =
        Given(LedBy("a", Term{7}), Waiting("b"), Alive("a", kNow + kLease), Away(20s));
    transaction.outage->last_began = kNow + -kLease / 2 + (missed ? Duration(0) : kInstant);
    transaction.elections.begin()->second.election.leader->elected_at =
        transaction.outage->last_began + kOutageMin;

    (void)Do(transaction, ResignBy("a"));

    EXPECT_EQ(IncumbentIn(transaction),
              missed ? std::optional(Incumbent{"a", kNow + 2s}) : std::nullopt);
  }
}

TEST(OutageTest, ALeaseFromBetweenTwoOutagesIsLostToTheLastOneOnly) {
  for (const bool missed : {true, false}) {
    SCOPED_TRACE(missed ? "long enough" : "too short");
    auto transaction = Given(LedBy("a", Term{7}), Waiting("b"), Lapsed("a"), Away(20s));
    transaction.outage->last_began = kNow + -kLease / 2 + (missed ? Duration(0) : kInstant);
    transaction.elections.begin()->second.election.leader->elected_at =
        transaction.outage->last_began;

    (void)Do(transaction, Reconciliation());

    EXPECT_EQ(ElectionIn(transaction).leader.has_value(), !missed);
  }
}

TEST(OutageTest, WhoResignsLongAfterTheOutageIsNotWaitedFor) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b"), Alive("a", kNow + kLease), Away(7s));
  transaction.outage->began = kNow + -10s;
  transaction.outage->ended = kNow + (-2s - kInstant);
  transaction.elections.begin()->second.election.leader->elected_at = transaction.outage->began;

  (void)Do(transaction, ResignBy("a"));

  EXPECT_EQ(ElectionIn(transaction).leader->candidate, "b");
}

TEST(OutageTest, TheIncumbentGetsTheNextTerm) {
  auto transaction = KeptSince(1s);

  EXPECT_THAT(Do(transaction, FirstCampaignBy("a/2")), AnswersElected());

  EXPECT_EQ(ElectionIn(transaction).term, Term{8});
  EXPECT_EQ(ElectionIn(transaction).vacancy, std::nullopt);
}

// However many commands follow in its transaction.
TEST(OutageTest, ASeatThatIsLeftUndecidedIsDueAtOnce) {
  auto transaction =
      Given(LedBy("a", Term{7}), Waiting("b"), Lapsed("a"), Away(10s), HorizonAt("b"));

  for (int i = 0; i < 2; ++i) {
    (void)Do(transaction, Reconciliation());

    EXPECT_THAT(transaction.undecided, ElementsAre(kElection));
    EXPECT_THAT(ElectionIn(transaction).wake_at, Optional(kNow));
  }
}

TEST(OutageTest, ASeatThatIsLeftUndecidedStaysSoAcrossAPause) {
  auto transaction =
      Given(LedBy("a", Term{7}), Waiting("b"), Lapsed("a"), Away(10s), HorizonAt("b"));
  (void)Do(transaction, Reconciliation());

  (void)Do(transaction, Pausing());
  EXPECT_THAT(transaction.undecided, IsEmpty());
  (void)Do(transaction, Resuming());

  EXPECT_THAT(transaction.undecided, ElementsAre(kElection));
  EXPECT_THAT(ElectionIn(transaction).wake_at, Optional(kNow));
}

TEST(OutageTest, ASeatForWhichNobodyWaitsAnyMoreIsDecided) {
  auto transaction =
      Given(LedBy("a", Term{7}), Waiting("b"), Lapsed("a"), Away(10s), HorizonAt("b"));

  (void)Do(transaction, ResignBy("b"));

  EXPECT_THAT(transaction.undecided, IsEmpty());
}

TEST(OutageTest, ASeatThatIsNotOpenYetIsDecidedLater) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b"), Lapsed("a"), Away(10s),
                           HorizonAt("b"), WithSettings({.lock_delay = 5s}));

  (void)Do(transaction, Reconciliation());

  EXPECT_THAT(transaction.undecided, IsEmpty());
  EXPECT_THAT(ElectionIn(transaction).wake_at, Optional(kNow + 5s));
}

TEST(OutageTest, AnIncumbentThatWaitsAlreadyIsLookedForOnce) {
  auto transaction =
      Given(LedBy("a", Term{7}), Waiting("b"), Waiting("a/2"), Lapsed("a"), Away(10s));
  ElectionState& state = transaction.elections[kElection];
  const Candidacy unread = state.queue.back();
  state.horizon = state.queue.front();
  state.queue.pop_back();

  (void)Do(transaction, Reconciliation());
  EXPECT_THAT(transaction.undecided, ElementsAre(kElection));

  LoadAgain(transaction);
  (void)Do(transaction, Reconciliation());
  EXPECT_THAT(transaction.undecided, IsEmpty());
  state.queue.push_back(unread);  // as a store reads it now
  (void)Do(transaction, Reconciliation());
  EXPECT_EQ(ElectionIn(transaction).leader->session, Id("a/2"));
}

TEST(OutageTest, NobodyElseGetsTheSeatWhileItIsKept) {
  auto transaction = KeptSince(2s - kInstant);

  EXPECT_THAT(Do(transaction, FirstCampaignBy("c")), AnswersStanding());
  EXPECT_THAT(Do(transaction, CampaignBy("b")), AnswersStanding());
  EXPECT_EQ(Do(transaction, FirstCampaignForAllBy("d", {kElection})).value().index(),
            Answer(CampaignForAllAnswer()).index());
  EXPECT_EQ(ElectionIn(transaction).leader, std::nullopt);
}

TEST(OutageTest, TheFirstInTheQueueIsElectedWhenTheIncumbentDoesNotCome) {
  auto transaction = KeptSince(2s);

  (void)Do(transaction, Reconciliation());

  EXPECT_EQ(ElectionIn(transaction).leader->candidate, "b");
}

TEST(OutageTest, AnIncumbentThatDoesNotWantToLeadIsNotElected) {
  auto transaction = KeptSince(1s);
  Campaign reluctant = FirstCampaignBy("a/2");
  reluctant.priority = -1;

  EXPECT_THAT(Do(transaction, reluctant), AnswersStanding());
}

TEST(OutageTest, AnIncumbentThatWasDeposedSinceIsNotElected) {
  auto transaction = KeptSince(1s);
  transaction.elections[kElection].cool_downs["a"] = kNow + 1h;

  EXPECT_THAT(Do(transaction, FirstCampaignBy("a/2")), AnswersStanding());
}

TEST(OutageTest, AnOperatorsAppointmentGoesFirst) {
  auto transaction = KeptSince(1s);

  (void)Do(transaction, Appointing("b", Term{7}));

  EXPECT_EQ(ElectionIn(transaction).leader->candidate, "b");
}

TEST(OutageTest, TheIncumbentIsWaitedForWhenTheSeatReopens) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b"), WithSettings({.lock_delay = 5s}),
                           Lapsed("a"), Away(10s));

  (void)Do(transaction, Reconciliation());
  EXPECT_EQ(IncumbentIn(transaction), (Incumbent{"a", kNow + 7s}));
  EXPECT_EQ(ElectionIn(transaction).wake_at, kNow + 5s);

  LoadAgain(transaction);
  transaction.now = kNow + 5s;
  EXPECT_THAT(Do(transaction, FirstCampaignBy("a/2")), AnswersElected());
}

TEST(VacancyTest, ADeletedElectionKnowsSinceWhenAndForgetsItWhenItIsMadeAgain) {
  auto transaction = Given(LedBy("a", Term{7}));

  (void)Do(transaction, Deleting(Term{7}));
  EXPECT_EQ(ElectionIn(transaction).vacancy, (Vacancy{Cause::kDeleted, kNow}));

  (void)Do(transaction, FirstCampaignBy("b"));
  EXPECT_EQ(transaction.successions.back().vacancy, std::nullopt);
}

}  // namespace
}  // namespace tenure::testing
