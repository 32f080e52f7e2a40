// The feed is driven by hand, on a real store: `here` commits as this replica does, and `elsewhere`
// as another does.
#include "server/engine/feed/change_feed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/law/purging.h"
#include "core/limits.h"
#include "server/engine/engine_testing.h"

namespace tenure::engine {
namespace {

using namespace tenure::testing;

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

constexpr auto kInterval = 10ms;
// How long it takes until terms are raised in a database that lost commits.
constexpr auto kRepaired = kLease + 4s;

class ChangeFeedTest : public ::testing::Test {
 protected:
  struct Change {
    PartitionOffset at;
    std::vector<Event> events;
  };

  void Start() {
    ASSERT_TRUE(lineage_.Join());
    ASSERT_TRUE(feed_.ReadSessionKey());
    ASSERT_TRUE(feed_.Start());
  }

  // Commits, without telling the feed.
  Change Commit(Store& store, const Command& command) {
    auto committed = store.Transact(LockSetOf({&command}), {}, [&](TransactionState& transaction) {
      EXPECT_TRUE(Apply(transaction, {}, command));
    });
    EXPECT_TRUE(committed && committed->offsets.size() == 1);
    return {committed->offsets.front(), std::move(committed->transaction.events)};
  }
  void Elsewhere(const Command& command) { (void)Commit(database_.store(), command); }
  void Here(const Command& command) { Publish(Commit(database_.store(), command)); }
  void Publish(Change change) {
    if (const auto point = lineage_.point()) lineage_.Saw({change.at}, point->epoch);
    feed_.OnCommitted(change.at, std::move(change.events));
  }

  // As an operator's purge does.
  Change Purge(const ElectionName& name) {
    LockSet locks;
    locks.elections[name].past = true;
    const auto committed =
        database_.store().Transact(locks, {}, [&](TransactionState& transaction) {
          uint64_t events_max = 1'000;
          EXPECT_EQ(Apply(transaction, {Duration(0), false, {}}, name, events_max), Purged::kYes);
        });
    return {committed.value().offsets.at(0), {}};
  }

  // "a" leads since revision 1; `value` makes the next.
  Command Value(const std::string& value) { return Say("orders", "a", {1}, value); }

