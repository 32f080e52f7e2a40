#include "core/homes/own_row.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace tenure {
namespace {

using namespace std::chrono_literals;
using OwnWrite = OwnRow::Write;

constexpr HomeId kMe{42};
constexpr Duration kGoodFor = 10s;  // so that a beat is good for 9 s

HomeTime Moment(HomeTime::duration since_start) { return HomeTime(1h) + since_start; }

OwnRow NewRow() { return OwnRow(kMe, kGoodFor); }

OwnWrite Beat(OwnRow& row, HomeTime sent, HomeTime answered) {
  const OwnWrite write = row.Begin(sent);
  row.OnBeat(write, answered);
  return write;
}
OwnWrite Adoption(OwnRow& row) {
  const OwnWrite write = row.Begin(Moment(0s));
  row.OnNumbered(write);
  return write;
}
OwnWrite LostReply(OwnRow& row) {
  const OwnWrite write = row.Begin(Moment(0s));
  row.OnUnknown(write);
  return write;
}

// The row as the database keeps it.
struct HomeDatabase {
  HomeRow row{.id = kMe, .good_for = kGoodFor};

  bool Make(const OwnWrite& write) {
    const bool expected = write.acknowledged <= row.beat && row.beat < write.number;
    const bool made = !row.dead && expected;
    if (made) row.beat = write.number;
    return made;
  }
};

// Goodness.

TEST(OwnRowTest, TheBeatIsNotGoodBeforeTheFirstAcknowledgement) {
  OwnRow row = NewRow();
  EXPECT_FALSE(row.GoodAt(Moment(0s)));

  LostReply(row);

  EXPECT_FALSE(row.GoodAt(Moment(0s)));
  EXPECT_EQ(row.ServiceTimeAt(Moment(1h)), ServiceTime{0s});
}

TEST(OwnRowTest, ABeatIsGoodForNineTenthsFromBeforeItWasSent) {
  OwnRow row = NewRow();

  Beat(row, Moment(0s), Moment(5s));

  EXPECT_EQ(row.good_until(), Moment(9s));
  EXPECT_TRUE(row.GoodAt(Moment(9s) - 1ns));
  EXPECT_FALSE(row.GoodAt(Moment(9s)));
}

TEST(OwnRowTest, ABeatThatIsAcknowledgedTooLateIsNotGood) {
  OwnRow row = NewRow();

  Beat(row, Moment(0s), Moment(9s));

  EXPECT_FALSE(row.GoodAt(Moment(9s)));
  EXPECT_EQ(row.ServiceTimeAt(Moment(20s)), ServiceTime{0s});
}

TEST(OwnRowTest, AnAdoptionIsNoBeat) {
  OwnRow row = NewRow();
  Adoption(row);
  EXPECT_FALSE(row.GoodAt(Moment(0s)));

  Beat(row, Moment(0s), Moment(0s));
  const OwnWrite adoption = row.Begin(Moment(8s));
  row.OnNumbered(adoption);

  EXPECT_EQ(row.good_until(), Moment(9s));
}

TEST(OwnRowTest, GoodnessIsNeverShortened) {
  OwnRow row = NewRow();
  Beat(row, Moment(3s), Moment(3s));

  Beat(row, Moment(2s), Moment(4s));

  EXPECT_EQ(row.good_until(), Moment(12s));
}

// The service clock.

TEST(OwnRowTest, TheServiceClockRunsOnlyWhileTheBeatIsGood) {
  OwnRow row = NewRow();
  Beat(row, Moment(0s), Moment(1s));

  EXPECT_EQ(row.ServiceTimeAt(Moment(1s)), ServiceTime{0s});
  EXPECT_EQ(row.ServiceTimeAt(Moment(4s)), ServiceTime{3s});
  EXPECT_EQ(row.ServiceTimeAt(Moment(9s)), ServiceTime{8s});
  EXPECT_EQ(row.ServiceTimeAt(Moment(1h)), ServiceTime{8s});
}

TEST(OwnRowTest, WithABeatInTimeTheServiceClockRunsOn) {
  OwnRow row = NewRow();
  Beat(row, Moment(0s), Moment(0s));
  Beat(row, Moment(8s), Moment(9s) - 1ns);

  EXPECT_EQ(row.ServiceTimeAt(Moment(17s)), ServiceTime{17s});
}

TEST(OwnRowTest, AnOutageAgesNobody) {
  OwnRow row = NewRow();
  Beat(row, Moment(0s), Moment(0s));

  // Sent during the outage, and acknowledged after it.
  Beat(row, Moment(100s), Moment(103s));

  EXPECT_EQ(row.ServiceTimeAt(Moment(103s)), ServiceTime{9s}) << "pauses, and does not start again";
  EXPECT_EQ(row.ServiceTimeAt(Moment(105s)), ServiceTime{11s});
  EXPECT_EQ(row.ServiceTimeAt(Moment(200s)), ServiceTime{15s}) << "good from 103 s to 109 s";
}

TEST(OwnRowTest, ABeatThatIsAcknowledgedAtTheVeryEndBeginsAnInterval) {
  OwnRow row = NewRow();
  Beat(row, Moment(0s), Moment(0s));
  Beat(row, Moment(8s), Moment(9s));

  EXPECT_EQ(row.ServiceTimeAt(Moment(17s)), ServiceTime{17s});
}

// Two threads may ask in a different order from the one in which they read the machine's clock.
TEST(OwnRowTest, TheServiceClockShowsNoLessThanAtTheBeginningOfTheInterval) {
  OwnRow row = NewRow();
  Beat(row, Moment(0s), Moment(0s));
  Beat(row, Moment(100s), Moment(103s));

  EXPECT_EQ(row.ServiceTimeAt(Moment(102s)), ServiceTime{9s});
}

TEST(OwnRowTest, WhenIsTheFirstMomentAtWhichTheServiceClockShowsTheTime) {
  OwnRow row = NewRow();
  Beat(row, Moment(0s), Moment(0s) + 1ns);
  Beat(row, Moment(100s), Moment(103s) + 1ns);

  const HomeTime when = row.When(ServiceTime{12s});

  EXPECT_EQ(row.ServiceTimeAt(when), ServiceTime{12s});
  EXPECT_LT(row.ServiceTimeAt(when - 1ns), ServiceTime{12s});
}

TEST(OwnRowTest, WhenMayBeAfterTheBeatIsGood) {
  OwnRow row = NewRow();
  Beat(row, Moment(0s), Moment(0s));
  EXPECT_EQ(row.When(ServiceTime{20s}), Moment(20s));

  Beat(row, Moment(8s), Moment(8s));

  EXPECT_EQ(row.When(ServiceTime{20s}), Moment(20s));
}

TEST(OwnRowTest, TheServiceClockNeverGoesBack) {
  std::mt19937 random(7);
  OwnRow row = NewRow();
  ServiceTime last;
  HomeTime now = Moment(0s);
  for (int step = 0; step < 10'000; ++step) {
    const OwnWrite write = row.Begin(now);
    now += std::chrono::milliseconds(random() % 12'000);
    const ServiceTime before = row.ServiceTimeAt(now);
    row.OnBeat(write, now);

    ASSERT_EQ(row.ServiceTimeAt(now), before) << "an acknowledgement does not set it";
    ASSERT_GE(before, last);
    last = before;
    now += std::chrono::milliseconds(random() % 3'000);
  }
  EXPECT_GT(last, ServiceTime{1h});
}

// Numbers and doubt.

TEST(OwnRowTest, NumbersRiseByOneAndTheAcknowledgedOneIsExpected) {
  OwnRow row = NewRow();
  const OwnWrite first = row.Begin(Moment(1s));
  EXPECT_EQ(first.home, kMe);
  EXPECT_EQ(first.number, 1U);
  EXPECT_EQ(first.acknowledged, 0U);
  EXPECT_EQ(first.sent, Moment(1s));
  row.OnBeat(first, Moment(1s));

  const OwnWrite second = row.Begin(Moment(2s));
  EXPECT_EQ(second.number, 2U);
  EXPECT_EQ(second.acknowledged, 1U);
}

TEST(OwnRowTest, LostRepliesLeaveNumbersInDoubtUntilTheNextAcknowledgement) {
  OwnRow row = NewRow();
  Beat(row, Moment(0s), Moment(0s));
  LostReply(row);
  LostReply(row);

  const OwnWrite next = row.Begin(Moment(0s));
  EXPECT_EQ(next.acknowledged, 1U);
  EXPECT_EQ(next.number, 4U);

  row.OnNumbered(next);
  EXPECT_EQ(row.Begin(Moment(0s)).acknowledged, 4U);
}

TEST(OwnRowTest, ARefusedWriteIsNotInDoubtButAnEarlierOneStaysSo) {
  OwnRow row = NewRow();
  Beat(row, Moment(0s), Moment(0s));
  LostReply(row);
  row.OnRefused(row.Begin(Moment(0s)));

  const OwnWrite next = row.Begin(Moment(0s));

  EXPECT_EQ(next.acknowledged, 1U);
  EXPECT_EQ(next.number, 3U);
}

TEST(OwnRowTest, AWriteRemembersTheDeparturesThatWereKnown) {
  OwnRow row = NewRow();
  row.Knows(5);
  row.Knows(3);

  EXPECT_EQ(row.Begin(Moment(0s)).departures, 5U);
}

// What the row says after a beat.

struct RowSight {
  const char* what;
  std::optional<HomeRow> row;
  OwnRow::Verdict expected;
};

TEST(OwnRowTest, AWriteIsJudgedByTheRow) {
  OwnRow row = NewRow();
  row.Knows(5);
  Beat(row, Moment(0s), Moment(0s));
  Beat(row, Moment(0s), Moment(0s));
  LostReply(row);
  const OwnWrite write = row.Begin(Moment(0s));  // number 4; 2 is acknowledged, 3 in doubt
  const auto sees = [](uint64_t beat, uint64_t departures, bool dead = false) {
    return HomeRow{.id = kMe, .beat = beat, .dead = dead, .departures = departures};
  };

  for (const RowSight& sight : std::vector<RowSight>{
           {"the lost reply's write was made late", sees(3, 5), OwnRow::Verdict::kAgain},
           {"the row matches again", sees(2, 5), OwnRow::Verdict::kAgain},
           {"declared dead", sees(2, 5, true), OwnRow::Verdict::kDead},
           {"declared dead after departures", sees(3, 9, true), OwnRow::Verdict::kDead},
           {"a copy of this machine was faster", sees(4, 5), OwnRow::Verdict::kOver},
           {"a copy of this machine is far ahead", sees(9, 9), OwnRow::Verdict::kOver},
           {"an acknowledged beat is lost", sees(1, 5), OwnRow::Verdict::kWentBack},
           {"a departure is lost", sees(2, 4), OwnRow::Verdict::kWentBack},
           {"a copy, in a database that lost a departure", sees(9, 4), OwnRow::Verdict::kWentBack},
           {"dead in an earlier life of the database", sees(1, 5, true),
            OwnRow::Verdict::kWentBack},
           {"no row", std::nullopt, OwnRow::Verdict::kWentBack}}) {
    EXPECT_EQ(OwnRow::Judge(write, false, sight.row), sight.expected) << sight.what;
  }
  EXPECT_EQ(OwnRow::Judge(write, true, sees(4, 5)), OwnRow::Verdict::kMade);
  EXPECT_EQ(OwnRow::Judge(write, true, sees(4, 9)), OwnRow::Verdict::kMade);
  EXPECT_EQ(OwnRow::Judge(write, true, sees(4, 9, true)), OwnRow::Verdict::kMade)
      << "it was declared dead since";
  EXPECT_EQ(OwnRow::Judge(write, true, sees(4, 4)), OwnRow::Verdict::kWentBack);
}

TEST(OwnRowTest, ALostReplyIsNotADatabaseThatWentBack) {
  OwnRow row = NewRow();
  HomeDatabase database;
  ASSERT_TRUE(database.Make(Beat(row, Moment(0s), Moment(0s))));
  ASSERT_TRUE(database.Make(LostReply(row)));
  ASSERT_TRUE(database.Make(LostReply(row)));

  const OwnWrite next = row.Begin(Moment(0s));

  ASSERT_TRUE(database.Make(next));
  EXPECT_EQ(OwnRow::Judge(next, true, database.row), OwnRow::Verdict::kMade);
}

// A write that hangs must not undo a later one.
TEST(OwnRowTest, AWriteThatArrivesAfterALaterOneIsNotMade) {
  OwnRow row = NewRow();
  HomeDatabase database;
  const OwnWrite late = LostReply(row);
  ASSERT_TRUE(database.Make(Beat(row, Moment(0s), Moment(0s))));

  EXPECT_FALSE(database.Make(late));
  EXPECT_TRUE(database.Make(row.Begin(Moment(0s))));
}

// A snapshot of a machine was started twice: both copies have the same row and the same numbers.
TEST(OwnRowTest, OneOfTwoCopiesOfAMachineEnds) {
  OwnRow copy_a = NewRow();
  HomeDatabase database;
  ASSERT_TRUE(database.Make(Beat(copy_a, Moment(0s), Moment(0s))));
  OwnRow copy_b = copy_a;

  ASSERT_TRUE(database.Make(Beat(copy_a, Moment(1s), Moment(1s))));
  const OwnWrite refused = copy_b.Begin(Moment(1s));

  EXPECT_FALSE(database.Make(refused));
  EXPECT_EQ(OwnRow::Judge(refused, false, database.row), OwnRow::Verdict::kOver);
}

TEST(OwnRowTest, ACopyDoesNotPassForARefusedWrite) {
  OwnRow copy_a = NewRow();
  HomeDatabase database;
  ASSERT_TRUE(database.Make(Beat(copy_a, Moment(0s), Moment(0s))));
  OwnRow copy_b = copy_a;
  copy_a.OnRefused(copy_a.Begin(Moment(1s)));

  ASSERT_TRUE(database.Make(Beat(copy_b, Moment(1s), Moment(1s))));
  const OwnWrite again = copy_a.Begin(Moment(1s));

  EXPECT_FALSE(database.Make(again));
  EXPECT_EQ(OwnRow::Judge(again, false, database.row), OwnRow::Verdict::kOver);
}

// Lost replies, writes that are made late or never: whatever happens to one machine and a database
// that loses nothing, each write is made.
TEST(OwnRowTest, OneMachineOnASoundDatabaseGoesOn) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    const auto one_in = [&](uint32_t times) { return random() % times == 0; };
    OwnRow row = NewRow();
    HomeDatabase database;
    std::vector<OwnWrite> hanging;
    for (int step = 0; step < 500; ++step) {
      if (!hanging.empty() && one_in(3)) {
        database.Make(hanging.back());
        hanging.pop_back();
      }
      const OwnWrite write = row.Begin(Moment(std::chrono::seconds(step)));
      if (one_in(6)) {
        hanging.push_back(write);
        row.OnUnknown(write);
        continue;
      }
      const bool made = database.Make(write);
      ASSERT_EQ(OwnRow::Judge(write, made, database.row), OwnRow::Verdict::kMade)
          << "seed " << seed << ", step " << step;
      if (one_in(6)) {
        row.OnUnknown(write);
      } else if (one_in(2)) {
        row.OnBeat(write, Moment(std::chrono::seconds(step)));
      } else {
        row.OnNumbered(write);
      }
    }
    EXPECT_GE(row.good_until(), Moment(400s)) << "seed " << seed;
  }
}

}  // namespace
}  // namespace tenure
