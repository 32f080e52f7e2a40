// Bumps: what is done to an election when the database may have lost what it had committed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/law_testing.h"

namespace tenure::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr uint64_t kFloor = 5'000'000;

TEST(BumpTest, AVacantElectionIsRaisedWithoutAnEvent) {
  auto docket = Given(VacantAfter(Term{7}));

  Bump(docket, kElection, kFloor);

  EXPECT_EQ(ElectionIn(docket).term, Term{kFloor});
  EXPECT_EQ(ElectionIn(docket).revision, Revision{kFloor});
  EXPECT_THAT(docket.events, IsEmpty());
}

TEST(BumpTest, TheNextGrantIsAboveEveryTermThatMayHaveBeenGranted) {
  auto docket = Given(VacantAfter(Term{7}));

  Bump(docket, kElection, kFloor);
  (void)Do(docket, FirstCampaignBy("a"));

  EXPECT_THAT(docket.events, ElementsAre(Elected("a", Term{kFloor + 1}, Revision{kFloor + 1})));
}

TEST(BumpTest, TheLeaderIsDeposedInItsOwnTermAtANewRevision) {
  auto docket = Given(LedBy("a", Term{7}));

  Bump(docket, kElection, kFloor);

  EXPECT_THAT(docket.events,
              ElementsAre(Vacated("a", Cause::kDeposed, Term{7}, Revision{kFloor + 1})));
  EXPECT_EQ(ElectionIn(docket).leader, std::nullopt);
  EXPECT_EQ(docket.sessions.at(Id("a")).ended, Cause::kDeposed);
}

TEST(BumpTest, AnExpiredLeaderCountsAsExpired) {
  auto docket = Given(LedBy("a", Term{7}), Expired("a"));

  Bump(docket, kElection, kFloor);

  EXPECT_THAT(docket.events,
              ElementsAre(Vacated("a", Cause::kExpired, Term{7}, Revision{kFloor + 1})));
}

TEST(BumpTest, ALiveWaitingCandidateIsElectedInANewTerm) {
  auto docket = Given(LedBy("a", Term{7}), Expired("a"), Waiting("b"));

  Bump(docket, kElection, kFloor);

  EXPECT_THAT(docket.events,
              ElementsAre(Vacated("a", Cause::kExpired, Term{7}, Revision{kFloor + 1}),
                          Elected("b", Term{kFloor + 1}, Revision{kFloor + 2})));
}

TEST(BumpTest, TheSeatStaysEmptyForTheLockDelay) {
  auto docket = Given(LedBy("a", Term{7}), Waiting("b"), WithSettings({.lock_delay = 5s}));

  Bump(docket, kElection, kFloor);

  EXPECT_EQ(ElectionIn(docket).leader, std::nullopt);
  EXPECT_EQ(ElectionIn(docket).wake_at, kNow + 5s);
}

TEST(BumpTest, EarlierEventsAreHidden) {
  auto docket = Given(LedBy("a", Term{7}));

  Bump(docket, kElection, kFloor);

  EXPECT_EQ(ElectionIn(docket).history_from, Revision{kFloor + 1});
}

TEST(BumpTest, ADeletedElectionIsRaisedAndStaysDeleted) {
  auto docket = Given(VacantAfter(Term{7}));
  (void)Do(docket, Deleting(Term{7}));
  LoadAgain(docket);

  Bump(docket, kElection, kFloor);

  EXPECT_TRUE(ElectionIn(docket).deleted);
  EXPECT_EQ(ElectionIn(docket).term, Term{kFloor});
  EXPECT_EQ(ElectionIn(docket).revision, Revision{kFloor});
}

TEST(BumpTest, NumbersAboveTheFloorAreAlsoRaised) {
  auto docket = Given(VacantAfter(Term{kFloor}));

  Bump(docket, kElection, kFloor);

  EXPECT_EQ(ElectionIn(docket).term, Term{kFloor + kBumpMin});
  EXPECT_EQ(ElectionIn(docket).revision, Revision{2 * kFloor + kBumpMin});
}

}  // namespace
}  // namespace tenure::testing
