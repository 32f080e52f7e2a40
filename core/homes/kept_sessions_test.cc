#include "core/homes/kept_sessions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>
#include <vector>

namespace tenure {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::Eq;
using ::testing::IsEmpty;
using ::testing::Optional;

using Silent = KeptSessions::Silent;

constexpr HomeId kHome{42};
constexpr Duration kLease = 10s;
constexpr Duration kGrace = 3s;
constexpr size_t kAll = 1'000;

SessionId Numbered(uint8_t number) { return {.bytes = {number}}; }
Session Kept(uint8_t number, uint64_t moves = 1, Duration lease_ttl = kLease) {
  Session session;
  session.id = Numbered(number);
  session.lease_ttl = lease_ttl;
  session.home = kHome;
  session.moves = moves;
  return session;
}
Silent SilentOf(uint8_t number, uint64_t moves = 1) { return {Numbered(number), moves}; }
ServiceTime After(Duration served) { return {served}; }

// Silence.

TEST(KeptSessionsTest, NothingIsDueWithoutSessions) {
  KeptSessions kept;

  EXPECT_EQ(kept.size(), 0U);
  EXPECT_EQ(kept.NextDue(), std::nullopt);
  EXPECT_EQ(kept.OldestDue(), std::nullopt);
  EXPECT_THAT(kept.TakeSilent(After(1h), kAll), IsEmpty());
  EXPECT_FALSE(kept.Renew(Numbered(1), After(1h)));
  EXPECT_FALSE(kept.Keeps(Numbered(1)));
  kept.Forget(Numbered(1));
  kept.Ended(SilentOf(1));
  kept.NotEnded(SilentOf(1));
  kept.Departed(Numbered(1), 1);
  EXPECT_EQ(kept.size(), 0U);
}

TEST(KeptSessionsTest, AnOpenedSessionIsSilentOnceItsLeaseHasPassed) {
  KeptSessions kept;
  kept.Opened(Kept(1), After(0s));

  EXPECT_EQ(kept.NextDue(), After(10s));
  EXPECT_THAT(kept.TakeSilent(After(10s - 1us), kAll), IsEmpty());
  EXPECT_THAT(kept.TakeSilent(After(10s), kAll), ElementsAre(SilentOf(1)));
}

TEST(KeptSessionsTest, TheSilenceOfAnAdoptedSessionCountsFromTheGrace) {
  KeptSessions kept;
  kept.Adopted(Kept(1), After(0s), kGrace);
  kept.Found(Kept(2), After(0s), kGrace);
  kept.Renew(Numbered(1), After(1s)).value();

  EXPECT_THAT(kept.TakeSilent(After(13s - 1us), kAll), IsEmpty());
  EXPECT_THAT(kept.TakeSilent(After(13s), kAll), ElementsAre(SilentOf(1), SilentOf(2)));
}

TEST(KeptSessionsTest, ARenewalIsAnsweredWithTheSessionAndASignOfLife) {
  KeptSessions kept;
  Session session = Kept(1);
  session.candidate = "a";
  kept.Opened(session, After(0s));

  EXPECT_EQ(kept.Renew(session.id, After(9s)).value().session, session);

  EXPECT_THAT(kept.TakeSilent(After(19s - 1us), kAll), IsEmpty());
  EXPECT_EQ(kept.NextDue(), After(19s));
  EXPECT_THAT(kept.TakeSilent(After(19s), kAll), ElementsAre(SilentOf(1)));
}

TEST(KeptSessionsTest, ARenewalAtTheDeadlineCountsUntilTheEndBegins) {
  KeptSessions kept;
  kept.Opened(Kept(1), After(0s));

  EXPECT_TRUE(kept.Renew(Numbered(1), After(10s)));
  EXPECT_THAT(kept.TakeSilent(After(10s), kAll), IsEmpty());

  EXPECT_THAT(kept.TakeSilent(After(20s), kAll), ElementsAre(SilentOf(1)));
  EXPECT_FALSE(kept.Renew(Numbered(1), After(20s)));
  EXPECT_FALSE(kept.Keeps(Numbered(1)));
}

// Two threads may call in a different order from the one in which they read the clock.
TEST(KeptSessionsTest, AnEarlierRenewalThatIsTakenLaterShortensNothing) {
  KeptSessions kept;
  kept.Opened(Kept(1), After(0s));
  EXPECT_EQ(kept.Renew(Numbered(1), After(9s)).value().lease_left, 1s);
  EXPECT_EQ(kept.Renew(Numbered(1), After(8s)).value().lease_left, 11s);

  EXPECT_THAT(kept.TakeSilent(After(19s - 1us), kAll), IsEmpty());
}

TEST(KeptSessionsTest, TheOldestAreTakenFirstHoweverTheyAreIndexed) {
  KeptSessions kept;
  kept.Opened(Kept(1), After(0s));
  kept.Opened(Kept(2), After(1s));
  kept.Opened(Kept(3), After(2s));
  kept.Opened(Kept(4, 1, 1h), After(0s));
  kept.Renew(Numbered(1), After(5s)).value();

  EXPECT_THAT(kept.TakeSilent(After(20s), 2), ElementsAre(SilentOf(2), SilentOf(3)));
  EXPECT_THAT(kept.TakeSilent(After(20s), 2), ElementsAre(SilentOf(1)));
  EXPECT_THAT(kept.TakeSilent(After(20s), 0), IsEmpty());
  EXPECT_EQ(kept.NextDue(), After(1h));
}

// A lease of 20 s, requested as 10 s, to which it shrinks after thirty leases.
Session Longer(uint8_t number) {
  Session session = Kept(number, 1, 20s);
  session.lease_ttl_asked = 10s;
  return session;
}

TEST(KeptSessionsTest, ALongerLeaseShrinksAfterACalmTime) {
  KeptSessions kept;
  kept.Opened(Longer(1), After(0s));
  const auto renew = [&](Duration at) { return kept.Renew(Numbered(1), After(at)).value(); };

  EXPECT_EQ(renew(600s - 1us).session.lease_ttl, 20s);
  EXPECT_EQ(renew(601s).session.lease_ttl, 10s);
  EXPECT_EQ(kept.Find(Numbered(1))->lease_ttl, 20s) << "the row keeps the longest lease";
}

// The answer with the shorter lease may have been lost.
TEST(KeptSessionsTest, ASessionLivesForTheLongestLeaseThatWasAnswered) {
  KeptSessions kept;
  kept.Opened(Longer(1), After(0s));
  kept.Renew(Numbered(1), After(599s)).value();
  kept.Renew(Numbered(1), After(600s)).value();
  EXPECT_THAT(kept.TakeSilent(After(619s - 1us), kAll), IsEmpty());

  EXPECT_EQ(kept.Renew(Numbered(1), After(610s)).value().lease_left, 9s);
  EXPECT_THAT(kept.TakeSilent(After(620s - 1us), kAll), IsEmpty());
  EXPECT_THAT(kept.TakeSilent(After(620s), kAll), ElementsAre(SilentOf(1)));
}

TEST(KeptSessionsTest, TheNextHomeBeginsWithTheLeaseOfTheRow) {
  KeptSessions kept;
  kept.Adopted(Longer(1), After(599s), kGrace);

  EXPECT_EQ(kept.Renew(Numbered(1), After(601s)).value().session.lease_ttl, 20s);
}

// Ends.

TEST(KeptSessionsTest, AnEndIsDueUntilItIsMade) {
  KeptSessions kept;
  kept.Opened(Kept(1), After(0s));
  EXPECT_THAT(kept.TakeSilent(After(12s), kAll), ElementsAre(SilentOf(1)));

  EXPECT_THAT(kept.TakeSilent(After(12s), kAll), IsEmpty()) << "its end is under way";
  EXPECT_EQ(kept.NextDue(), std::nullopt);
  EXPECT_EQ(kept.OldestDue(), After(10s));
  EXPECT_EQ(kept.size(), 1U);

  kept.NotEnded(SilentOf(1));
  EXPECT_EQ(kept.NextDue(), After(10s));
  EXPECT_EQ(kept.OldestDue(), After(10s));
  EXPECT_FALSE(kept.Keeps(Numbered(1)));
  EXPECT_FALSE(kept.Renew(Numbered(1), After(13s)));
  EXPECT_THAT(kept.TakeSilent(After(13s), kAll), ElementsAre(SilentOf(1)));

  kept.Ended(SilentOf(1));
  EXPECT_EQ(kept.OldestDue(), std::nullopt);
  EXPECT_EQ(kept.size(), 0U);
}

TEST(KeptSessionsTest, ASessionThatIsDueButNotTakenCountsAsDue) {
  KeptSessions kept;
  kept.Opened(Kept(1), After(0s));
  kept.Opened(Kept(2), After(1s));
  kept.Opened(Kept(3), After(2s));
  EXPECT_EQ(kept.OldestDue(), std::nullopt);
  kept.Renew(Numbered(1), After(9s)).value();
  EXPECT_THAT(kept.TakeSilent(After(12s), 1), ElementsAre(SilentOf(2)));
  kept.Ended(SilentOf(2));

  EXPECT_EQ(kept.OldestDue(), After(12s));
  kept.Renew(Numbered(3), After(12s)).value();
  EXPECT_EQ(kept.OldestDue(), std::nullopt);
  EXPECT_FALSE(kept.Renew(Numbered(9), After(25s)));
  EXPECT_EQ(kept.OldestDue(), After(19s));
}

TEST(KeptSessionsTest, ARowWithTheSameMovesDoesNotBringASessionBackWhoseEndHasBegun) {
  KeptSessions kept;
  kept.Opened(Kept(1), After(0s));
  EXPECT_THAT(kept.TakeSilent(After(10s), kAll), ElementsAre(SilentOf(1)));

  kept.Found(Kept(1), After(10s), kGrace);
  kept.Adopted(Kept(1), After(10s), kGrace);
  kept.Opened(Kept(1), After(10s));
  EXPECT_FALSE(kept.Keeps(Numbered(1)));

  kept.NotEnded(SilentOf(1));
  kept.Found(Kept(1), After(10s), kGrace);
  EXPECT_FALSE(kept.Keeps(Numbered(1))) << "it may have been made all the same";
}

TEST(KeptSessionsTest, AnAdoptionBringsASessionBackWhoseEndHasBegun) {
  KeptSessions kept;
  kept.Opened(Kept(1), After(0s));
  EXPECT_THAT(kept.TakeSilent(After(10s), kAll), ElementsAre(SilentOf(1)));

  kept.Adopted(Kept(1, 2), After(11s), kGrace);
  EXPECT_TRUE(kept.Keeps(Numbered(1)));
  EXPECT_EQ(kept.OldestDue(), std::nullopt);
  EXPECT_EQ(kept.NextDue(), After(24s));

  kept.NotEnded(SilentOf(1));
  kept.Ended(SilentOf(1));
  EXPECT_TRUE(kept.Keeps(Numbered(1))) << "the late end was of the session before it moved";
  EXPECT_THAT(kept.TakeSilent(After(24s), kAll), ElementsAre(SilentOf(1, 2)));
  kept.NotEnded(SilentOf(1));
  EXPECT_EQ(kept.NextDue(), std::nullopt) << "another end is under way";
}

// The sweep has read the row before the end, and its reply is processed after it.
TEST(KeptSessionsTest, AnEndedSessionIsNotKeptAgain) {
  KeptSessions kept;
  kept.Opened(Kept(1), After(0s));
  EXPECT_THAT(kept.TakeSilent(After(10s), kAll), ElementsAre(SilentOf(1)));
  kept.Ended(SilentOf(1));

  kept.Found(Kept(1), After(11s), kGrace);

  EXPECT_FALSE(kept.Keeps(Numbered(1)));
  EXPECT_EQ(kept.size(), 0U);
}

TEST(KeptSessionsTest, AVoidEndDoesNotHideTheMoveThatMadeItVoid) {
  KeptSessions kept;
  kept.Opened(Kept(1), After(0s));
  EXPECT_THAT(kept.TakeSilent(After(10s), kAll), ElementsAre(SilentOf(1)));
  kept.Ended(SilentOf(1));  // this replica had adopted it again, and the reply was lost

  kept.Found(Kept(1, 2), After(11s), kGrace);

  EXPECT_TRUE(kept.Keeps(Numbered(1)));
}

TEST(KeptSessionsTest, AnEndForAnotherCauseTakesEffectAtOnce) {
  KeptSessions kept;
  kept.Opened(Kept(1), After(0s));

  kept.Ended(SilentOf(1));

  EXPECT_FALSE(kept.Keeps(Numbered(1)));
  EXPECT_EQ(kept.size(), 0U);
  EXPECT_EQ(kept.NextDue(), std::nullopt);
}

// Uncertainty.

TEST(KeptSessionsTest, AForgottenSessionIsNotAnsweredAndEndsIfItStaysSilent) {
  KeptSessions kept;
  kept.Opened(Kept(1), After(0s));

  kept.Forget(Numbered(1));

  EXPECT_FALSE(kept.Keeps(Numbered(1)));
  EXPECT_FALSE(kept.Renew(Numbered(1), After(1s)));
  kept.Found(Kept(1), After(5s), kGrace);
  EXPECT_FALSE(kept.Keeps(Numbered(1))) << "the row may have been read before";
  EXPECT_THAT(kept.TakeSilent(After(10s), kAll), ElementsAre(SilentOf(1)));
}

TEST(KeptSessionsTest, ForgettingDoesNotInterruptAnEnd) {
  KeptSessions kept;
  kept.Opened(Kept(1), After(0s));
  EXPECT_THAT(kept.TakeSilent(After(10s), kAll), ElementsAre(SilentOf(1)));

  kept.Forget(Numbered(1));

  EXPECT_THAT(kept.TakeSilent(After(10s), kAll), IsEmpty());
  kept.Ended(SilentOf(1));
  EXPECT_EQ(kept.size(), 0U);
}

TEST(KeptSessionsTest, AnAdoptionAfterForgettingIsNotUndoneByTheLateEnd) {
  KeptSessions kept;
  kept.Opened(Kept(1), After(0s));
  EXPECT_THAT(kept.TakeSilent(After(10s), kAll), ElementsAre(SilentOf(1)));
  kept.Forget(Numbered(1));
  kept.Adopted(Kept(1, 2), After(10s), kGrace);
  kept.Forget(Numbered(1));
  kept.Adopted(Kept(1, 3), After(11s), kGrace);

  kept.Ended(SilentOf(1));

  EXPECT_TRUE(kept.Keeps(Numbered(1)));
  EXPECT_EQ(kept.size(), 1U);
}

// Moves.

TEST(KeptSessionsTest, ASessionDepartsUnlessItHasComeBackSince) {
  KeptSessions kept;
  kept.Opened(Kept(1, 1), After(0s));
  kept.Opened(Kept(2, 3), After(0s));

  kept.Departed(Numbered(1), 2);
  kept.Departed(Numbered(2), 2);

  EXPECT_FALSE(kept.Keeps(Numbered(1)));
  EXPECT_TRUE(kept.Keeps(Numbered(2)));
  EXPECT_THAT(kept.TakeSilent(After(10s), kAll), ElementsAre(SilentOf(2, 3)));
}

TEST(KeptSessionsTest, ADepartureOverridesAPendingEnd) {
  KeptSessions kept;
  kept.Opened(Kept(1), After(0s));
  kept.Opened(Kept(2), After(0s));
  EXPECT_THAT(kept.TakeSilent(After(10s), 1), ElementsAre(SilentOf(1)));
  kept.Forget(Numbered(2));

  kept.Departed(Numbered(1), 2);
  kept.Departed(Numbered(2), 2);
  kept.NotEnded(SilentOf(1));

  EXPECT_EQ(kept.OldestDue(), std::nullopt);
  EXPECT_THAT(kept.TakeSilent(After(10s), kAll), IsEmpty());
  EXPECT_EQ(kept.size(), 0U);
}

// It was opened here, and adopted elsewhere, before this replica has processed the first reply.
TEST(KeptSessionsTest, ALateReplyDoesNotBringADepartedSessionBack) {
  KeptSessions kept;
  kept.Departed(Numbered(1), 3);
  kept.Departed(Numbered(1), 2);

  kept.Opened(Kept(1, 2), After(59s));
  kept.Adopted(Kept(1, 2), After(59s), kGrace);
  kept.Found(Kept(1, 2), After(59s), kGrace);
  EXPECT_FALSE(kept.Keeps(Numbered(1)));

  kept.Adopted(Kept(1, 3), After(59s), kGrace);
  EXPECT_TRUE(kept.Keeps(Numbered(1)));
}

TEST(KeptSessionsTest, ADepartureIsRememberedForAsLongAsAReplyMayTake) {
  KeptSessions kept;
  kept.Opened(Kept(2), After(KeptSessions::kReplyMax - 1us));
  kept.Departed(Numbered(1), 2);

  kept.Found(Kept(3), After(KeptSessions::kReplyMax), kGrace);
  kept.Found(Kept(1), After(2 * KeptSessions::kReplyMax - 1us), kGrace);
  EXPECT_FALSE(kept.Keeps(Numbered(1)));

  kept.Found(Kept(1), After(2 * KeptSessions::kReplyMax), kGrace);
  EXPECT_TRUE(kept.Keeps(Numbered(1))) << "memory is bounded";
}

TEST(KeptSessionsTest, ANewerRowReplacesAnOlderOneAndNotTheOtherWayRound) {
  KeptSessions kept;
  kept.Adopted(Kept(1, 2), After(0s), kGrace);
  kept.Adopted(Kept(1, 4, 20s), After(1s), kGrace);
  kept.Adopted(Kept(1, 3), After(2s), kGrace);
  kept.Opened(Kept(1, 1), After(3s));

  EXPECT_EQ(kept.Renew(Numbered(1), After(4s)).value().session, Kept(1, 4, 20s));
  EXPECT_THAT(kept.TakeSilent(After(24s - 1us), kAll), IsEmpty());
  EXPECT_THAT(kept.TakeSilent(After(24s), kAll), ElementsAre(SilentOf(1, 4)));
}

// Signs of life.

TEST(KeptSessionsTest, AnAdoptionOfAKeptSessionIsASignOfLifeAndTheSweepIsNone) {
  KeptSessions kept;
  kept.Opened(Kept(1), After(0s));
  kept.Opened(Kept(2), After(0s));

  kept.Adopted(Kept(1), After(5s), kGrace);
  kept.Found(Kept(2), After(5s), kGrace);

  EXPECT_THAT(kept.TakeSilent(After(15s - 1us), kAll), ElementsAre(SilentOf(2)));
  EXPECT_THAT(kept.TakeSilent(After(15s), kAll), ElementsAre(SilentOf(1)));
}

TEST(KeptSessionsTest, AnotherIncarnationStartsWithoutSessionsAndAtTheBeginningOfTime) {
  KeptSessions kept;
  kept.Opened(Kept(1), After(1h));
  kept.Opened(Kept(2), After(1h));
  EXPECT_THAT(kept.TakeSilent(After(2h), 1), ElementsAre(SilentOf(1)));
  kept.Departed(Numbered(3), 9);

  kept.Clear();

  EXPECT_EQ(kept.size(), 0U);
  EXPECT_EQ(kept.NextDue(), std::nullopt);
  kept.Ended(SilentOf(2));
  kept.Opened(Kept(3), After(0s));
  EXPECT_EQ(kept.NextDue(), After(10s));
  EXPECT_EQ(kept.OldestDue(), std::nullopt);
}

// Under thousands of random events, the index agrees with a scan of every session.
TEST(KeptSessionsTest, NoSilentSessionIsMissedAndNoOtherOneTaken) {
  for (uint32_t seed = 0; seed < 50; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](uint32_t bound) { return random() % bound; };
    struct Known {
      uint64_t moves;
      ServiceTime due;
    };
    KeptSessions kept;
    std::map<SessionId, Known> expected;  // what is kept
    std::vector<Silent> under_way;
    uint64_t moves = 0;
    ServiceTime now;
    for (int step = 0; step < 2'000; ++step) {
      now = now + Duration(1s) * below(3);
      const auto number = static_cast<uint8_t>(below(20));
      const SessionId id = Numbered(number);
      Session session = Kept(number, 0, Duration(1s) * (5 + number));
      session.lease_ttl_asked = session.lease_ttl / (1 + number % 3);
      switch (below(8)) {
        case 0:
          session.moves = ++moves;
          kept.Opened(session, now);
          expected[id] = {moves, now + session.lease_ttl};
          break;
        case 1:
          session.moves = ++moves;
          kept.Adopted(session, now, kGrace);
          expected[id] = {moves, now + kGrace + session.lease_ttl};
          break;
        case 2:
          kept.Departed(id, ++moves);
          expected.erase(id);
          break;
        case 3: {
          const size_t limit = 1 + below(3);
          const std::vector<Silent> silent = kept.TakeSilent(now, limit);
          for (const Silent& one : silent) {
            const auto found = expected.find(one.id);
            if (found != expected.end() && found->second.moves == one.moves) {
              ASSERT_LE(found->second.due, now) << "seed " << seed << ", step " << step;
              expected.erase(found);
            }
            under_way.push_back(one);
          }
          for (const auto& [other, known] : expected) {
            ASSERT_TRUE(silent.size() == limit || known.due > now)
                << "seed " << seed << ", step " << step;
          }
          break;
        }
        case 4:
          if (under_way.empty()) break;
          below(2) == 0 ? kept.Ended(under_way.back()) : kept.NotEnded(under_way.back());
          under_way.pop_back();
          break;
        default: {
          const auto found = expected.find(id);
          const auto renewal = kept.Renew(id, now);
          ASSERT_EQ(renewal.has_value(), found != expected.end())
              << "seed " << seed << ", step " << step;
          if (renewal) {
            found->second.due = std::max(found->second.due, now + renewal->session.lease_ttl);
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace tenure
