#include "core/homes/home_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tenure {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

using Orphaned = HomeWatch::Orphaned;

constexpr HomeId kHomeA{1};
constexpr HomeId kHomeB{2};

HomeRow Beating(HomeId home, uint64_t beat, Duration good_for = 3s) {
  return {.id = home, .beat = beat, .good_for = good_for};
}

TEST(HomeWatchTest, NobodyIsOverdueOrOrphanedBeforeTheFirstAnswer) {
  const HomeWatch watch;

  EXPECT_THAT(watch.Overdue(ServiceTime{1h}), IsEmpty());
  EXPECT_THAT(watch.Orphans(ServiceTime{1h}), IsEmpty());
}

TEST(HomeWatchTest, AHomeIsOverdueWhenItsBeatHasNotChangedForAsLongAsItIsGood) {
  HomeWatch watch;
  watch.Saw({Beating(kHomeA, 7)}, {}, ServiceTime{10s});

  EXPECT_THAT(watch.Overdue(ServiceTime{13s - 1us}), IsEmpty());
  EXPECT_THAT(watch.Overdue(ServiceTime{13s}), ElementsAre(Beating(kHomeA, 7)));
}

TEST(HomeWatchTest, SeeingTheSameBeatAgainIsNoSignOfLife) {
  HomeWatch watch;
  watch.Saw({Beating(kHomeA, 7)}, {}, ServiceTime{10s});
  watch.Saw({Beating(kHomeA, 7)}, {}, ServiceTime{12s});

  EXPECT_THAT(watch.Overdue(ServiceTime{13s}), ElementsAre(Beating(kHomeA, 7)));
}

TEST(HomeWatchTest, AnotherBeatIsASignOfLife) {
  HomeWatch watch;
  watch.Saw({Beating(kHomeA, 7), Beating(kHomeB, 7)}, {}, ServiceTime{10s});
  watch.Saw({Beating(kHomeA, 8), Beating(kHomeB, 7)}, {}, ServiceTime{13s});

  EXPECT_THAT(watch.Overdue(ServiceTime{13s}), ElementsAre(Beating(kHomeB, 7)));
  EXPECT_THAT(watch.Overdue(ServiceTime{16s}), ElementsAre(Beating(kHomeA, 8), Beating(kHomeB, 7)));
}

TEST(HomeWatchTest, AHomeHasItsFullTimeAgainAfterAnInterruption) {
  HomeWatch watch;
  watch.Saw({Beating(kHomeA, 7)}, {kHomeB}, ServiceTime{10s});
  watch.Interrupted();
  EXPECT_THAT(watch.Overdue(ServiceTime{13s}), IsEmpty());

  watch.Saw({Beating(kHomeA, 7)}, {kHomeB}, ServiceTime{12s});

  EXPECT_THAT(watch.Overdue(ServiceTime{15s - 1us}), IsEmpty());
  EXPECT_THAT(watch.Overdue(ServiceTime{15s}), ElementsAre(Beating(kHomeA, 7)));
  EXPECT_THAT(watch.Orphans(ServiceTime{15s}), ElementsAre(Orphaned{kHomeB, 5s}));
}

// The database lost commits, and nobody has noticed yet.
TEST(HomeWatchTest, AnEarlierBeatIsASignOfLifeToo) {
  HomeWatch watch;
  watch.Saw({Beating(kHomeA, 7)}, {}, ServiceTime{10s});
  watch.Saw({Beating(kHomeA, 6)}, {}, ServiceTime{12s});

  EXPECT_THAT(watch.Overdue(ServiceTime{14s}), IsEmpty());
}

TEST(HomeWatchTest, EachRowSaysHowLongItsBeatIsGood) {
  HomeWatch watch;
  watch.Saw({Beating(kHomeA, 7, 3s), Beating(kHomeB, 7, 10s)}, {}, ServiceTime{0s});
  EXPECT_THAT(watch.Overdue(ServiceTime{9s}), ElementsAre(Beating(kHomeA, 7, 3s)));

  watch.Saw({Beating(kHomeA, 7, 30s), Beating(kHomeB, 7, 10s)}, {}, ServiceTime{9s});

  EXPECT_THAT(watch.Overdue(ServiceTime{10s}), ElementsAre(Beating(kHomeB, 7, 10s)));
}

TEST(HomeWatchTest, NextOverdueIsTheEarliestHome) {
  HomeWatch watch;
  EXPECT_EQ(watch.NextOverdue(), std::nullopt);

  watch.Saw({Beating(kHomeA, 7, 5s), Beating(kHomeB, 7)}, {}, ServiceTime{10s});
  EXPECT_EQ(watch.NextOverdue(), ServiceTime{13s});
  watch.Saw({Beating(kHomeA, 7, 5s), Beating(kHomeB, 8)}, {}, ServiceTime{14s});
  EXPECT_EQ(watch.NextOverdue(), ServiceTime{15s});
}

