#include "server/calls/observe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/limits.h"
#include "server/calls/calls_testing.h"

namespace tenure::calls {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Three unsent messages are too many; then it goes on from the store, two events at a time, when
// one is left.
class ObserveTest : public ::testing::Test {
 protected:
  using Texts = std::vector<std::string>;

  Texts Begin(const std::vector<Selector>& selectors) {
    ObserveOptions options;
    options.unsent_max = 3;
    options.unsent_to_resume = 1;
    options.events_per_read = 2;
    options.names_per_read = 3;
    options.reads_max = 2;
    stream_ = Driver(Observe(Selection(selectors), options, budget_));
    return stream_.Step(Begun{});
  }
  static Selector Of(const std::string& election, std::optional<uint64_t> from = {}) {
    Selector selector{ElectionName{election}, {}};
    if (from) selector.from = Revision{*from};
    return selector;
  }
  static Selector Prefix(const std::string& prefix, std::optional<Revision> from = {}) {
    return {prefix, from};
  }

  // `at` is the revision of the election; nothing: nobody has ever campaigned.
  Texts Read(const std::string& name, std::optional<uint64_t> at, uint64_t history_from = 0,
             uint64_t term = 0) {
    std::optional<Election> election;
    if (at) {
      election.emplace();
      election->name = {name};
      election->revision = {*at};
      election->term = {term};
      election->history_from = {history_from};
    }
    return stream_.Step(ElectionRead{{name}, election});
  }
  // With a value of 4 KiB.
  Texts ReadLarge(const std::string& name) {
    Election election;
    election.name = {name};
    election.revision = {1};
    election.leader.emplace().value = std::string(4096, 'v');
    return stream_.Step(ElectionRead{{name}, election});
  }
  static std::shared_ptr<Event> LargeEvent(uint64_t revision) {
    auto event =
        std::make_shared<Event>(*ChangeOf("jobs", revision, EventType::kElected, "a", 1).event);
    event->leader.value = std::string(4096, 'v');
    return event;
  }
  Texts Listed(const std::vector<std::string>& names) {
    return stream_.Step(NamesRead{std::vector<ElectionName>(names.begin(), names.end())});
  }
  Texts ReadEvents(const std::string& name, const std::vector<uint64_t>& revisions,
                   uint64_t term = 1) {
    std::vector<Event> events;
    for (const uint64_t revision : revisions) {
      events.push_back(*ChangeOf(name, revision, EventType::kElected, "a", term).event);
    }
    return stream_.Step(EventsRead{{name}, events});
  }
  Texts Happens(const std::string& name, uint64_t revision, uint64_t term = 1) {
    return stream_.Step(ChangeOf(name, revision, EventType::kElected, "a", term));
  }
  Texts Sent() { return stream_.Step(Written{true}); }
  // Until nothing more is written.
  Texts SendAll() {
    Texts all;
    for (Texts texts = Sent(); !texts.empty(); texts = Sent()) {
      all.insert(all.end(), texts.begin(), texts.end());
    }
    return all;
  }
  // `jobs` is at revision 4, and the observer knows.
  void ObserveJobs() {
    Begin({Of("jobs")});
    Read("jobs", 4);
    SendAll();
  }

