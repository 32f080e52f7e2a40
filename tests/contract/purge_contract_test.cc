// Purges, checked on every store: what is removed, what is kept, and that an election's numbers go
// on when its name is used again.
#include "core/law/purging.h"

#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "tests/contract/gate.h"
#include "tests/contract/raw_sql.h"
#include "tests/contract/store_contract.h"

namespace tenure::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

const Author kAsker{"olga", "tidies up"};

class PurgeContract : public StoreContract {
 protected:
  static LockSet LocksOf(const std::vector<std::string>& elections) {
    LockSet locks;
    for (const std::string& name : elections) locks.elections[{name}].past = true;
    return locks;
  }

  // Purges elections, whatever their age.
  std::map<std::string, Purged> Purge(Store& store, const std::vector<std::string>& elections,
                                      uint64_t events_max = 1'000) {
    std::map<std::string, Purged> outcomes;
    const auto committed =
        store.Transact(LocksOf(elections), {}, [&](TransactionState& transaction) {
          outcomes.clear();
          uint64_t left = events_max;
          for (const auto& [name, state] : transaction.elections) {
            outcomes[name.bytes] = Apply(transaction, {Duration(0), false, kAsker}, name, left);
          }
        });
    EXPECT_TRUE(committed) << committed.error().message;
    if (committed) offsets_ = committed->offsets;
    return outcomes;
  }
  Purged Purge(const std::string& election, uint64_t events_max = 1'000) {
    return Purge(*store_, {election}, events_max).at(election);
  }

  // Grants and ends this many terms.
  void Use(const std::string& election, int terms) {
    for (int i = 0; i < terms; ++i) {
      const SessionId session = NewSessionId();
      ASSERT_TRUE(Stand(election, session, "a").elected);
      ASSERT_TRUE(Run(Resign{{election}, session, {}}));
    }
  }

  Result<Answer> Create(const std::string& election, const Principal& principal = {}) {
    Configure configure;
    configure.election = {election};
    configure.create = true;
    configure.principal = principal;
    return Run(configure);
  }

  Past PastOf(const std::string& election) {
    return store_->Transact(LocksOf({election}), {}, [](TransactionState&) {})
        .value()
        .transaction.elections.at({election})
        .past.value();
  }

  [[nodiscard]] bool IsThere(const std::string& election) {
    return !store_->ReadElections({{election}}).value().empty();
  }

  std::vector<PartitionOffset> offsets_;  // of the last purge
};

