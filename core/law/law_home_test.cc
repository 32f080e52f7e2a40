// Sessions and their homes: the database's clock ends none. They move from one home to another, and
// end by silence, as orphans, or on request.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/law/law_testing.h"

namespace tenure::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr HomeId kHere{1};
constexpr HomeId kThere{2};

// Its home has kept it since its second move.
Session KeptAt(HomeId home, std::string_view name) {
  Session session = SessionOfCandidate(name);
  session.home = home;
  session.moves = 2;
  return session;
}

Fact Has(const Session& session) {
  return [session](TransactionState& transaction) {
    transaction.sessions.insert_or_assign(session.id, session);
  };
}

template <typename... Facts>
TransactionState GivenHere(const Facts&... facts) {
  auto transaction = Given(facts...);
  transaction.home = kHere;
  return transaction;
}

TransactionState AfterYears(TransactionState transaction) {
  transaction.now = transaction.now + 24h * 365 * 100;
  return transaction;
}

// --- No clock ends them ---

TEST(HomeTest, ASessionIsOpenedAtTheHomeOfItsTransaction) {
  auto transaction = GivenHere();

  ASSERT_TRUE(Do(transaction, FirstCampaignBy("a")));

  EXPECT_EQ(SessionIn(transaction, "a").home, kHere);
  EXPECT_EQ(SessionIn(transaction, "a").moves, 1);
}

TEST(HomeTest, ALeaderLeadsHoweverLongTheDatabaseWasAway) {
  auto transaction = AfterYears(GivenHere(LedBy("a", Term{7}), Has(KeptAt(kThere, "a"))));

  ASSERT_TRUE(Do(transaction, FirstCampaignBy("b")));

  EXPECT_EQ(StateIn(transaction).election.leader->candidate, CandidateOf("a"));
  EXPECT_THAT(transaction.ended, IsEmpty());
}

TEST(HomeTest, ACandidateIsElectedHoweverOldItsSessionIs) {
  auto transaction =
      AfterYears(GivenHere(VacantAfter(Term{7}), Waiting("a"), Has(KeptAt(kThere, "a"))));

  (void)Do(transaction, Reconciliation());

  EXPECT_EQ(StateIn(transaction).election.leader->candidate, CandidateOf("a"));
}

TEST(HomeTest, ACampaignDoesNotChangeTheSession) {
  const Session kept = KeptAt(kThere, "a");
  auto transaction = AfterYears(GivenHere(LedBy("a", Term{7}), Has(kept)));

  ASSERT_TRUE(Do(transaction, CampaignBy("a")));

  EXPECT_EQ(SessionIn(transaction, "a"), kept);
}

// --- Moves ---

TEST(AdoptTest, ASessionMovesHere) {
  auto transaction = GivenHere(Has(KeptAt(kThere, "a")));

  const auto adopted = Adopt(transaction, Id("a"));

  ASSERT_TRUE(adopted);
  EXPECT_EQ(adopted->home, kHere);
  EXPECT_EQ(adopted->moves, 3);
  EXPECT_THAT(transaction.departures, ElementsAre(Departure{kThere, Id("a"), 3}));
}

TEST(AdoptTest, ASessionThatIsHereAlreadyDepartsFromNowhere) {
  auto transaction = GivenHere(Has(KeptAt(kHere, "a")));

  EXPECT_EQ(Adopt(transaction, Id("a"))->moves, 3);

  EXPECT_THAT(transaction.departures, IsEmpty());
}

TEST(AdoptTest, ASessionWithoutAHomeGetsOne) {
  auto transaction = GivenHere(Alive("a"));

  EXPECT_EQ(Adopt(transaction, Id("a"))->home, kHere);

  EXPECT_THAT(transaction.departures, IsEmpty());
  EXPECT_TRUE(SessionIn(transaction, "a").Alive());
}

TEST(AdoptTest, ASessionThatHasEndedDoesNotMove) {
  Session ended = KeptAt(kThere, "a");
  ended.ended = Cause::kDeposed;
  auto transaction = GivenHere(Has(ended));

  EXPECT_THAT(Adopt(transaction, Id("a")), FailsWith(Reason::kSessionEnded, "cause", "DEPOSED"));

  EXPECT_EQ(SessionIn(transaction, "a"), ended);
  EXPECT_THAT(transaction.departures, IsEmpty());
}

TEST(AdoptTest, ASessionOfAnotherIdentityIsNotFound) {
  Session others = KeptAt(kThere, "a");
  others.identity = "olga";
  auto transaction = GivenHere(Has(others));

  EXPECT_THAT(Adopt(transaction, Id("a"), {"mallory"}), FailsWith(Reason::kSessionNotFound));
}

TEST(AdoptTest, ASessionThatIsNotThereIsNotFound) {
  auto transaction = GivenHere();

  EXPECT_THAT(Adopt(transaction, Id("a")), FailsWith(Reason::kSessionNotFound));
}

// --- Ends ---

TEST(EndSilentTest, AHomeEndsASessionThatItKeeps) {
  auto transaction = GivenHere(Has(KeptAt(kHere, "a")));

  EndSilent(transaction, Id("a"), 2);

  EXPECT_EQ(SessionIn(transaction, "a").ended, Cause::kExpired);
  EXPECT_THAT(transaction.ended, ElementsAre(Id("a")));
  EXPECT_THAT(transaction.departures, IsEmpty());
}

TEST(EndSilentTest, AnEndFromBeforeAMoveChangesNothing) {
  for (const Session& moved : {KeptAt(kThere, "a"), KeptAt(kHere, "a")}) {
    auto transaction = GivenHere(Has(moved));

    EndSilent(transaction, Id("a"), 1);

    EXPECT_EQ(SessionIn(transaction, "a"), moved);
    EXPECT_THAT(transaction.ended, IsEmpty());
  }
}

TEST(EndSilentTest, ASessionThatHasEndedKeepsItsCause) {
  Session ended = KeptAt(kHere, "a");
  ended.ended = Cause::kDeposed;
  auto transaction = GivenHere(Has(ended));

  EndSilent(transaction, Id("a"), 2);

  EXPECT_EQ(SessionIn(transaction, "a").ended, Cause::kDeposed);
}

TEST(EndOrphanTest, AnotherReplicaEndsIt) {
  auto transaction = GivenHere(Has(KeptAt(kThere, "a")));

  EndOrphan(transaction, Id("a"), kThere);

  EXPECT_EQ(SessionIn(transaction, "a").ended, Cause::kExpired);
  EXPECT_THAT(transaction.departures, IsEmpty());
}

TEST(EndOrphanTest, ASessionThatWasAdoptedLivesOn) {
  auto transaction = GivenHere(Has(KeptAt({3}, "a")));

  EndOrphan(transaction, Id("a"), kThere);

  EXPECT_EQ(SessionIn(transaction, "a").ended, Cause::kNone);
}

TEST(HomeTest, AnEndByAnotherReplicaIsADeparture) {
  auto transaction = GivenHere(Has(KeptAt(kThere, "a")), Has(KeptAt(kHere, "b")));

  ASSERT_TRUE(EndSession(transaction, Id("a"), Cause::kSessionClosed));
  ASSERT_TRUE(DeposeSession(transaction, Id("b"), {"olga", "why"}));

  EXPECT_THAT(transaction.departures, ElementsAre(Departure{kThere, Id("a"), 3}));
}

}  // namespace
}  // namespace tenure::testing
