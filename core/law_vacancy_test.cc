// Vacancies: how and since when a seat is empty, and what a grant tells of the one that it ends.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/law_testing.h"

namespace tenure::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;

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

TEST(VacancyTest, AVacancyIsForgottenWithADeletedElection) {
  auto docket = Given(LedBy("a", Term{7}));

  (void)Do(docket, Deleting(Term{7}));

  EXPECT_EQ(ElectionIn(docket).vacancy, std::nullopt);
}

}  // namespace
}  // namespace tenure::testing