TEST_P(PurgeContract, NothingIsLeftOfAPurgedElectionButTheRecord) {
  Use("e", 2);
  const SessionId deposed = NewSessionId();
  Stand("e", deposed, "b");
  Run(Depose{{"e"}, {3}, 1us, {}});
  Run(Resign{{"e"}, deposed, {}});

  EXPECT_EQ(Purge("e"), Purged::kYes);

  EXPECT_FALSE(IsThere("e"));
  EXPECT_THAT(store_->ReadEvents({"e"}, {1}, 10).value(), IsEmpty());
  EXPECT_THAT(store_->ListElections("", "", 10).value(), IsEmpty());
  const auto changes = store_->ReadAdminChanges(ElectionName{"e"}, 1'000, 10).value();
  EXPECT_EQ(changes.at(0).change.action, AdminAction::kPurged);
  EXPECT_EQ(changes.at(0).change.term, Term{3});
  EXPECT_EQ(changes.at(0).change.author, kAsker);
  if (GetParam() == Kind::kSqliteMemory) return;
  EXPECT_THAT(QueryRows(url_, "SELECT * FROM cool_downs"), IsEmpty());
}

TEST_P(PurgeContract, TermsAndRevisionsOfAPurgedElectionGoOn) {
  Use("e", 5);
  ASSERT_EQ(Purge("e"), Purged::kYes);

  const auto again = Stand("e", NewSessionId(), "b");

  EXPECT_EQ(again.election.term, Term{11});
  EXPECT_THAT(History("e"), ElementsAre("11 ELECTED b 11 "));
}

TEST_P(PurgeContract, TermsAndRevisionsOfADeletedElectionGoOn) {
  Use("e", 5);
  ASSERT_TRUE(Run(Delete{{"e"}, {5}, {}}));
  ASSERT_EQ(Purge("e"), Purged::kYes);

  EXPECT_EQ(Stand("e", NewSessionId(), "b").election.term, Term{11});
}

TEST_P(PurgeContract, TheOriginNeverFalls) {
  Use("long", 5);
  Use("short", 1);
  ASSERT_EQ(Purge("long"), Purged::kYes);
  ASSERT_EQ(Purge("short"), Purged::kYes);
  EXPECT_EQ(Stand("other", NewSessionId(), "a").election.term, Term{11});

  const uint64_t raised = store_->RaiseOrigin().value();
  Use("short", 1);
  ASSERT_EQ(Purge("short"), Purged::kYes);
  EXPECT_GT(Stand("short", NewSessionId(), "a").election.term, Term{raised + 1});
}

TEST_P(PurgeContract, ElectionsThatAreThereKeepTheirNumbers) {
  Use("e", 5);
  Use("other", 1);
  ASSERT_EQ(Purge("e"), Purged::kYes);

  EXPECT_EQ(Stand("other", NewSessionId(), "a").election.term, Term{2});
}

TEST_P(PurgeContract, SeveralElectionsArePurgedAtOnce) {
  const std::vector<std::string> names = {"a", "b", "c", "d", "e", "f", "g", "h"};
  std::set<int> partitions;
  for (const std::string& name : names) {
    Use(name, 1);
    partitions.insert(PartitionOf({name}));
  }
  ASSERT_GT(partitions.size(), 1u);

  EXPECT_THAT(Purge(*store_, names), Each(::testing::Pair(::testing::_, Purged::kYes)));

  EXPECT_THAT(store_->ListElections("", "", 10).value(), IsEmpty());
  EXPECT_THAT(offsets_, SizeIs(partitions.size()));
}

// So that other replicas notice.
TEST_P(PurgeContract, ThePartitionAdvancesWithoutAnEvent) {
  Use("e", 1);
  const auto partition = static_cast<size_t>(PartitionOf({"e"}));
  const uint64_t before = store_->ReadPartitions().value().offsets.at(partition);

  ASSERT_EQ(Purge("e"), Purged::kYes);

  EXPECT_EQ(store_->ReadPartitions().value().offsets.at(partition), before + 1);
  ASSERT_THAT(offsets_, SizeIs(1));
  EXPECT_EQ(offsets_[0].offset, before + 1);
  EXPECT_THAT(store_->ReadFeed(static_cast<int>(partition), before, before + 1).value(), IsEmpty());
}

// Events of one partition are saved with the offset of their own.
TEST_P(PurgeContract, APurgeAndAGrantShareATransaction) {
  std::string other = "f";
  while (PartitionOf({other}) == PartitionOf({"e"})) other += "f";
  Use("e", 1);
  const Command campaign =
      Campaign{{other}, NewSessionId(), Campaign::Opening{"a", 60s}, {}, "v", 0, {7}};
  LockSet locks = LockSetOf({campaign});
  locks.elections[{"e"}].past = true;

  const auto committed = store_->Transact(locks, {}, [&](TransactionState& transaction) {
    uint64_t left = 1'000;
    (void)Apply(transaction, {Duration(0), false, kAsker}, {"e"}, left);
    EXPECT_TRUE(Apply(transaction, limits_, campaign));
  });

  ASSERT_TRUE(committed) << committed.error().message;
  ASSERT_THAT(committed->offsets, SizeIs(2));
  EXPECT_FALSE(IsThere("e"));
  for (const PartitionOffset& at : committed->offsets) {
    const auto feed = store_->ReadFeed(at.partition, at.offset - 1, at.offset).value();
    EXPECT_THAT(feed, SizeIs(at.partition == PartitionOf({other}) ? 1 : 0));
  }
}

TEST_P(PurgeContract, APurgeIsNotCommittedInAnotherHistory) {
  Use("e", 1);
  CommitRules rules;
  rules.point = HistoryPoint{7, {}};

  const auto committed =
      store_->Transact(LocksOf({"e"}), rules, [&](TransactionState& transaction) {
        uint64_t left = 1'000;
        (void)Apply(transaction, {Duration(0), false, kAsker}, {"e"}, left);
      });

  EXPECT_FALSE(committed);
  EXPECT_TRUE(IsThere("e"));
}

// --- What the law sees ---

TEST_P(PurgeContract, ThePastIsReadFromTheEvents) {
  Use("e", 2);
  const auto events = store_->ReadEvents({"e"}, {1}, 10).value();

  const Past past = PastOf("e");

  EXPECT_EQ(past.oldest, Revision{1});
  EXPECT_EQ(past.changed_at, events.back().at);
}

TEST_P(PurgeContract, AnOperatorsChangeCountsAsThePast) {
  Use("e", 1);
  Run(Pause{{"e"}, true, kAsker});
  const auto changes = store_->ReadAdminChanges(ElectionName{"e"}, 1'000, 10).value();

  EXPECT_EQ(PastOf("e").changed_at, changes.at(0).change.at);
}

TEST_P(PurgeContract, AnElectionWithoutEventsHasNoPast) {
  const SessionId session = NewSessionId();
  ASSERT_FALSE(Stand("e", session, "a", 60s, -1).elected);
  ASSERT_TRUE(Run(Resign{{"e"}, session, {}}));

  EXPECT_EQ(PastOf("e"), Past());
  EXPECT_EQ(PastOf("nowhere"), Past());
  EXPECT_EQ(Purge("e"), Purged::kYes);
  EXPECT_FALSE(IsThere("e"));
}

TEST_P(PurgeContract, ElectionsThatAreUsedOrUnknownAreNotPurged) {
  Stand("e", NewSessionId(), "a");

  EXPECT_EQ(Purge("e"), Purged::kNo);
  EXPECT_EQ(Purge("nowhere"), Purged::kNo);

  EXPECT_TRUE(IsThere("e"));
  EXPECT_THAT(offsets_, IsEmpty());
  EXPECT_FALSE(IsThere("nowhere"));
}

TEST_P(PurgeContract, ALongHistoryGoesInSteps) {
  Use("e", 4);

  EXPECT_EQ(Purge("e", 5), Purged::kPartly);

  EXPECT_THAT(History("e"),
              ElementsAre("6 VACATED a 3 RESIGNED", "7 ELECTED a 4 ", "8 VACATED a 4 RESIGNED"));
  EXPECT_THAT(offsets_, IsEmpty());
  EXPECT_EQ(PastOf("e").oldest, Revision{6});
  EXPECT_EQ(Purge("e", 5), Purged::kYes);
  EXPECT_FALSE(IsThere("e"));
}

TEST_P(PurgeContract, APurgedElectionNoLongerCountsAgainstItsCreatorsQuota) {
  const Principal principal{"team", {.elections = 1}};
  ASSERT_TRUE(Create("e", principal));
  ASSERT_EQ(ReasonOf(Create("f", principal)), Reason::kLimitReached);

  ASSERT_EQ(Purge("e"), Purged::kYes);

  EXPECT_TRUE(Create("f", principal));
}

// --- Replicas that remember ---

TEST_P(PurgeContract, AMemoryOfAPurgedElectionIsRefused) {
  Use("e", 3);
  const Command campaign =
      Campaign{{"e"}, NewSessionId(), Campaign::Opening{"b", 60s}, {}, "v", 0, {7}};
  TransactionState remembered;
  ASSERT_TRUE(store_->Transact(LockSetOf({campaign}), {},
                               [&](TransactionState& loaded) { remembered = loaded; }));
  for (const bool born_again : {false, true}) {
    ASSERT_EQ(Purge("e"), Purged::kYes);
    if (born_again) {
      ASSERT_TRUE(Create("e"));
    }
    remembered.now = store_->FindDueWork(1).value().now;

    const auto committed = store_->Transact(
        LockSetOf({campaign}), {.remembered = &remembered},
        [&](TransactionState& transaction) { EXPECT_TRUE(Apply(transaction, limits_, campaign)); });

    ASSERT_TRUE(committed) << committed.error().message;
    EXPECT_EQ(committed->memory, Committed::Memory::kRefused);
    EXPECT_GT(View("e").election.term, Term{6});
    ASSERT_TRUE(Run(Resign{{"e"}, std::get<Campaign>(campaign).session, {}}));
  }
}

// --- Concurrently ---

// A purge of the same name may be committed while the row is being created.
TEST_P(PurgeContract, ANewElectionBeginsAfterTheOriginAsOfItsInsertion) {
  if (GetParam() != Kind::kServer) GTEST_SKIP() << "SQLite runs one transaction at a time";
  Gate gate("BEFORE INSERT ON tenure.elections");
  const auto other = Open();
  std::thread slow([&] { Stand("e", NewSessionId(), "a"); });
  gate.WaitUntilOneWaits();

  const uint64_t raised = other->RaiseOrigin().value();
  gate.Open();
  slow.join();

  EXPECT_EQ(View("e").election.term, Term{raised + 1});
}

// No term is granted twice, however the statements interleave.
TEST_P(PurgeContract, NamesAreUsedWhileTheyArePurged) {
  constexpr int kRounds = 60;
  const std::vector<std::string> names = {"e", "f"};
  std::mutex mutex;
  std::map<std::string, std::set<uint64_t>> granted;
  std::atomic<int> candidates = 2;
  std::atomic<int> purged = 0;
  const auto open = [&]() -> std::shared_ptr<Store> {
    if (GetParam() != Kind::kSqliteMemory) return Open();
    return {store_.get(), [](Store*) {}};
  };

  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&, store = open()] {
      for (int round = 0; round < kRounds; ++round) {
        for (const std::string& name : names) {
          const SessionId session = NewSessionId();
          const auto answer = Run(
              *store, {Campaign{{name}, session, Campaign::Opening{"a", 60s}, {}, "v", 0, {7}}})[0];
          const auto* campaign = answer ? &std::get<CampaignAnswer>(*answer) : nullptr;
          if (campaign != nullptr && campaign->elected) {
            const std::lock_guard lock(mutex);
            EXPECT_TRUE(granted[name].insert(campaign->election.term.value).second)
                << name << " in term " << campaign->election.term.value;
          }
          while (campaign != nullptr && !Run(*store, {Resign{{name}, session, {}}})[0]) continue;
        }
      }
      --candidates;
    });
  }
  threads.emplace_back([&, store = open()] {
    while (candidates > 0) {
      for (const auto& [name, outcome] : Purge(*store, names)) {
        if (outcome == Purged::kYes) ++purged;
      }
    }
  });
  for (std::thread& thread : threads) thread.join();

  EXPECT_GT(purged, 0);
  EXPECT_THAT(granted["e"], Not(IsEmpty()));
}

