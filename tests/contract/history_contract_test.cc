// What every store promises about sets of elections, due changes, history and lists, checked on
// every store.
#include <fmt/format.h>

#include <future>
#include <thread>

#include "tests/contract/admin_fixture.h"

namespace tenure::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr Duration kLongAgo = -10h;
constexpr uint64_t kAll = std::numeric_limits<int64_t>::max();

class HistoryContract : public AdminFixture {
 protected:
  // The names of `count` elections of this partition.
  static std::vector<ElectionName> NamesOfPartition(int partition, size_t count) {
    std::vector<ElectionName> names;
    for (int i = 0; names.size() < count; ++i) {
      const ElectionName name{fmt::format("lane{}-{}", partition, i)};
      if (PartitionOf(name) == partition) names.push_back(name);
    }
    return names;
  }

  // Several names of each partition.
  static std::vector<ElectionName> NamesOfAllPartitions() {
    std::vector<ElectionName> all;
    for (int partition = kPartitionCount - 1; partition >= 0; --partition) {
      std::ranges::move(NamesOfPartition(partition, 2), std::back_inserter(all));
    }
    return all;
  }

  static CampaignForAll ForAll(std::vector<ElectionName> names, const SessionId& session,
                               const std::string& candidate) {
    return {std::move(names), session, Campaign::Opening{candidate, 24h}, {}, "v", {7}};
  }

  // An election that was led once, long ago, with this number of events, one each microsecond.
  void MakeHistory(const std::string& election, int events, Duration offset = kLongAgo) {
    const SessionId session = NewSessionId();
    std::vector<Command> commands = {CampaignOf(election, session, "a")};
    for (int i = 1; i < events; ++i) {
      commands.emplace_back(Proclaim{{election}, session, {1}, "value " + std::to_string(i)});
    }
    RunAt(offset, commands);
  }