  std::shared_ptr<FixedBudget> budget_;
  Driver<Observe> stream_{Observe(Selection({}), {})};
};

// --- Opening ---

TEST_F(ObserveTest, BeginsWithAReadOfTheElection) {
  EXPECT_THAT(Begin({Of("jobs")}), ElementsAre("read jobs", "progress in 5000 ms"));
}

TEST_F(ObserveTest, SendsASnapshotThenProgress) {
  Begin({Of("jobs")});

  EXPECT_THAT(Read("jobs", 4), ElementsAre("write snapshot of jobs at 4"));
  EXPECT_THAT(SendAll(), ElementsAre("write progress"));
}

TEST_F(ObserveTest, SendsASnapshotOfAnElectionThatDoesNotExist) {
  Begin({Of("jobs")});
  EXPECT_THAT(Read("jobs", {}), ElementsAre("write snapshot of jobs at 0"));
}

TEST_F(ObserveTest, ResumesWithTheRevisionThatIsAskedFor) {
  EXPECT_THAT(Begin({Of("jobs", 3)}), ElementsAre("read jobs", "progress in 5000 ms"));
  EXPECT_THAT(Read("jobs", 4), ElementsAre("read jobs from 3, 2"));
  EXPECT_THAT(ReadEvents("jobs", {3, 4}), ElementsAre("write jobs 3 ELECTED"));
  EXPECT_THAT(SendAll(), ElementsAre("write jobs 4 ELECTED", "write progress"));
  EXPECT_THAT(Happens("jobs", 5), ElementsAre("write jobs 5 ELECTED"));
}

TEST_F(ObserveTest, ResumingAtTheEndMissesNothing) {
  Begin({Of("jobs", 5)});

  EXPECT_THAT(Read("jobs", 4), ElementsAre("write progress"));
  EXPECT_THAT(SendAll(), IsEmpty());
  EXPECT_THAT(Happens("jobs", 5), ElementsAre("write jobs 5 ELECTED"));
}

// The revision after the last is still to come. A higher one can only be of another history.
TEST_F(ObserveTest, ARevisionOfAnotherHistoryIsResynced) {
  Begin({Of("jobs", 6)});
  EXPECT_THAT(Read("jobs", 4), ElementsAre("write resync of jobs at 4", "count resync"));
}

TEST_F(ObserveTest, EventsThatAreGoneAreResynced) {
  Begin({Of("jobs", 2)});
  Read("jobs", 4);

  EXPECT_THAT(ReadEvents("jobs", {4}), ElementsAre("read jobs"));
  EXPECT_THAT(Read("jobs", 4), ElementsAre("write resync of jobs at 4", "count resync"));
}

TEST_F(ObserveTest, EventsThatAreGoneBetweenOthersAreResynced) {
  Begin({Of("jobs", 2)});
  Read("jobs", 5);

  EXPECT_THAT(ReadEvents("jobs", {2, 4}), ElementsAre("write jobs 2 ELECTED", "read jobs"));
  EXPECT_THAT(Read("jobs", 5), ElementsAre("count resync"));
  EXPECT_THAT(SendAll(), ElementsAre("write resync of jobs at 5", "write progress"));
}

TEST_F(ObserveTest, RevisionOneStandsForTheFirstEventWhateverItsNumber) {
  Begin({Of("jobs", 1)});
  EXPECT_THAT(Read("jobs", 102, 0, 101), ElementsAre("read jobs from 1, 2"));
  EXPECT_THAT(ReadEvents("jobs", {101, 102}, 101), ElementsAre("write jobs 101 ELECTED"));
  EXPECT_THAT(SendAll(), ElementsAre("write jobs 102 ELECTED", "write progress"));
  EXPECT_THAT(Happens("jobs", 103), ElementsAre("write jobs 103 ELECTED"));
}

TEST_F(ObserveTest, ALaterEventIsNotTakenForTheFirst) {
  Begin({Of("jobs", 1)});
  Read("jobs", 102, 0, 1);
  EXPECT_THAT(ReadEvents("jobs", {101, 102}, 99), ElementsAre("read jobs"));
  EXPECT_THAT(Read("jobs", 102), ElementsAre("write resync of jobs at 102", "count resync"));
}

TEST_F(ObserveTest, TheFirstEventIsGoneIfHistoryIsHidden) {
  Begin({Of("jobs", 1)});
  EXPECT_THAT(Read("jobs", 100, 101, 100),
              ElementsAre("write resync of jobs at 100", "count resync"));
}

TEST_F(ObserveTest, TheFirstEventIsStillToCome) {
  Begin({Of("jobs", 1), Of("mail", 1)});
  EXPECT_THAT(Read("jobs", 100, 0, 100), IsEmpty());  // it has begun after 100, without an event
  EXPECT_THAT(Read("mail", {}), ElementsAre("write progress"));
  SendAll();
  EXPECT_THAT(Happens("jobs", 101, 101), ElementsAre("write jobs 101 ELECTED"));
  SendAll();
  EXPECT_THAT(Happens("mail", 101, 101), ElementsAre("write mail 101 ELECTED"));
}

// The feed may publish it after a read has shown it.
TEST_F(ObserveTest, TheFirstEventIsSentOnceWhateverShowsItFirst) {
  Begin({Of("jobs", 1)});
  Read("jobs", 2, 0, 1);
  EXPECT_THAT(Happens("jobs", 1, 1), IsEmpty());
  EXPECT_THAT(ReadEvents("jobs", {1, 2}, 1), ElementsAre("write jobs 1 ELECTED"));
  EXPECT_THAT(SendAll(), ElementsAre("write jobs 2 ELECTED", "write progress"));
}

TEST_F(ObserveTest, AnElectionDeletedBeforeAnybodyLedItHidesNoEvents) {
  Begin({Of("jobs", 1)});
  EXPECT_THAT(Read("jobs", 0, 1), ElementsAre("write progress"));
  SendAll();
  EXPECT_THAT(Happens("jobs", 1), ElementsAre("write jobs 1 ELECTED"));
}

// --- Elections that are purged ---

TEST_F(ObserveTest, AnElectionPurgedAndCreatedAgainIsResynced) {
  ObserveJobs();

  EXPECT_THAT(Happens("jobs", 101, 101), ElementsAre("read jobs from 5, 2"));
  EXPECT_THAT(ReadEvents("jobs", {101}, 101), ElementsAre("read jobs"));
  EXPECT_THAT(Read("jobs", 101, 0, 101),
              ElementsAre("write resync of jobs at 101", "count resync"));
  SendAll();
  EXPECT_THAT(Happens("jobs", 102), ElementsAre("write jobs 102 ELECTED"));
}

// For example, if the observer has not read for a day.
TEST_F(ObserveTest, AFirstEventThatWasPurgedBeforeItWasSentIsResynced) {
  Begin({Of("jobs", 1)});
  EXPECT_THAT(Read("jobs", 2, 0, 1), ElementsAre("read jobs from 1, 2"));
  EXPECT_THAT(Happens("jobs", 101, 101), IsEmpty());

  EXPECT_THAT(ReadEvents("jobs", {101}, 101), ElementsAre("read jobs"));
  EXPECT_THAT(Read("jobs", 101), ElementsAre("write resync of jobs at 101", "count resync"));
}

TEST_F(ObserveTest, AnElectionThatWasPurgedBeforeItsEventsWereReadIsResyncedOnce) {
  ObserveJobs();

  EXPECT_THAT(Happens("jobs", 7), ElementsAre("read jobs from 5, 2"));
  EXPECT_THAT(ReadEvents("jobs", {}), ElementsAre("read jobs"));
  EXPECT_THAT(Read("jobs", {}), ElementsAre("write resync of jobs at 0", "count resync"));
  SendAll();
  EXPECT_THAT(Happens("jobs", 101, 101), ElementsAre("write jobs 101 ELECTED"));
}

TEST_F(ObserveTest, AnElectionCreatedAgainDuringAReadIsReadAgain) {
  ObserveJobs();

  EXPECT_THAT(Happens("jobs", 7), ElementsAre("read jobs from 5, 2"));
  EXPECT_THAT(ReadEvents("jobs", {}), ElementsAre("read jobs"));
  EXPECT_THAT(Happens("jobs", 101, 101), IsEmpty());
  EXPECT_THAT(Read("jobs", {}),
              ElementsAre("write resync of jobs at 0", "count resync", "read jobs from 1, 2"));
}

TEST_F(ObserveTest, ResumingInAPurgedElectionIsResynced) {
  Begin({Of("jobs", 5)});

  EXPECT_THAT(Read("jobs", {}), ElementsAre("write resync of jobs at 0", "count resync"));
  SendAll();
  EXPECT_THAT(Happens("jobs", 101, 101), ElementsAre("write jobs 101 ELECTED"));
}

TEST_F(ObserveTest, ResumingInAnElectionCreatedAgainIsResynced) {
  Begin({Of("jobs", 5)});

  EXPECT_THAT(Read("jobs", 102, 0, 101), ElementsAre("read jobs from 5, 2"));
  EXPECT_THAT(ReadEvents("jobs", {101, 102}, 101), ElementsAre("read jobs"));
  EXPECT_THAT(Read("jobs", 102), ElementsAre("write resync of jobs at 102", "count resync"));
}

TEST_F(ObserveTest, EventsDuringTheOpeningAreSentAfterwards) {
  Begin({Of("jobs")});
  EXPECT_THAT(Happens("jobs", 5), IsEmpty());

  EXPECT_THAT(Read("jobs", 4), ElementsAre("write snapshot of jobs at 4", "read jobs from 5, 2"));
  ReadEvents("jobs", {5});
  EXPECT_THAT(SendAll(), ElementsAre("write jobs 5 ELECTED", "write progress"));
}

// --- Prefixes ---

TEST_F(ObserveTest, APrefixIsListed) {
  EXPECT_THAT(Begin({Prefix("j")}), ElementsAre("list 'j'", "progress in 5000 ms"));
  EXPECT_THAT(Listed({"jam", "jobs"}), ElementsAre("read jam", "read jobs"));
}

TEST_F(ObserveTest, ASelectorOfAnElectionTakesPrecedenceOverAPrefix) {
  EXPECT_THAT(Begin({Prefix("j"), Of("jobs", 5)}),
              ElementsAre("list 'j'", "read jobs", "progress in 5000 ms"));
  EXPECT_THAT(Read("jobs", 4), IsEmpty());
  EXPECT_THAT(Listed({"jobs"}), ElementsAre("write progress"));
}

TEST_F(ObserveTest, PrefixesAreListedOneAfterTheOtherInPages) {
  EXPECT_THAT(Begin({Prefix("k"), Prefix("j")}), ElementsAre("list 'j'", "progress in 5000 ms"));
  EXPECT_THAT(Listed({"j1", "j2", "j3"}), ElementsAre("list 'j' after j3", "read j1"));
  EXPECT_THAT(Listed({"j4"}), ElementsAre("list 'k'"));
  EXPECT_THAT(Listed({}), ElementsAre("read j2"));
}

TEST_F(ObserveTest, NestedPrefixesAreListedOnceAndTheLongerOneSaysWhereToStart) {
  EXPECT_THAT(Begin({Prefix("jobs/", {{3}}), Prefix("j"), Prefix("j")}),
              ElementsAre("list 'j'", "progress in 5000 ms"));
  EXPECT_THAT(Listed({"jam", "jobs/1"}), ElementsAre("read jam", "read jobs/1"));
  EXPECT_THAT(Read("jobs/1", 4), ElementsAre("read jobs/1 from 3, 2"));
}

TEST_F(ObserveTest, AnElectionSelectedTwiceIsWatchedOnce) {
  const Selection selection({Prefix("j"), Prefix("jobs/"), Of("jobs/1"), Of("other"), Of("other")});
  const std::vector<engine::Watch> watches = Observe(selection, {}).Watches();

  EXPECT_THAT(watches, ElementsAre(engine::Watch(engine::WatchPrefix{"j"}),
                                   engine::Watch(engine::WatchElection{{"other"}})));
}

TEST_F(ObserveTest, APageOfThePreviousDatabaseIsIgnored) {
  Begin({Prefix("j")});
  EXPECT_THAT(stream_.Step(HistoryReset{}), IsEmpty());

  EXPECT_THAT(Listed({"jobs"}), ElementsAre("list 'j'"));
  EXPECT_THAT(Listed({}), ElementsAre("write progress"));
}

TEST_F(ObserveTest, AListThatFailsEndsTheStream) {
  Begin({Prefix("j")});
  EXPECT_THAT(stream_.Step(NamesRead{Unavailable()}), ElementsAre("error: the database is away"));
}

TEST_F(ObserveTest, NothingIsListedForAnObserverThatIsGone) {
  Begin({Prefix("j")});
  stream_.Step(Cancelled{});
  EXPECT_THAT(Listed({"j1", "j2", "j3"}), IsEmpty());
}

TEST_F(ObserveTest, ANewElectionIsSentFromItsBeginning) {
  Begin({Prefix("j")});
  Listed({});
  SendAll();

  EXPECT_THAT(Happens("jobs", 101, 101), ElementsAre("write jobs 101 ELECTED"));
  SendAll();
  EXPECT_THAT(Happens("jobs", 102), ElementsAre("write jobs 102 ELECTED"));
}

TEST_F(ObserveTest, AnElectionCreatedDuringTheListingIsSentFromItsBeginning) {
  Begin({Prefix("j")});
  EXPECT_THAT(Happens("jobs", 1), IsEmpty());
  EXPECT_THAT(Listed({}), ElementsAre("read jobs from 1, 2", "write progress"));
}

TEST_F(ObserveTest, TooManyElectionsAreRefused) {
  Begin({Prefix("j")});
  std::vector<ElectionName> names;
  for (size_t i = 0; i <= kObservedMax; ++i) names.push_back({"j" + std::to_string(i)});

  const auto texts = stream_.Step(NamesRead{names});
  EXPECT_EQ(texts.back(), "error: a stream can watch at most 10000 elections");
}

TEST_F(ObserveTest, NothingFollowsTheRefusalOfTooManyNames) {
  std::vector<Selector> selectors = {Prefix("j")};
  for (size_t i = 0; i <= kObservedMax + 1; ++i) selectors.push_back(Of("j" + std::to_string(i)));

  EXPECT_THAT(Begin(selectors), ElementsAre("list 'j'", "read j0",
                                            "error: a stream can watch at most 10000 elections"));
}

TEST_F(ObserveTest, TooManyNewElectionsAreRefused) {
  Begin({Prefix("j")});
  Listed({});
  for (size_t i = 0; i < kObservedMax; ++i) Happens("j" + std::to_string(i), 1);

  EXPECT_THAT(Happens("one more", 1),
              ElementsAre("error: a stream can watch at most 10000 elections"));
}

TEST_F(ObserveTest, TheNumberOfReadsUnderWayIsBounded) {
  EXPECT_THAT(Begin({Of("a"), Of("b"), Of("c")}),
              ElementsAre("read a", "read b", "progress in 5000 ms"));
  EXPECT_THAT(Read("a", 1), ElementsAre("write snapshot of a at 1", "read c"));
}

// --- Lagging behind ---

TEST_F(ObserveTest, AGapIsFilledFromTheStore) {
  ObserveJobs();

  EXPECT_THAT(Happens("jobs", 6), ElementsAre("read jobs from 5, 2"));
  EXPECT_THAT(ReadEvents("jobs", {5, 6}), ElementsAre("write jobs 5 ELECTED"));
  EXPECT_THAT(SendAll(), ElementsAre("write jobs 6 ELECTED"));
}

TEST_F(ObserveTest, EventsAreNotSentTwice) {
  ObserveJobs();
  EXPECT_THAT(Happens("jobs", 4), IsEmpty());
}

TEST_F(ObserveTest, ASlowObserverGoesOnFromTheStore) {
  ObserveJobs();
  EXPECT_THAT(Happens("jobs", 5), ElementsAre("write jobs 5 ELECTED"));
  for (uint64_t revision : {6, 7, 8}) EXPECT_THAT(Happens("jobs", revision), IsEmpty());
  // No more is kept than this: the rest is in the store.
  for (uint64_t revision : {9, 10}) EXPECT_THAT(Happens("jobs", revision), IsEmpty());

  EXPECT_THAT(Sent(), ElementsAre("write jobs 6 ELECTED"));
  EXPECT_THAT(Sent(), ElementsAre("write jobs 7 ELECTED", "read jobs from 9, 2"));
  EXPECT_THAT(ReadEvents("jobs", {9, 10}), IsEmpty());
  EXPECT_THAT(SendAll(),
              ElementsAre("write jobs 8 ELECTED", "write jobs 9 ELECTED", "write jobs 10 ELECTED"));
  EXPECT_THAT(Happens("jobs", 11), ElementsAre("write jobs 11 ELECTED"));
}

// Two messages of the largest size are free.
TEST_F(ObserveTest, WithoutABudgetForMoreElectionsAreReadOneAfterTheOther) {
  budget_ = std::make_shared<FixedBudget>();
  Begin({Of("a"), Of("b"), Of("c"), Of("d"), Of("e")});
  EXPECT_THAT(ReadLarge("a"), ElementsAre("write snapshot of a at 1", "read c"));
  EXPECT_THAT(ReadLarge("b"), ElementsAre("read d"));
  EXPECT_THAT(ReadLarge("c"), IsEmpty());
  EXPECT_THAT(ReadLarge("d"), IsEmpty());

  EXPECT_THAT(Sent(), ElementsAre("write snapshot of b at 1"));
  EXPECT_THAT(Sent(), ElementsAre("write snapshot of c at 1", "read d"));
  EXPECT_THAT(ReadLarge("d"), IsEmpty());
  EXPECT_THAT(Sent(), ElementsAre("write snapshot of d at 1", "read e"));
  EXPECT_THAT(ReadLarge("e"), IsEmpty());
  EXPECT_THAT(SendAll(), ElementsAre("write snapshot of e at 1", "write progress"));
}

TEST_F(ObserveTest, EventsBeyondTheBudgetComeFromTheStore) {
  budget_ = std::make_shared<FixedBudget>();
  ObserveJobs();
  EXPECT_THAT(stream_.Step(Changed{LargeEvent(5)}), ElementsAre("write jobs 5 ELECTED"));
  for (uint64_t revision = 6; revision < 10; ++revision) {
    EXPECT_THAT(stream_.Step(Changed{LargeEvent(revision)}), IsEmpty());
  }

  EXPECT_THAT(Sent(), ElementsAre("write jobs 6 ELECTED"));
  EXPECT_THAT(Sent(), ElementsAre("write jobs 7 ELECTED", "read jobs from 8, 2"));
  EXPECT_THAT(stream_.Step(EventsRead{{"jobs"}, std::vector{*LargeEvent(8), *LargeEvent(9)}}),
              IsEmpty());
  EXPECT_THAT(SendAll(), ElementsAre("write jobs 8 ELECTED", "write jobs 9 ELECTED"));
}

TEST_F(ObserveTest, UnsentBytesGoBackToTheBudget) {
  budget_ = std::make_shared<FixedBudget>();
  budget_->left = 10'000;
  ObserveJobs();
  for (uint64_t revision = 5; revision < 9; ++revision) {
    stream_.Step(Changed{LargeEvent(revision)});
  }
  EXPECT_LT(budget_->left, 10'000u);

  stream_ = Driver(Observe(Selection({}), {}));

  EXPECT_EQ(budget_->left, 10'000u);
}

TEST_F(ObserveTest, AReadThatFailsEndsTheStream) {
  ObserveJobs();
  Happens("jobs", 6);
  EXPECT_THAT(stream_.Step(EventsRead{{"jobs"}, Unavailable()}),
              ElementsAre("error: the database is away"));
}

// --- Progress ---

TEST_F(ObserveTest, ProgressIsSentPeriodically) {
  ObserveJobs();
  EXPECT_THAT(stream_.Step(Due{TimerId::kProgress}),
              ElementsAre("write progress", "progress in 5000 ms"));
}

TEST_F(ObserveTest, ProgressIsNotSentWhileSomethingIsMissing) {
  ObserveJobs();
  Happens("jobs", 6);
  EXPECT_THAT(stream_.Step(Due{TimerId::kProgress}), ElementsAre("progress in 5000 ms"));
}

// An event may come between the two.
TEST_F(ObserveTest, ProgressHasTheTimeOfItsStateNotOfItsWriting) {
  ObserveJobs();
  Happens("jobs", 5);
  stream_.Step(Due{TimerId::kProgress});
  Happens("jobs", 6);
  stream_.Advance(100ms);

  EXPECT_THAT(Sent(), ElementsAre("write progress 100 ms ago"));
}

// --- The end ---

TEST_F(ObserveTest, AReplacedDatabaseIsResynced) {
  ObserveJobs();

  EXPECT_THAT(stream_.Step(HistoryReset{}), ElementsAre("read jobs"));
  EXPECT_THAT(Read("jobs", 2), ElementsAre("write resync of jobs at 2", "count resync"));
}

TEST_F(ObserveTest, AReadOfThePreviousDatabaseIsIgnored) {
  ObserveJobs();
  Happens("jobs", 6);
  EXPECT_THAT(stream_.Step(HistoryReset{}), IsEmpty());

  EXPECT_THAT(ReadEvents("jobs", {5, 6}), ElementsAre("read jobs"));
  EXPECT_THAT(Read("jobs", 2), ElementsAre("write resync of jobs at 2", "count resync"));
}

TEST_F(ObserveTest, APrefixIsListedAgainInAReplacedDatabase) {
  Begin({Prefix("j")});
  Listed({});
  SendAll();

  EXPECT_THAT(stream_.Step(HistoryReset{}), ElementsAre("list 'j'"));
  EXPECT_THAT(Listed({"jobs"}), ElementsAre("read jobs"));
  EXPECT_THAT(Read("jobs", 2), ElementsAre("write resync of jobs at 2", "count resync"));
}

TEST_F(ObserveTest, AShutdownEndsTheStream) {
  ObserveJobs();
  EXPECT_THAT(stream_.Step(Drained{}), ElementsAre("error: this replica is shutting down"));
  EXPECT_THAT(Happens("jobs", 5), IsEmpty());
}

TEST_F(ObserveTest, NothingIsSentToAnObserverThatIsGone) {
  ObserveJobs();
  EXPECT_THAT(stream_.Step(Cancelled{}), ElementsAre("hang up"));
  EXPECT_THAT(Happens("jobs", 5), IsEmpty());
}

}  // namespace
}  // namespace tenure::calls