  ManualScheduler scheduler_;
  Database database_{scheduler_};
  FaultyStore store_{database_.store()};
  Metrics metrics_;
  ReplicaState replica_{
      .store = store_,
      .scheduler = scheduler_,
      .metrics = metrics_,
      .hub = WatchHub(10),
      .lineage = Lineage(store_, scheduler_, metrics_, OnLostCommits::kRecover, 1),
      .clock = {},
      .cache = {},
      .home = HomeState(scheduler_)};
  WatchHub& hub_ = replica_.hub;
  Lineage& lineage_ = replica_.lineage;
  StateCache& cache_ = replica_.cache;
  ChangeFeed feed_{replica_, kInterval};
  Watching watching_{hub_, {WatchPrefix{""}}};
};

TEST_F(ChangeFeedTest, ChangesBeforeItsStartAreNotReported) {
  Elsewhere(Stand("orders", "a"));
  Start();

  scheduler_.Advance(1s);

  EXPECT_THAT(watching_.lines(), IsEmpty());
}

TEST_F(ChangeFeedTest, ItDoesNotStartWithoutTheStore) {
  ASSERT_TRUE(lineage_.Join());
  store_.FailNext(1);

  EXPECT_THAT(feed_.Start(), FailsWith(Reason::kStoreUnavailable));
  EXPECT_EQ(scheduler_.Waiting(), 0u);

  EXPECT_TRUE(feed_.Start());
}

TEST_F(ChangeFeedTest, ALocalChangeIsReportedAtOnceWithoutReading) {
  Start();

  Here(Stand("orders", "a"));

  EXPECT_THAT(watching_.lines(), ElementsAre("orders 1 ELECTED a term 1"));
  EXPECT_EQ(scheduler_.RunReady(), 0u);
}

TEST_F(ChangeFeedTest, TheServersDescriptionIsReadEvery30Seconds) {
  Start();
  const uint64_t before = lineage_.point()->epoch;
  store_.Describe([](ServerIdentity& server) { server.lossless = !server.lossless; });
  scheduler_.Advance(29s);
  EXPECT_EQ(lineage_.point()->epoch, before);

  scheduler_.Advance(1s + kInterval);

  EXPECT_GT(lineage_.point()->epoch, before);
  EXPECT_EQ(store_.Calls("AgreeOnHistory"), 2);
  Elsewhere(Stand("orders", "a"));
  scheduler_.Advance(1s);
  EXPECT_THAT(watching_.lines(), ElementsAre("orders 1 ELECTED a term 1"));
}

TEST_F(ChangeFeedTest, ALocalChangeIsReportedOnce) {
  Start();
  Here(Stand("orders", "a"));

  scheduler_.Advance(1s);

  EXPECT_THAT(watching_.lines(), SizeIs(1));
  EXPECT_EQ(store_.Calls("ReadFeed"), 0);
}

TEST_F(ChangeFeedTest, ARemoteChangeIsReportedOnceAfterThePoll) {
  Start();
  Elsewhere(Stand("orders", "a"));

  EXPECT_THAT(watching_.lines(), IsEmpty());
  scheduler_.Advance(kInterval);
  EXPECT_THAT(watching_.lines(), ElementsAre("orders 1 ELECTED a term 1"));
  scheduler_.Advance(1s);
  EXPECT_THAT(watching_.lines(), SizeIs(1));
}

TEST_F(ChangeFeedTest, ARemoteChangeIsReportedSoonAfterItsAnnouncement) {
  Start();
  const Change change = Commit(database_.store(), Stand("orders", "a"));
  PartitionOffsets announced{};
  announced.at(static_cast<size_t>(change.at.partition)) = change.at.offset;

  feed_.Nudged(announced);
  scheduler_.RunReady();

  EXPECT_THAT(watching_.lines(), ElementsAre("orders 1 ELECTED a term 1"));
}

TEST_F(ChangeFeedTest, AKnownChangeIsNotReadAgainWhenItIsAnnounced) {
  Start();
  const Change change = Commit(database_.store(), Stand("orders", "a"));
  PartitionOffsets announced{};
  announced.at(static_cast<size_t>(change.at.partition)) = change.at.offset;
  Publish(change);
  const int reads = store_.Calls("ReadPartitions");

  feed_.Nudged(announced);
  feed_.Nudged({});
  scheduler_.RunReady();

  EXPECT_EQ(store_.Calls("ReadPartitions"), reads);
}

TEST_F(ChangeFeedTest, FalseAnnouncementsCostFewReads) {
  Start();
  const int reads = store_.Calls("ReadPartitions");
  for (int i = 0; i < 8; ++i) {
    for (int n = 0; n < 1000; ++n) feed_.Nudged({~0UL, ~0UL, ~0UL, ~0UL});
    scheduler_.Advance(1ms);
  }

  EXPECT_LE(store_.Calls("ReadPartitions") - reads, 5);
  Elsewhere(Stand("orders", "a"));
  scheduler_.Advance(kInterval);
  EXPECT_THAT(watching_.lines(), ElementsAre("orders 1 ELECTED a term 1"));
}

TEST_F(ChangeFeedTest, ALocalChangeIsReportedAfterAnEarlierRemoteOne) {
  Start();
  Elsewhere(Stand("orders", "a"));
  Here(Value("v"));

  EXPECT_THAT(watching_.lines(), IsEmpty());
  scheduler_.RunReady();

  EXPECT_THAT(watching_.lines(),
              ElementsAre("orders 1 ELECTED a term 1", "orders 2 PROCLAIMED a term 1 v"));
}

TEST_F(ChangeFeedTest, LocalAndRemoteChangesKeepTheirOrder) {
  Start();
  Here(Stand("orders", "a"));
  Elsewhere(Value("2"));
  Here(Value("3"));
  Here(Value("4"));
  Elsewhere(Value("5"));
  Here(Value("6"));

  scheduler_.Advance(1s);

  EXPECT_THAT(watching_.lines(),
              ElementsAre("orders 1 ELECTED a term 1", "orders 2 PROCLAIMED a term 1 2",
                          "orders 3 PROCLAIMED a term 1 3", "orders 4 PROCLAIMED a term 1 4",
                          "orders 5 PROCLAIMED a term 1 5", "orders 6 PROCLAIMED a term 1 6"));
}

TEST_F(ChangeFeedTest, LocalChangesReportedLateKeepTheirOrder) {
  Start();
  const Change first = Commit(database_.store(), Stand("orders", "a"));
  const Change second = Commit(database_.store(), Value("2"));
  const Change third = Commit(database_.store(), Value("3"));

  Publish(third);
  Publish(first);
  Publish(second);

  EXPECT_THAT(watching_.lines(),
              ElementsAre("orders 1 ELECTED a term 1", "orders 2 PROCLAIMED a term 1 2",
                          "orders 3 PROCLAIMED a term 1 3"));
  scheduler_.Advance(1s);
  EXPECT_THAT(watching_.lines(), SizeIs(3));
}

TEST_F(ChangeFeedTest, ALocalChangeFoundByThePollFirstIsReportedOnce) {
  Start();
  Change change = Commit(database_.store(), Stand("orders", "a"));
  scheduler_.Advance(kInterval);
  ASSERT_THAT(watching_.lines(), SizeIs(1));

  Publish(std::move(change));
  scheduler_.Advance(1s);

  EXPECT_THAT(watching_.lines(), SizeIs(1));
}

TEST_F(ChangeFeedTest, ALocalChangeCommittedDuringAReadIsReportedOnce) {
  Start();
  Elsewhere(Stand("orders", "a"));
  store_.After([&](const std::string& call) {
    if (call != "ReadPartitions") return;
    store_.After({});
    Here(Value("2"));
    Elsewhere(Value("3"));
  });

  scheduler_.Advance(1s);

  EXPECT_THAT(watching_.lines(),
              ElementsAre("orders 1 ELECTED a term 1", "orders 2 PROCLAIMED a term 1 2",
                          "orders 3 PROCLAIMED a term 1 3"));
}

TEST_F(ChangeFeedTest, PartitionsAreIndependent) {
  Start();
  std::string other = "other";
  while (PartitionOf({other}) == PartitionOf({"orders"})) other += "x";
  Elsewhere(Stand("orders", "a"));

  Here(Stand(other, "b"));

  EXPECT_THAT(watching_.lines(), ElementsAre(other + " 1 ELECTED b term 1"));
}

TEST_F(ChangeFeedTest, ALongHistoryIsReadInBoundedPieces) {
  Start();
  Elsewhere(Stand("orders", "a"));
  for (int i = 2; i <= 200; ++i) Elsewhere(Value(std::to_string(i)));

  scheduler_.Advance(kInterval);

  EXPECT_THAT(watching_.lines(), SizeIs(200));
  EXPECT_EQ(watching_.lines().back(), "orders 200 PROCLAIMED a term 1 200");
  EXPECT_EQ(store_.Calls("ReadFeed"), 4);
}

TEST_F(ChangeFeedTest, WithoutChangesOnlyPositionsAreRead) {
  Start();

  scheduler_.Advance(10 * kInterval);

  EXPECT_EQ(store_.Calls("ReadPartitions"), 11);
  EXPECT_EQ(store_.Calls("ReadFeed"), 0);
  EXPECT_EQ(metrics_.feed_polls.Value(), 10);
}

// --- The store is away ---

class ChangeFeedReadTest : public ChangeFeedTest,
                           public ::testing::WithParamInterface<std::string> {};

INSTANTIATE_TEST_SUITE_P(Reads, ChangeFeedReadTest, ::testing::Values("ReadPartitions", "ReadFeed"),
                         [](const auto& info) { return info.param; });

TEST_P(ChangeFeedReadTest, AChangeAnnouncedDuringAReadIsReadNext) {
  Start();
  Elsewhere(Stand("orders", "a"));
  store_.After([&](const std::string& call) {
    if (call != GetParam()) return;
    store_.After({});
    const Change change = Commit(database_.store(), Value("2"));
    PartitionOffsets announced{};
    announced.at(static_cast<size_t>(change.at.partition)) = change.at.offset;
    feed_.Nudged(announced);
  });

  scheduler_.Advance(kInterval + 3ms);

  EXPECT_THAT(watching_.lines(),
              ElementsAre("orders 1 ELECTED a term 1", "orders 2 PROCLAIMED a term 1 2"));
}

TEST_P(ChangeFeedReadTest, EverythingIsReportedOnceWhenTheStoreIsBack) {
  Start();
  Elsewhere(Stand("orders", "a"));
  store_.FailNext(3, GetParam());
  Here(Value("2"));
  scheduler_.RunReady();
  ASSERT_THAT(watching_.lines(), IsEmpty());

  scheduler_.Advance(2s);

  EXPECT_THAT(watching_.lines(),
              ElementsAre("orders 1 ELECTED a term 1", "orders 2 PROCLAIMED a term 1 2"));
}

TEST_F(ChangeFeedTest, AnUnavailableStoreIsAskedLessOften) {
  Start();
  store_.FailAll();

  scheduler_.Advance(1s);

  EXPECT_EQ(metrics_.feed_polls.Value(), 4);
}

TEST_F(ChangeFeedTest, ItDoesNotPollWhileBeatsShowThatItIsUpToDate) {
  Start();
  const int polls = static_cast<int>(metrics_.feed_polls.Value());

  for (int beat = 0; beat < 10; ++beat) {
    EXPECT_TRUE(feed_.Confirm(feed_.point(), database_.store().ReadPartitions()));
    scheduler_.Advance(kInterval / 2);
  }
  EXPECT_EQ(metrics_.feed_polls.Value(), polls);

  scheduler_.Advance(kInterval);
  EXPECT_GT(metrics_.feed_polls.Value(), polls);
}

TEST_F(ChangeFeedTest, ARemoteChangeThatABeatShowsIsReportedSoon) {
  Start();
  Elsewhere(Stand("orders", "a"));

  EXPECT_TRUE(feed_.Confirm(feed_.point(), database_.store().ReadPartitions()));
  scheduler_.RunReady();

  EXPECT_THAT(watching_.lines(), ElementsAre("orders 1 ELECTED a term 1"));
}

// --- The database was replaced ---

TEST_F(ChangeFeedTest, APositionThatGoesBackIsAReset) {
  Start();
  Here(Stand("orders", "a"));
  Database empty(scheduler_);

  store_.Become(empty.store());
  scheduler_.Advance(kRepaired);

  EXPECT_THAT(watching_.lines(), ElementsAre("orders 1 ELECTED a term 1", "reset"));
}

TEST_F(ChangeFeedTest, AfterAResetTheChangesOfTheNewDatabaseAreReported) {
  Start();
  Here(Stand("orders", "a"));
  Here(Value("2"));
  Database restored(scheduler_);
  (void)Commit(restored.store(), Stand("orders", "b"));
  store_.Become(restored.store());
  scheduler_.Advance(kRepaired);
  ASSERT_EQ(watching_.lines().back(), "reset");
  watching_.recorder->lines.clear();

  const Change elected = Commit(restored.store(), Stand("orders", "c"));
  const Term term = elected.events.back().term;
  Publish(Commit(restored.store(), Say("orders", "c", term, "here")));
  scheduler_.Advance(1s);

  EXPECT_GT(term, Term{1'000'000});
  EXPECT_THAT(watching_.lines(), ElementsAre(HasSubstr("ELECTED c"), HasSubstr("PROCLAIMED c")));
}

TEST_F(ChangeFeedTest, NothingOfTheOldDatabaseIsKnownAfterAReset) {
  Start();
  Here(Stand("orders", "a"));
  cache_.Remember(database_.store().ReadElections({{"orders"}}).value(), cache_.Now());
  ASSERT_TRUE(cache_.Read({"orders"}));
  Database restored(scheduler_);

  store_.Become(restored.store());
  scheduler_.Advance(kRepaired);

  ASSERT_EQ(watching_.lines().back(), "reset");
  EXPECT_FALSE(cache_.Read({"orders"}));
}

// Otherwise, new changes would look as if they followed the old ones.
TEST_F(ChangeFeedTest, NothingIsReportedBetweenAStepBackAndItsReset) {
  Start();
  Here(Stand("orders", "a"));
  Here(Value("2"));
  Database restored(scheduler_);
  (void)Commit(restored.store(), Stand("orders", "b"));
  store_.Become(restored.store());
  store_.FailNext(1'000, "CheckSchema");
  scheduler_.Advance(kInterval);
  watching_.recorder->lines.clear();

  for (int revision = 2; revision <= 4; ++revision) {
    (void)Commit(restored.store(), Say("orders", "b", {1}, std::to_string(revision)));
    scheduler_.Advance(1s);
  }
  scheduler_.Advance(kRepaired);
  EXPECT_THAT(watching_.lines(), IsEmpty());

  store_.Heal();
  scheduler_.Advance(1s);
  EXPECT_THAT(watching_.lines(), ElementsAre("reset"));
  EXPECT_EQ(metrics_.database_resets.Value(), 1);
}

// Calls for the old service must not be answered from the new one.
TEST_F(ChangeFeedTest, ItIsBehindARepairUntilItKnowsWhichServiceTheNewDatabaseIs) {
  Start();
  Here(Stand("orders", "a"));
  const std::string before = feed_.service_id();
  Database another(scheduler_);
  store_.Become(another.store());
  store_.FailNext(1'000, "SessionKey");

  scheduler_.Advance(kRepaired);
  EXPECT_TRUE(lineage_.open());
  EXPECT_TRUE(feed_.behind_a_repair());
  EXPECT_EQ(feed_.service_id(), before);

  store_.Heal();
  scheduler_.Advance(kRepaired);
  EXPECT_FALSE(feed_.behind_a_repair());
  EXPECT_NE(feed_.service_id(), before);
}

TEST_F(ChangeFeedTest, TheReasonWhyTermsCannotBeRaisedIsLoggedOnce) {
  Start();
  Here(Stand("orders", "a"));
  Database restored(scheduler_);
  store_.Become(restored.store());
  store_.FailNext(1'000, "CheckSchema");

  ::testing::internal::CaptureStdout();
  scheduler_.Advance(kRepaired);
  const std::string log = ::testing::internal::GetCapturedStdout();

  const std::string line = "cannot raise the terms yet error=\"planted: CheckSchema\"";
  EXPECT_THAT(log, HasSubstr(line));
  EXPECT_EQ(log.find(line), log.rfind(line)) << log;
}

TEST_F(ChangeFeedTest, ADatabaseThatWentBackIsUnavailableUntilItsSchemaIsComplete) {
  Start();
  Here(Stand("orders", "a"));
  Database older(scheduler_);
  store_.Become(older.store());
  store_.FailNext(1'000, "CheckSchema");
  scheduler_.Advance(kInterval);

  scheduler_.Advance(10s);
  EXPECT_FALSE(lineage_.open());

  store_.Heal();
  scheduler_.Advance(kRepaired);
  EXPECT_TRUE(lineage_.open());
  EXPECT_FALSE(feed_.behind_a_repair());
}

// Remembers an earlier read when it hears of an event: like a read that began before the event, and
// ends while the event is published.
class LateReader final : public Watcher {
 public:
  LateReader(StateCache& cache, std::map<ElectionName, ElectionView> views)
      : cache_(cache), views_(std::move(views)), begun_(cache.Now()) {}

  void OnEvent(const std::shared_ptr<const Event>&) override { cache_.Remember(views_, begun_); }
  void OnDrain() override {}

 private:
  StateCache& cache_;
  const std::map<ElectionName, ElectionView> views_;
  const StateCache::Moment begun_;
};

TEST_F(ChangeFeedTest, AReadFromBeforeAChangeIsNotRememberedAfterIt) {
  Start();
  for (const bool here : {true, false}) {
    const ElectionName name{here ? "here" : "elsewhere"};
    Here(Stand(name.bytes, "a"));
    auto late = hub_.Join(
        std::make_shared<LateReader>(cache_, database_.store().ReadElections({name}).value()));
    late->Add(WatchElection{name});

    const Command leave = Leave(name.bytes, "a");
    here ? Here(leave) : Elsewhere(leave);
    scheduler_.Advance(2 * kInterval);

    EXPECT_FALSE(cache_.Read(name, database_.store().ReadPartitions().value().offsets));
  }
}

TEST_F(ChangeFeedTest, NothingIsRememberedOfAPurgedElection) {
  Start();
  for (const bool here : {true, false}) {
    const ElectionName name{here ? "here" : "elsewhere"};
    Here(Stand(name.bytes, "a"));
    Here(Leave(name.bytes, "a"));
    cache_.Remember(database_.store().ReadElections({name}).value(), cache_.Now());
    ASSERT_TRUE(cache_.Read(name));

    const Change purge = Purge(name);
    if (here) Publish(purge);
    scheduler_.Advance(2 * kInterval);

    EXPECT_FALSE(cache_.Read(name));
  }
}

// The changes before and after it are read, too.
TEST_F(ChangeFeedTest, APurgeElsewhereHidesNoEvent) {
  Start();
  Elsewhere(Stand("orders", "a"));
  Elsewhere(Leave("orders", "a"));
  Elsewhere(Stand("jobs", "b"));
  (void)Purge({"orders"});
  Elsewhere(Stand("orders", "c"));

  scheduler_.Advance(2 * kInterval);

  EXPECT_THAT(watching_.lines(),
              UnorderedElementsAre("jobs 1 ELECTED b term 1", "orders 3 ELECTED c term 3"));
}

// Elections that were purged meanwhile have left no events.
TEST_F(ChangeFeedTest, AReplicaOutOfTouchForVeryLongStartsOver) {
  Start();
  store_.FailAll();
  scheduler_.Advance(kUnusedMin / 2 + 1s);
  EXPECT_THAT(watching_.lines(), IsEmpty());

  store_.Heal();
  scheduler_.Advance(1s);

  EXPECT_THAT(watching_.lines(), ElementsAre("reset"));
}

TEST_F(ChangeFeedTest, ItKnowsTheKeyOfTheCurrentDatabase) {
  EXPECT_EQ(feed_.session_key(), "");
  Start();
  EXPECT_EQ(feed_.session_key(), database_.store().SessionKey().value());
  const std::string service = feed_.service_id();
  Database another(scheduler_);

  store_.Become(another.store());
  scheduler_.Advance(kRepaired);

  EXPECT_EQ(feed_.session_key(), another.store().SessionKey().value());
  const std::string page = metrics_.Expose();
  EXPECT_THAT(page,
              HasSubstr("tenure_service_info{service_id=\"" + feed_.service_id() + "\"} 1\n"));
  EXPECT_THAT(page, Not(HasSubstr(service)));
}

// A database that was emptied gets its tables one by one, and then its first changes at once:
// watchers read those because of the reset.
TEST_F(ChangeFeedTest, AResetIsReportedEvenIfThePositionIsReachedAgain) {
  Start();
  Here(Stand("orders", "a"));
  Database empty(scheduler_);
  store_.Become(empty.store());
  store_.FailNext(1, "CheckSchema");
  scheduler_.Advance(kInterval);
  EXPECT_THAT(watching_.lines(), ElementsAre("orders 1 ELECTED a term 1"));

  (void)Commit(empty.store(), Stand("orders", "b"));
  scheduler_.Advance(kRepaired);

  EXPECT_THAT(watching_.lines(), ElementsAre("orders 1 ELECTED a term 1", "reset"));
}

TEST_F(ChangeFeedTest, APositionReadBeforeALocalCommitIsNoReset) {
  Start();
  store_.After([&](const std::string& call) {
    if (call != "ReadPartitions") return;
    store_.After({});
    Here(Stand("orders", "a"));
  });

  scheduler_.Advance(1s);

  EXPECT_THAT(watching_.lines(), ElementsAre("orders 1 ELECTED a term 1"));
}

TEST_F(ChangeFeedTest, ADatabaseThatGoesBackAndAwayIsAResetWhenItAnswers) {
  Start();
  Here(Stand("orders", "a"));
  Database empty(scheduler_);
  store_.Become(empty.store());
  bool failed = false;
  store_.Before([&](const std::string&) {
    if (store_.Calls("ReadPartitions") == 2 && !std::exchange(failed, true)) store_.FailNext(1);
  });

  scheduler_.Advance(kRepaired);

  EXPECT_THAT(watching_.lines(), ElementsAre("orders 1 ELECTED a term 1", "reset"));
}

}  // namespace
}  // namespace tenure::engine
