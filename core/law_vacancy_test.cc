// Vacancies: how and since when a seat is empty, and what a grant tells of the one that it ends.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/law_testing.h"

namespace tenure::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(VacancyTest, ASeatThatNobodyHasHeldWasNotVacated) {
  auto docket = Given();

  (void)Do(docket, FirstCampaignBy("a"));

  EXPECT_THAT(docket.successions, ElementsAre(Succession{}));
  EXPECT_EQ(ElectionIn(docket).vacancy, std::nullopt);
}

TEST(VacancyTest, ASeatThatPassesInOneTransactionIsVacantForNoTime) {
  auto docket = Given(LedBy("a", Term{7}), Waiting("b"));

  (void)Do(docket, ResignBy("a"));

  EXPECT_THAT(docket.successions, ElementsAre(Succession{Vacancy{Cause::kResigned, kNow}, false}));
  EXPECT_EQ(ElectionIn(docket).vacancy, std::nullopt);
}

TEST(VacancyTest, AnExpiredSeatIsVacantSinceTheEndOfTheLease) {
  auto docket = Given(LedBy("a", Term{7}), Waiting("b"), Alive("a", kNow + -3s));

  (void)Do(docket, Settlement());

  EXPECT_THAT(docket.successions,
              ElementsAre(Succession{Vacancy{Cause::kExpired, kNow + -3s}, false}));
}

TEST(VacancyTest, AVacancyLastsUntilAGrantInALaterTransaction) {
  auto docket = Given(LedBy("a", Term{7}));
  (void)Do(docket, ResignBy("a"));
  EXPECT_EQ(ElectionIn(docket).vacancy, (Vacancy{Cause::kResigned, kNow}));
  LoadAgain(docket);
  docket.now = kNow + 5s;

  (void)Do(docket, FirstCampaignBy("b"));

  EXPECT_THAT(docket.successions, ElementsAre(Succession{Vacancy{Cause::kResigned, kNow}, false}));
}

TEST(VacancyTest, AVacancyShowsWhetherAnOperatorChoseTheSuccessor) {
  auto docket = Given(LedBy("a", Term{7}), Waiting("b"), Waiting("c"), Appointed("c"));

  (void)Do(docket, ResignBy("a"));

  EXPECT_THAT(docket.successions, ElementsAre(Succession{Vacancy{Cause::kResigned, kNow}, true}));
}

// --- After an outage ---

// The database was away from so long before now until now.
Fact Away(Duration length, Duration incumbent_wait = 2s) {
  return [=](Docket& docket) {
    docket.outage = Outage{docket.now + -length, docket.now, incumbent_wait};
  };
}

// Its lease ended so long before now: it was renewed a whole lease before.
Fact Lapsed(std::string name, Duration ago = 0s) { return Alive(std::move(name), kNow + -ago); }

std::optional<Incumbent> IncumbentIn(const Docket& docket) {
  const auto& vacancy = ElectionIn(docket).vacancy;
  return vacancy ? vacancy->incumbent : std::nullopt;
}

TEST(OutageTest, TheSeatIsKeptForWhoCouldNotRenew) {
  auto docket = Given(LedBy("a", Term{7}), Waiting("b"), Lapsed("a", 3s), Away(10s));

  (void)Do(docket, Settlement());

  EXPECT_EQ(IncumbentIn(docket), (Incumbent{"a", kNow + 2s}));
  EXPECT_EQ(ElectionIn(docket).leader, std::nullopt);
  EXPECT_EQ(ElectionIn(docket).wake_at, kNow + 2s);
}

struct NotKept {
  std::string name;
  Fact fact;
};

class NotKeptTest : public ::testing::TestWithParam<NotKept> {};

TEST_P(NotKeptTest, TheNextCandidateIsElectedAtOnce) {
  auto docket = Given(LedBy("a", Term{7}), Waiting("b"), Lapsed("a"), Away(10s), GetParam().fact);

  (void)Do(docket, Settlement());

  EXPECT_EQ(ElectionIn(docket).leader->candidate, "b");
}

