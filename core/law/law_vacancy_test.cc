// Vacancies: why and since when a seat is empty, and what a grant records of the vacancy that it
// ends.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/law/law_testing.h"

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

TEST(VacancyTest, AnExpiredSeatIsVacantSinceTheEndOfItsSession) {
  auto transaction =
      Given(LedBy("a", Term{7}), Waiting("b"), Ended("a", Cause::kExpired, kNow + -3s));

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

// --- Seats that are left undecided ---

// Further commands in its transaction do not change that.
TEST(UndecidedTest, ASeatThatIsLeftUndecidedIsDueAtOnce) {
  auto transaction =
      Given(LedBy("a", Term{7}), Waiting("b"), Expired("a"), Expired("b"), HorizonAt("b"));

  for (int i = 0; i < 2; ++i) {
    (void)Do(transaction, Reconciliation());

    EXPECT_THAT(transaction.undecided, ElementsAre(kElection));
    EXPECT_THAT(ElectionIn(transaction).wake_at, Optional(kNow));
  }
}

TEST(UndecidedTest, ASeatThatIsLeftUndecidedStaysSoAcrossAPause) {
  auto transaction =
      Given(LedBy("a", Term{7}), Waiting("b"), Expired("a"), Expired("b"), HorizonAt("b"));
  (void)Do(transaction, Reconciliation());

  (void)Do(transaction, Pausing());
  EXPECT_THAT(transaction.undecided, IsEmpty());
  (void)Do(transaction, Resuming());

  EXPECT_THAT(transaction.undecided, ElementsAre(kElection));
  EXPECT_THAT(ElectionIn(transaction).wake_at, Optional(kNow));
}

TEST(UndecidedTest, ASeatIsDecidedOnceNobodyWaitsForIt) {
  auto transaction =
      Given(LedBy("a", Term{7}), Waiting("b"), Expired("a"), Expired("b"), HorizonAt("b"));

  (void)Do(transaction, ResignBy("b"));

  EXPECT_THAT(transaction.undecided, IsEmpty());
}

TEST(UndecidedTest, ASeatThatIsNotOpenYetIsDecidedLater) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b"), Expired("a"), Expired("b"),
                           HorizonAt("b"), WithSettings({.lock_delay = 5s}));

  (void)Do(transaction, Reconciliation());

  EXPECT_THAT(transaction.undecided, IsEmpty());
  EXPECT_THAT(ElectionIn(transaction).wake_at, Optional(kNow + 5s));
}

TEST(VacancyTest, ADeletedElectionHasAVacancyUntilItIsCreatedAgain) {
  auto transaction = Given(LedBy("a", Term{7}));

  (void)Do(transaction, Deleting(Term{7}));
  EXPECT_EQ(ElectionIn(transaction).vacancy, (Vacancy{Cause::kDeleted, kNow}));

  (void)Do(transaction, FirstCampaignBy("b"));
  EXPECT_EQ(transaction.successions.back().vacancy, std::nullopt);
}

}  // namespace
}  // namespace tenure::testing