INSTANTIATE_TEST_SUITE_P(Stores, PurgeContract,
                         ::testing::Values(Kind::kSqliteMemory, Kind::kSqliteFile, Kind::kServer),
                         KindName);

// Nor is its state from before the wait trusted afterwards.
TEST_P(PurgeContract, NoSessionIsLockedWhileAnElectionIsMade) {
  if (GetParam() != Kind::kServer) GTEST_SKIP() << "SQLite runs one transaction at a time";
  const SessionId session = NewSessionId();
  Stand("f", session, "a");
  Gate gate("BEFORE INSERT ON tenure.elections");
  const auto other = Open();
  std::optional<Result<Answer>> answer;
  std::thread slow([&] { answer = Run(Campaign{{"e"}, session, {}, {}, "v", 0, {7}}); });
  gate.WaitUntilOneWaits();

  const auto ended = other->Transact({{}, {session}}, {}, [&](TransactionState& transaction) {
    EXPECT_THAT(transaction.busy_sessions, IsEmpty());
    EXPECT_TRUE(EndSession(transaction, session, Cause::kSessionClosed));
  });
  gate.Open();
  slow.join();

  EXPECT_TRUE(ended);
  EXPECT_EQ(ReasonOf(*answer), Reason::kSessionEnded);
  EXPECT_FALSE(IsThere("e"));
}

}  // namespace
}  // namespace tenure::testing