  std::vector<uint64_t> Revisions(const std::string& election, Revision from = {1}) {
    std::vector<uint64_t> revisions;
    const auto events = Replica().ReadEvents({election}, from, 10'000).value();
    for (const Event& event : events) revisions.push_back(event.revision.value);
    return revisions;
  }

  // Trims in as many steps as it takes.
  size_t Trim(const Retention& retention, size_t limit = 1000) {
    size_t deleted = 0;
    ElectionName after;
    for (int steps = 0; steps < 10'000; ++steps) {
      const Trimmed trimmed = store_->TrimHistory(retention, after, limit).value();
      deleted += trimmed.deleted;
      after = trimmed.last;
      if (after.bytes.empty() && trimmed.deleted < limit) return deleted;
    }
    ADD_FAILURE() << "trimming does not come to an end";
    return deleted;
  }
};

INSTANTIATE_TEST_SUITE_P(Stores, HistoryContract,
                         ::testing::Values(Kind::kSqliteMemory, Kind::kSqliteFile, Kind::kServer),
                         KindName);

// --- Sets of elections ---

TEST_P(HistoryContract, ASetOverSeveralPartitionsHasOnePositionInEach) {
  const auto names = NamesOfAllPartitions();
  const SessionId session = NewSessionId();
  const PartitionOffsets before = store_->ReadPartitions().value().offsets;

  const auto answer = std::get<CampaignForAllAnswer>(Run(ForAll(names, session, "a")).value());

  EXPECT_THAT(answer.leaderships, SizeIs(names.size()));
  ASSERT_THAT(committed_, SizeIs(kPartitionCount));
  for (int partition = 0; partition < kPartitionCount; ++partition) {
    const auto at = static_cast<size_t>(partition);
    EXPECT_EQ(committed_[at].partition, partition);
    EXPECT_EQ(committed_[at].offset, before[at] + 1);
    EXPECT_EQ(Replica().ReadPartitions().value().offsets[at], before[at] + 1);
    const auto feed = Replica().ReadFeed(partition, before[at], kAll).value();
    ASSERT_THAT(feed, SizeIs(2));
    for (const FeedEntry& entry : feed) {
      EXPECT_EQ(entry.offset, before[at] + 1);
      EXPECT_EQ(PartitionOf(entry.event.election), partition);
      EXPECT_EQ(entry.event.leader.session, session);
    }
  }
  EXPECT_THAT(Replica().ReadSeats({{session}}).value(), SizeIs(names.size()));
}

TEST_P(HistoryContract, ABlockedSetTakesNothing) {
  auto names = NamesOfAllPartitions();
  Stand(names[3].bytes, NewSessionId(), "b");

  const auto answer =
      std::get<CampaignForAllAnswer>(Run(ForAll(names, NewSessionId(), "a")).value());

  EXPECT_THAT(answer.blocked, ElementsAre(names[3]));
  EXPECT_THAT(Replica().ListElections("", "", 100).value(), SizeIs(1));
  EXPECT_THAT(committed_, IsEmpty());
}

TEST_P(HistoryContract, SetsInAnyOrderAreNeverTakenPartly) {
  if (GetParam() == Kind::kSqliteMemory) GTEST_SKIP() << "a database in memory has one connection";
  constexpr int kTakings = 60;
  const auto names = NamesOfAllPartitions();
  const auto campaign = [&](int i) {
    // Both want the elections in the middle; each begins at its own end.
    std::vector<ElectionName> wanted(names.begin() + i, names.end() - 1 + i);
    if (i == 1) std::ranges::reverse(wanted);
    return ForAll(wanted, NewSessionId(), "c" + std::to_string(i));
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&, mine = campaign(i)] {
      const auto store = Open();
      std::vector<Command> leave;
      for (const ElectionName& name : mine.elections) {
        leave.emplace_back(Resign{name, mine.session, {}});
      }
      const auto attempt = [&](const std::vector<Command>& commands) {
        std::vector<Result<Answer>> answers;
        const auto committed =
            store->Transact(LockSetOf(commands), {}, [&](TransactionState& transaction) {
              answers.clear();
              if (!transaction.busy.empty() || !transaction.busy_sessions.empty()) return;
              for (const Command& command : commands)
                answers.push_back(Apply(transaction, limits_, command));
            });
        EXPECT_TRUE(committed) << committed.error().message;
        return answers;
      };
      for (int taken = 0; taken < kTakings && !HasFailure();) {
        const auto answers = attempt({mine});
        if (answers.empty()) continue;
        ASSERT_TRUE(answers[0]) << answers[0].error().message;
        const auto& answer = std::get<CampaignForAllAnswer>(answers[0].value());
        ASSERT_TRUE(answer.leaderships.empty() != answer.blocked.empty());
        if (answer.leaderships.empty()) continue;
        ASSERT_EQ(answer.leaderships.size(), mine.elections.size());
        ++taken;
        while (attempt(leave).empty() && !HasFailure()) continue;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();

  const auto story = [&](const ElectionName& name) {
    std::vector<std::string> candidates;
    const auto events = store_->ReadEvents(name, {1}, 10'000).value();
    for (size_t i = 0; i < events.size(); ++i) {
      EXPECT_EQ(events[i].revision.value, i + 1);
      EXPECT_EQ(events[i].term.value, i / 2 + 1);
      candidates.push_back(events[i].leader.candidate);
    }
    return candidates;
  };
  EXPECT_THAT(story(names.front()), SizeIs(2 * kTakings));
  EXPECT_THAT(story(names.back()), SizeIs(2 * kTakings));
  const auto middle = story(names[1]);
  EXPECT_THAT(middle, SizeIs(4 * kTakings));
  for (size_t i = 2; i + 1 < names.size(); ++i) EXPECT_EQ(story(names[i]), middle);
  for (int partition = 0; partition < kPartitionCount; ++partition) {
    uint64_t last = 0;
    const auto feed = store_->ReadFeed(partition, 0, kAll).value();
    for (const FeedEntry& entry : feed) {
      EXPECT_LE(entry.offset, last + 1);
      last = entry.offset;
    }
    EXPECT_EQ(store_->ReadPartitions().value().offsets[static_cast<size_t>(partition)], last);
  }
}

// --- What becomes due ---

TEST_P(HistoryContract, AnElectionIsDueWhenItsDelayEnds) {
  Configure configure = Creating("e");
  configure.lock_delay = 200ms;
  Administer(configure);
  Stand("e", NewSessionId(), "a");
  Stand("e", NewSessionId(), "b");
  Administer(Depose{{"e"}, {1}, {}, kAsker});
  const Election vacant = Load("e").election;
  ASSERT_EQ(vacant.wake_at, vacant.vacant_until);

  const DueWork early = Replica().FindDueWork(10).value();
  if (early.now < *vacant.wake_at) {
    EXPECT_THAT(early.elections, IsEmpty());
    EXPECT_EQ(early.next, vacant.wake_at);
  }
  ASSERT_TRUE(Eventually([&] { return !Replica().FindDueWork(10).value().elections.empty(); }));
  EXPECT_GE(Replica().FindDueWork(10).value().now, *vacant.wake_at);
  Run(Reconcile{{"e"}, {}});

  EXPECT_EQ(LeaderOf("e"), "b");
  EXPECT_THAT(Replica().FindDueWork(10).value().elections, IsEmpty());
}

TEST_P(HistoryContract, TheEarliestLeaseOrDelayIsNext) {
  const auto wake = [&](const std::string& election, Duration in) {
    Appoint reserved = Appointing(election, {1}, "absent");
    reserved.reserve_for = in;
    Stand(election, NewSessionId(), "a", 10h);
    Stand(election, NewSessionId(), "b", 10h);
    Administer(reserved);
    Administer(Depose{{election}, {1}, {}, kAsker});
  };

  EXPECT_EQ(store_->FindDueWork(10).value().next, std::nullopt);
  wake("late", 2h);
  const DbTime late = Load("late").election.wake_at.value();
  EXPECT_EQ(store_->FindDueWork(10).value().next, late);
  wake("early", 1h);
  const DbTime early = Load("early").election.wake_at.value();
  EXPECT_EQ(store_->FindDueWork(10).value().next, early);
}

TEST_P(HistoryContract, DueElectionsComeInOrderAndUpToTheLimit) {
  for (const auto& [election, in] : {std::pair("a", 30s), {"b", 10s}, {"c", 20s}}) {
    Configure configure = Creating(election);
    configure.lock_delay = in;
    RunAt(kLongAgo,
          {configure, CampaignOf(election, NewSessionId(), "x"),
           CampaignOf(election, NewSessionId(), "y"), Depose{{election}, {1}, {}, kAsker}});
  }

  EXPECT_THAT(Replica().FindDueWork(10).value().elections,
              ElementsAre(ElectionName{"b"}, ElectionName{"c"}, ElectionName{"a"}));
  EXPECT_THAT(Replica().FindDueWork(2).value().elections,
              ElementsAre(ElectionName{"b"}, ElectionName{"c"}));
}

// --- History ---

TEST_P(HistoryContract, EventsAreTrimmedByAge) {
  MakeHistory("e", 4);
  const SessionId session = View("e").election.leader->session;
  Run(Proclaim{{"e"}, session, {1}, "new"});
  Run(Proclaim{{"e"}, session, {1}, "newer"});

  EXPECT_EQ(Trim({1h, kAll, 0s}), 4u);

  EXPECT_THAT(Revisions("e"), ElementsAre(5, 6));
  EXPECT_EQ(Trim({1h, kAll, 0s}), 0u);
}

// The database's clock was set, and set back.
TEST_P(HistoryContract, NoHolesAreTrimmedIntoHistory) {
  MakeHistory("e", 2);
  const SessionId session = View("e").election.leader->session;
  for (const Duration offset : {Duration(2h), Duration(kLongAgo), Duration(0s)}) {
    RunAt(offset, {Proclaim{{"e"}, session, {1}, std::to_string(offset.count())}});
  }

  EXPECT_EQ(Trim({1h, kAll, 0s}), 4u);

  EXPECT_THAT(Revisions("e"), ElementsAre(5));
}

TEST_P(HistoryContract, AnEventFromTheFutureIsTrimmedWithAnOldOneBehindIt) {
  MakeHistory("e", 2, 2h);
  const SessionId session = View("e").election.leader->session;
  RunAt(0s, {Proclaim{{"e"}, session, {1}, "now"}});
  EXPECT_EQ(Trim({1h, kAll, 0s}), 0u);
  RunAt(kLongAgo, {Proclaim{{"e"}, session, {1}, "old"}});
  RunAt(0s, {Proclaim{{"e"}, session, {1}, "newer"}});

  EXPECT_EQ(Trim({1h, kAll, 0s}), 4u);

  EXPECT_THAT(Revisions("e"), ElementsAre(5));
}

TEST_P(HistoryContract, EventsAreTrimmedByNumber) {
  MakeHistory("e", 10);
  MakeHistory("f", 3);

  EXPECT_EQ(Trim({100h, 4, 0s}), 6u);

  EXPECT_THAT(Revisions("e"), ElementsAre(7, 8, 9, 10));
  EXPECT_THAT(Revisions("f"), ElementsAre(1, 2, 3));
}

TEST_P(HistoryContract, YoungEventsAreKeptWhateverTheirNumber) {
  MakeHistory("e", 3);
  const SessionId session = View("e").election.leader->session;
  for (int i = 0; i < 5; ++i) Run(Proclaim{{"e"}, session, {1}, "new" + std::to_string(i)});

  EXPECT_EQ(Trim({100h, 2, 1h}), 3u);

  EXPECT_THAT(Revisions("e"), ElementsAre(4, 5, 6, 7, 8));
}

TEST_P(HistoryContract, TheLatestEventOfAnElectionIsAlwaysKept) {
  MakeHistory("e", 3);
  MakeHistory("gone", 2);
  RunAt(kLongAgo, {Delete{{"gone"}, {1}, kAsker}});

  EXPECT_EQ(Trim({-1h, 0, -1h}), 4u);

  EXPECT_THAT(Revisions("e"), ElementsAre(3));
  EXPECT_THAT(Revisions("gone"), ElementsAre(3));
}

TEST_P(HistoryContract, TheHistoryOfADeletedElectionIsHiddenAndThenTrimmed) {
  MakeHistory("e", 5);
  RunAt(kLongAgo, {Delete{{"e"}, {1}, kAsker}});
  Stand("e", NewSessionId(), "b");

  EXPECT_THAT(Revisions("e"), ElementsAre(6, 7));
  EXPECT_THAT(Replica().ReadTerms({"e"}, {kNumberMax}, 10).value(),
              ElementsAre(Field(&TermRecord::term, Term{2}), Field(&TermRecord::term, Term{1})));
  EXPECT_EQ(Trim({100h, kAll, 100h}), 0u);
  EXPECT_EQ(Trim({100h, kAll, 1h}), 5u);
  if (GetParam() != Kind::kSqliteMemory) {
    EXPECT_THAT(Query("SELECT revision FROM events ORDER BY revision"), ElementsAre("6", "7"));
  }
}

TEST_P(HistoryContract, AReadFromATrimmedRevisionReturnsTheRest) {
  MakeHistory("e", 6);
  ASSERT_EQ(Trim({100h, 2, 0s}), 4u);

  EXPECT_THAT(Revisions("e", {2}), ElementsAre(5, 6));
  EXPECT_THAT(Revisions("e", {6}), ElementsAre(6));
  EXPECT_THAT(Revisions("e", {7}), IsEmpty());
}

TEST_P(HistoryContract, OneStepTrimsABoundedPartAndTheNextContinues) {
  MakeHistory("a", 3);
  MakeHistory("b", 12);
  MakeHistory("c", 12);
  MakeHistory("d", 3);
  const Retention retention{1h, kAll, 0s};

  const Trimmed first = store_->TrimHistory(retention, {}, 5).value();

  EXPECT_EQ(first.last, ElectionName{"a"});
  EXPECT_EQ(first.deleted, 7u);
  const Trimmed second = store_->TrimHistory(retention, first.last, 5).value();
  EXPECT_EQ(second.deleted, 5u);
  EXPECT_EQ(second.last, ElectionName{"a"});
  const Trimmed third = store_->TrimHistory(retention, second.last, 5).value();
  EXPECT_EQ(third.deleted, 6u);
  EXPECT_EQ(third.last, ElectionName{"b"});
  Trim(retention, 5);
  for (const std::string election : {"a", "b", "c", "d"}) {
    EXPECT_THAT(Revisions(election), SizeIs(1));
  }
}

TEST_P(HistoryContract, ThousandsOfElectionsAreTrimmedInBoundedSteps) {
  constexpr int kElections = 2100;
  const SessionId session = NewSessionId();
  for (int batch = 0; batch < kElections / 300; ++batch) {
    std::vector<Command> commands;
    for (int i = 0; i < 300; ++i) {
      const std::string name = fmt::format("e{:05}", 300 * batch + i);
      commands.emplace_back(CampaignOf(name, session, "a"));
      commands.emplace_back(Resign{{name}, session, {}});
    }
    RunAt(kLongAgo, commands);
  }
  const Retention retention{1h, kAll, 0s};

  const Trimmed first = store_->TrimHistory(retention, {}, 100).value();

  EXPECT_EQ(first.deleted, 100u);
  EXPECT_EQ(first.last, ElectionName{"e00099"});
  EXPECT_EQ(Trim(retention, 100), kElections - 100u);
  EXPECT_EQ(Trim(retention, 100), 0u);
  EXPECT_THAT(Revisions("e00000"), ElementsAre(2));
  EXPECT_THAT(Revisions("e02099"), ElementsAre(2));
}

TEST_P(HistoryContract, OldChangesAndEndedCoolDownsAreTrimmed) {
  RunAt(kLongAgo,
        {Creating("e"), CampaignOf("e", NewSessionId(), "a"), Depose{{"e"}, {1}, 1h, kAsker},
         CampaignOf("e", NewSessionId(), "b"), Depose{{"e"}, {2}, 20h, kAsker}});
  Administer(Pause{{"e"}, true, kAsker});

  Trim({1h, kAll, 0s});

  EXPECT_THAT(AdminChanges(), SizeIs(1));
  EXPECT_THAT(Load("e").cool_downs, SizeIs(1));
  if (GetParam() != Kind::kSqliteMemory) {
    EXPECT_THAT(Query("SELECT candidate FROM cool_downs"), ElementsAre("b"));
  }
}

TEST_P(HistoryContract, YoungChangesAreKept) {
  Administer(Creating("e"));

  Trim({0s, 0, 1h});

  EXPECT_THAT(AdminChanges(), SizeIs(1));
}

// --- Lists ---

TEST_P(HistoryContract, AQueueIsReadInPagesWithItsCoolDowns) {
  Stand("e", NewSessionId(), "cooling");
  Administer(Depose{{"e"}, {1}, 1h, kAsker});
  Stand("e", NewSessionId(), "leader");
  const SessionId dead = NewSessionId();
  Stand("e", NewSessionId(), "cooling", 30min);
  Stand("e", NewSessionId(), "b");
  Stand("e", dead, "dead");
  Stand("e", NewSessionId(), "urgent", 60s, 3);
  Stand("other", NewSessionId(), "x");
  ASSERT_TRUE(store_->Transact({{}, {dead}}, {}, [&](TransactionState& transaction) {
    EXPECT_TRUE(EndSession(transaction, dead, Cause::kSessionClosed));
  }));

  const auto all = Replica().ReadQueue({"e"}, 0, 10).value();
  const auto page = Replica().ReadQueue({"e"}, 1, 2).value();

  EXPECT_THAT(QueueOf("e"), ElementsAre("urgent", "cooling", "b", "dead"));
  EXPECT_EQ(all[0].candidacy.priority, 3);
  EXPECT_EQ(all[0].cools_down_until, std::nullopt);
  EXPECT_EQ(all[1].cools_down_until, Load("e").election.cooling_until);
  EXPECT_EQ(all[1].candidacy.lease_ttl, 30min);
  ASSERT_THAT(page, SizeIs(2));
  EXPECT_EQ(page[0].candidacy, all[1].candidacy);
  EXPECT_EQ(page[1].candidacy, all[2].candidacy);
  EXPECT_THAT(Replica().ReadQueue({"e"}, 4, 2).value(), IsEmpty());
  EXPECT_THAT(Replica().ReadQueue({"never"}, 0, 2).value(), IsEmpty());
}

TEST_P(HistoryContract, TermsAreReadInPagesLatestFirst) {
  std::vector<DbTime> began;
  for (const std::string candidate : {"a", "b", "c", "d"}) {
    const SessionId session = NewSessionId();
    began.push_back(Stand("e", session, candidate).election.leader->elected_at);
    if (candidate != "d") Run(Resign{{"e"}, session, {}});
  }
  const auto first = Replica().ReadTerms({"e"}, {kNumberMax}, 3).value();
  ASSERT_THAT(first, SizeIs(3));
  const auto rest = Replica().ReadTerms({"e"}, first.back().term, 3).value();
  ASSERT_THAT(rest, SizeIs(1));

  EXPECT_EQ(first[0].term, Term{4});
  EXPECT_EQ(first[0].candidate, "d");
  EXPECT_EQ(first[0].began_at, began[3]);
  EXPECT_EQ(first[0].ended_at, std::nullopt);
  EXPECT_EQ(first[0].cause, Cause::kNone);
  EXPECT_EQ(first[1].candidate, "c");
  EXPECT_EQ(first[1].cause, Cause::kResigned);
  EXPECT_LE(first[1].ended_at, began[3]);
  EXPECT_GE(first[1].ended_at, began[2]);
  EXPECT_EQ(rest[0].candidate, "a");
  EXPECT_THAT(Replica().ReadTerms({"never"}, {kNumberMax}, 3).value(), IsEmpty());
}

TEST_P(HistoryContract, SessionsAreReadInPagesWithTheirElections) {
  std::vector<SessionId> ids = {NewSessionId(), NewSessionId(), NewSessionId(), NewSessionId()};
  std::ranges::sort(ids);
  Stand("e", ids[0], "web-1");
  Stand("f", ids[0], "web-1");
  Stand("e", ids[1], "web-2");
  Stand("f", ids[1], "web-2");
  Stand("g", ids[2], "wec");
  Stand("e", ids[3], "web-3");
  const SessionId closed = NewSessionId();
  Stand("h", closed, "web-4");
  ASSERT_TRUE(store_->Transact({{}, {closed}}, {}, [&](TransactionState& transaction) {
    EXPECT_TRUE(EndSession(transaction, closed, Cause::kSessionClosed));
  }));

  const auto first = Replica().ReadSessions("web-", {}, 2).value();
  ASSERT_THAT(first, SizeIs(2));
  const auto rest = Replica().ReadSessions("web-", ids[1], 2).value();

  EXPECT_EQ(first[0].session.id, ids[0]);
  EXPECT_EQ(first[0].session.candidate, "web-1");
  EXPECT_THAT(first[0].leads, ElementsAre(ElectionName{"e"}, ElectionName{"f"}));
  EXPECT_THAT(first[0].waits, IsEmpty());
  EXPECT_EQ(first[1].session.id, ids[1]);
  EXPECT_THAT(first[1].leads, IsEmpty());
  EXPECT_THAT(first[1].waits, ElementsAre(ElectionName{"e"}, ElectionName{"f"}));
  ASSERT_THAT(rest, SizeIs(1));
  EXPECT_EQ(rest[0].session.id, ids[3]);
  EXPECT_THAT(Replica().ReadSessions("", {}, 10).value(), SizeIs(4));
  EXPECT_THAT(Replica().ReadSessions("x", {}, 10).value(), IsEmpty());
}

TEST_P(HistoryContract, TheLongestLeaseIsThatOfAnySession) {
  EXPECT_EQ(store_->LongestLease(), 0s);
  for (const auto lease : {61s, 60s}) Stand("e", NewSessionId(), "a", lease);
  EXPECT_EQ(store_->LongestLease(), 61s);
}

TEST_P(HistoryContract, AnAgreementIsShownToTheNextReplica) {
  const Epoch first{.number = 100, .token = 1, .server = "s", .state = Epoch::State::kRepaired};
  const Epoch second{.number = 101, .token = 2, .server = "t", .lossless = true};
  for (const Epoch& epoch : {first, second}) {
    ASSERT_TRUE(
        store_->AgreeOnHistory(0, [&](const HistoryReading&) { return std::optional(epoch); }));
  }

  const auto sight =
      Replica().AgreeOnHistory(100, [](const HistoryReading&) { return std::nullopt; }).value();

  EXPECT_EQ(sight.latest, second);
  EXPECT_EQ(sight.remembered, first);
  EXPECT_EQ(sight.repaired, 100u);
  const Partitions partitions = Replica().ReadPartitions().value();
  EXPECT_EQ(partitions.epoch, 101u);
  EXPECT_EQ(sight.offsets, partitions.offsets);
}

TEST_P(HistoryContract, ALiveOrEndedSessionIsFoundByItsHandle) {
  const SessionId alive = NewSessionId();
  const SessionId ended = NewSessionId();
  Stand("e", alive, "a");
  Stand("e", ended, "b");
  ASSERT_TRUE(store_->Transact({{}, {ended}}, {}, [&](TransactionState& transaction) {
    EXPECT_TRUE(EndSession(transaction, ended, Cause::kSessionClosed));
  }));

  EXPECT_EQ(Replica().FindSession(alive.Handle()).value(), alive);
  EXPECT_EQ(Replica().FindSession(ended.Handle()).value(), ended);
  EXPECT_EQ(Replica().FindSession(NewSessionId().Handle()).value(), std::nullopt);
}

}  // namespace
}  // namespace tenure::testing