// Somebody has written into the table.
TEST(HomeWatchTest, AHomeThatClaimsToBeGoodForAnAbsurdTimeBecomesOverdue) {
  HomeWatch watch;
  watch.Saw({Beating(kHomeA, 7, Duration::max()), Beating(kHomeB, 7, Duration::min())}, {},
            ServiceTime{10s});

  EXPECT_THAT(watch.Overdue(ServiceTime{10s}), ElementsAre(Beating(kHomeB, 7, Duration::min())));
  EXPECT_EQ(watch.Overdue(ServiceTime{10s + 1h}).size(), 2U);
}

TEST(HomeWatchTest, OrphansOfAHomeDeclaredDeadHereCountFromThatMoment) {
  HomeWatch watch;
  watch.Saw({Beating(kHomeA, 7)}, {}, ServiceTime{10s});

  watch.Died(kHomeA, ServiceTime{13s});
  EXPECT_THAT(watch.Overdue(ServiceTime{14s}), IsEmpty());
  watch.Saw({}, {kHomeA}, ServiceTime{14s});

  EXPECT_THAT(watch.Orphans(ServiceTime{15s}), ElementsAre(Orphaned{kHomeA, 2s}));
}

TEST(HomeWatchTest, ARowWhoseHomeOnlyLosesSessionsIsOverdue) {
  HomeWatch watch;
  watch.Saw({Beating(kHomeA, 7)}, {}, ServiceTime{10s});
  HomeRow departed = Beating(kHomeA, 7);
  departed.departures = 5;
  watch.Saw({departed}, {}, ServiceTime{12s});

  EXPECT_THAT(watch.Overdue(ServiceTime{13s}), ElementsAre(departed));
}

TEST(HomeWatchTest, SessionsAreOrphansOnceTheirLeaseHasPassedSinceTheHomeWasSeenDead) {
  HomeWatch watch;
  watch.Saw({Beating(kHomeA, 7)}, {}, ServiceTime{10s});
  watch.Saw({}, {kHomeA}, ServiceTime{20s});
  watch.Saw({}, {kHomeA, kHomeB}, ServiceTime{21s});

  EXPECT_THAT(watch.Overdue(ServiceTime{30s}), IsEmpty());
  EXPECT_THAT(watch.Orphans(ServiceTime{21s}),
              ElementsAre(Orphaned{kHomeA, 1s}, Orphaned{kHomeB, 0s}));
  EXPECT_THAT(watch.Orphans(ServiceTime{30s}),
              ElementsAre(Orphaned{kHomeA, 10s}, Orphaned{kHomeB, 9s}));
}

TEST(HomeWatchTest, AHomeThatHasNoSessionsLeftIsForgotten) {
  HomeWatch watch;
  watch.Saw({}, {kHomeA}, ServiceTime{10s});
  watch.Saw({}, {}, ServiceTime{20s});
  EXPECT_THAT(watch.Orphans(ServiceTime{20s}), IsEmpty());

  watch.Saw({}, {kHomeA}, ServiceTime{30s});

  EXPECT_THAT(watch.Orphans(ServiceTime{31s}), ElementsAre(Orphaned{kHomeA, 1s}));
}

TEST(HomeWatchTest, AHomeThatIsNotSeenForAWhileIsWatchedFromTheStart) {
  HomeWatch watch;
  watch.Saw({Beating(kHomeA, 7)}, {}, ServiceTime{10s});
  watch.Saw({}, {}, ServiceTime{11s});
  watch.Saw({Beating(kHomeA, 7)}, {}, ServiceTime{12s});

  EXPECT_THAT(watch.Overdue(ServiceTime{14s}), IsEmpty());
  EXPECT_THAT(watch.Overdue(ServiceTime{15s}), ElementsAre(Beating(kHomeA, 7)));
}

// The database lost the commits since its death.
TEST(HomeWatchTest, AHomeThatIsAliveAgainHasNoOrphans) {
  HomeWatch watch;
  watch.Saw({}, {kHomeA}, ServiceTime{10s});
  watch.Saw({Beating(kHomeA, 7)}, {}, ServiceTime{20s});

  EXPECT_THAT(watch.Orphans(ServiceTime{30s}), IsEmpty());
  EXPECT_THAT(watch.Overdue(ServiceTime{23s}), ElementsAre(Beating(kHomeA, 7)));
}

}  // namespace
}  // namespace tenure