INSTANTIATE_TEST_SUITE_P(
    Each, NotKeptTest,
    ::testing::Values(NotKept{"WithoutAnOutage", [](Docket& docket) { docket.outage.reset(); }},
                      NotKept{"WhenSwitchedOff", Away(10s, 0s)},
                      NotKept{"AfterAnOutageInWhichItCouldRenew", Away(kLease / 2 - kInstant)},
                      NotKept{"IfItHadStoppedRenewingBefore", Lapsed("a", 5s + kInstant)},
                      NotKept{"IfItHadTimeToRenewAfterwards",
                              [](Docket& docket) {
                                docket.outage->began = docket.now + -15s;
                                docket.outage->ended = docket.now + (-3s - kInstant);
                              }},
                      NotKept{"IfItWasDeposed", Ended("a", Cause::kDeposed)}),
    [](const auto& info) { return info.param.name; });

// The docket after the seat of "a" was kept, so long ago.
Docket KeptSince(Duration ago) {
  auto docket = Given(LedBy("a", Term{7}), Waiting("b"), Lapsed("a"), Away(10s));
  (void)Do(docket, Settlement());
  LoadAgain(docket);
  docket.now = docket.now + ago;
  for (auto& [id, session] : docket.sessions) {
    if (session.ended == Cause::kNone) session.expires_at = docket.now + kLease;
  }
  return docket;
}

// Its lease has a second left, but its holder stopped at nine tenths of it.
TEST(OutageTest, TheSeatIsKeptForWhoStoppedBelievingAndResigns) {
  auto docket = Given(LedBy("a", Term{7}), Waiting("b"), Alive("a", kNow + kLease / 10), Away(7s));

  EXPECT_THAT(Do(docket, ResignBy("a")), AnswersResigned(Term{7}));

  EXPECT_EQ(IncumbentIn(docket), (Incumbent{"a", kNow + 2s}));
  EXPECT_THAT(Do(docket, CampaignBy("a")), AnswersElected());
  EXPECT_EQ(ElectionIn(docket).term, Term{8});
}

// It gives up its terms one by one, and renews in between.
TEST(OutageTest, TheSeatIsKeptForWhoHasRenewedWhenItResigns) {
  auto docket = Given(LedBy("a", Term{7}), Waiting("b"), Alive("a", kNow + kLease), Away(7s));
  docket.contests.begin()->second.election.leader->elected_at = docket.outage->began;

  (void)Do(docket, ResignBy("a"));

  EXPECT_EQ(IncumbentIn(docket), (Incumbent{"a", kNow + 2s}));
}

TEST(OutageTest, WhoResignsATermFromAfterTheOutageIsNotWaitedFor) {
  auto docket = Given(LedBy("a", Term{7}), Waiting("b"), Alive("a", kNow + kLease), Away(7s));
  docket.contests.begin()->second.election.leader->elected_at = docket.outage->began + kInstant;

  (void)Do(docket, ResignBy("a"));

  EXPECT_EQ(ElectionIn(docket).leader->candidate, "b");
}

TEST(OutageTest, WhoResignsLongAfterTheOutageIsNotWaitedFor) {
  auto docket = Given(LedBy("a", Term{7}), Waiting("b"), Alive("a", kNow + kLease), Away(7s));
  docket.outage->began = kNow + -10s;
  docket.outage->ended = kNow + (-2s - kInstant);
  docket.contests.begin()->second.election.leader->elected_at = docket.outage->began;

  (void)Do(docket, ResignBy("a"));

  EXPECT_EQ(ElectionIn(docket).leader->candidate, "b");
}

