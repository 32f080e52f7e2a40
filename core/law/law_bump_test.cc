// Bumps: an election after the database may have lost commits.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/law/law_testing.h"

namespace tenure::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr uint64_t kFloor = 5'000'000;

TEST(BumpTest, AVacantElectionIsRaisedWithoutAnEvent) {
  auto transaction = Given(VacantAfter(Term{7}));

  Bump(transaction, kElection, kFloor);

  EXPECT_EQ(ElectionIn(transaction).term, Term{kFloor});
  EXPECT_EQ(ElectionIn(transaction).revision, Revision{kFloor});
  EXPECT_THAT(transaction.events, IsEmpty());
}

TEST(BumpTest, TheNextGrantIsAboveEveryTermThatMayHaveBeenGranted) {
  auto transaction = Given(VacantAfter(Term{7}));

  Bump(transaction, kElection, kFloor);
  (void)Do(transaction, FirstCampaignBy("a"));

  EXPECT_THAT(transaction.events,
              ElementsAre(Elected("a", Term{kFloor + 1}, Revision{kFloor + 1})));
}

TEST(BumpTest, TheLeaderIsDeposedInItsOwnTermAtANewRevision) {
  auto transaction = Given(LedBy("a", Term{7}));

  Bump(transaction, kElection, kFloor);

  EXPECT_THAT(transaction.events,
              ElementsAre(Vacated("a", Cause::kDeposed, Term{7}, Revision{kFloor + 1})));
  EXPECT_EQ(ElectionIn(transaction).leader, std::nullopt);
  EXPECT_EQ(transaction.sessions.at(Id("a")).ended, Cause::kDeposed);
}

TEST(BumpTest, AnExpiredLeaderCountsAsExpired) {
  auto transaction = Given(LedBy("a", Term{7}), Expired("a"));

  Bump(transaction, kElection, kFloor);

  EXPECT_THAT(transaction.events,
              ElementsAre(Vacated("a", Cause::kExpired, Term{7}, Revision{kFloor + 1})));
}

TEST(BumpTest, ALiveWaitingCandidateIsElectedInANewTerm) {
  auto transaction = Given(LedBy("a", Term{7}), Expired("a"), Waiting("b"));

  Bump(transaction, kElection, kFloor);

  EXPECT_THAT(transaction.events,
              ElementsAre(Vacated("a", Cause::kExpired, Term{7}, Revision{kFloor + 1}),
                          Elected("b", Term{kFloor + 1}, Revision{kFloor + 2})));
}

TEST(BumpTest, TheSeatStaysEmptyForTheLockDelay) {
  auto transaction = Given(LedBy("a", Term{7}), Waiting("b"), WithSettings({.lock_delay = 5s}));

  Bump(transaction, kElection, kFloor);

  EXPECT_EQ(ElectionIn(transaction).leader, std::nullopt);
  EXPECT_EQ(ElectionIn(transaction).wake_at, kNow + 5s);
}

TEST(BumpTest, EarlierEventsAreHidden) {
  auto transaction = Given(LedBy("a", Term{7}));

  Bump(transaction, kElection, kFloor);

  EXPECT_EQ(ElectionIn(transaction).history_from, Revision{kFloor + 1});
}

TEST(BumpTest, ADeletedElectionIsRaisedAndStaysDeleted) {
  auto transaction = Given(VacantAfter(Term{7}));
  (void)Do(transaction, Deleting(Term{7}));
  LoadAgain(transaction);

  Bump(transaction, kElection, kFloor);

  EXPECT_TRUE(ElectionIn(transaction).deleted);
  EXPECT_EQ(ElectionIn(transaction).term, Term{kFloor});
  EXPECT_EQ(ElectionIn(transaction).revision, Revision{kFloor});
}

TEST(BumpTest, NumbersAboveTheFloorAreAlsoRaised) {
  auto transaction = Given(VacantAfter(Term{kFloor}));

  Bump(transaction, kElection, kFloor);

  EXPECT_EQ(ElectionIn(transaction).term, Term{kFloor + kBumpMin});
  EXPECT_EQ(ElectionIn(transaction).revision, Revision{2 * kFloor + kBumpMin});
}

}  // namespace
}  // namespace tenure::testing