TEST(OutageTest, TheIncumbentGetsTheNextTerm) {
  auto docket = KeptSince(1s);

  EXPECT_THAT(Do(docket, FirstCampaignBy("a/2")), AnswersElected());

  EXPECT_EQ(ElectionIn(docket).term, Term{8});
  EXPECT_EQ(ElectionIn(docket).vacancy, std::nullopt);
}

TEST(OutageTest, AnIncumbentThatWaitsAlreadyIsLookedForOnce) {
  auto docket = Given(LedBy("a", Term{7}), Waiting("b"), Waiting("a/2"), Lapsed("a"), Away(10s));
  Contest& contest = docket.contests[kElection];
  const Candidacy unread = contest.queue.back();
  contest.horizon = contest.queue.front();
  contest.queue.pop_back();

  (void)Do(docket, Settlement());
  EXPECT_THAT(docket.unsettled, ElementsAre(kElection));

  LoadAgain(docket);
  (void)Do(docket, Settlement());
  EXPECT_THAT(docket.unsettled, IsEmpty());
  contest.queue.push_back(unread);  // as a store reads it now
  (void)Do(docket, Settlement());
  EXPECT_EQ(ElectionIn(docket).leader->session, Id("a/2"));
}

TEST(OutageTest, NobodyElseGetsTheSeatWhileItIsKept) {
  auto docket = KeptSince(2s - kInstant);

  EXPECT_THAT(Do(docket, FirstCampaignBy("c")), AnswersStanding());
  EXPECT_THAT(Do(docket, CampaignBy("b")), AnswersStanding());
  EXPECT_EQ(Do(docket, FirstCampaignForAllBy("d", {kElection})).value().index(),
            Answer(CampaignForAllAnswer()).index());
  EXPECT_EQ(ElectionIn(docket).leader, std::nullopt);
}

TEST(OutageTest, TheFirstInTheQueueIsElectedWhenTheIncumbentDoesNotCome) {
  auto docket = KeptSince(2s);

  (void)Do(docket, Settlement());

  EXPECT_EQ(ElectionIn(docket).leader->candidate, "b");
}

TEST(OutageTest, AnIncumbentThatDoesNotWantToLeadIsNotElected) {
  auto docket = KeptSince(1s);
  Campaign reluctant = FirstCampaignBy("a/2");
  reluctant.priority = -1;

  EXPECT_THAT(Do(docket, reluctant), AnswersStanding());
}

TEST(OutageTest, AnIncumbentThatWasDeposedSinceIsNotElected) {
  auto docket = KeptSince(1s);
  docket.contests[kElection].cool_downs["a"] = kNow + 1h;

  EXPECT_THAT(Do(docket, FirstCampaignBy("a/2")), AnswersStanding());
}

TEST(OutageTest, AnOperatorsAppointmentGoesFirst) {
  auto docket = KeptSince(1s);

  (void)Do(docket, Appointing("b", Term{7}));

  EXPECT_EQ(ElectionIn(docket).leader->candidate, "b");
}

TEST(OutageTest, TheIncumbentIsWaitedForWhenTheSeatReopens) {
  auto docket = Given(LedBy("a", Term{7}), Waiting("b"), WithSettings({.lock_delay = 5s}),
                      Lapsed("a"), Away(10s));

  (void)Do(docket, Settlement());
  EXPECT_EQ(IncumbentIn(docket), (Incumbent{"a", kNow + 7s}));
  EXPECT_EQ(ElectionIn(docket).wake_at, kNow + 5s);

  LoadAgain(docket);
  docket.now = kNow + 5s;
  EXPECT_THAT(Do(docket, FirstCampaignBy("a/2")), AnswersElected());
}

TEST(VacancyTest, AVacancyIsForgottenWithADeletedElection) {
  auto docket = Given(LedBy("a", Term{7}));

  (void)Do(docket, Deleting(Term{7}));

  EXPECT_EQ(ElectionIn(docket).vacancy, std::nullopt);
}

}  // namespace
}  // namespace tenure::testing
