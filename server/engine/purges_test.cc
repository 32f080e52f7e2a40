// Purges: pages of elections that nobody uses, and how other replicas cope.
#include "server/engine/purges.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "server/engine/engine_testing.h"

namespace tenure::engine {
namespace {

using namespace tenure::testing;

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr Duration kUnused = 2s;

class PurgesTest : public ::testing::Test {
 protected:
  // Somebody has led there, and left.
  void Use(Replica& replica, const std::string& election) {
    EXPECT_THAT(replica.Do(Stand(election, "a")), AnswersElected());
    EXPECT_TRUE(replica.Do(Leave(election, "a")));
  }

  static PurgeOrder Everything(size_t limit = 100) {
    return {{kUnused, false, kOperator}, "", "", limit};
  }

  Result<PurgePage> Purge(const PurgeOrder& order) {
    return a_.Ask<PurgePage>([&](auto reply) { a_.engine.Purge(order, reply); });
  }

  // In pages, to the end.
  std::vector<std::string> PurgeAll(PurgeOrder order) {
    std::vector<std::string> all;
    do {
      const auto page = Purge(order);
      EXPECT_TRUE(page);
      if (!page) break;
      for (const ElectionName& name : page->purged) all.push_back(name.bytes);
      order.after = page->next;
      ++pages_;
    } while (!order.after.empty());
    return all;
  }

  [[nodiscard]] std::vector<std::string> Elections() {
    std::vector<std::string> names;
    const auto views = world_.store().ListElections("", "", 100).value();
    for (const ElectionView& view : views) {
      names.push_back(view.election.name.bytes);
    }
    return names;
  }

  World world_;
  Replica& a_ = world_.Start();
  int pages_ = 0;
};

TEST_F(PurgesTest, UnusedElectionsArePurged) {
  Use(a_, "orders");
  Use(a_, "jobs");
  EXPECT_THAT(a_.Do(Stand("jobs", "b")), AnswersElected());
  world_.Advance(kUnused);

  EXPECT_THAT(PurgeAll(Everything()), ElementsAre("orders"));

  EXPECT_THAT(Elections(), ElementsAre("jobs"));
  EXPECT_EQ(a_.metrics.admin_changes.Value(), 1);
}

TEST_F(PurgesTest, RecentlyUsedElectionsStay) {
  Use(a_, "orders");
  world_.Advance(kUnused - 1s);

  EXPECT_THAT(PurgeAll(Everything()), IsEmpty());
  EXPECT_THAT(Elections(), ElementsAre("orders"));
}

TEST_F(PurgesTest, ADryRunListsWhatWouldBePurged) {
  Use(a_, "orders");
  world_.Advance(kUnused);
  PurgeOrder order = Everything();
  order.purge.dry_run = true;

  EXPECT_THAT(PurgeAll(order), ElementsAre("orders"));

  EXPECT_THAT(Elections(), ElementsAre("orders"));
  EXPECT_EQ(a_.metrics.admin_changes.Value(), 0);
}

TEST_F(PurgesTest, OnlyElectionsWithThePrefixArePurged) {
  for (const char* name : {"a/1", "b/1", "b/2", "c/1"}) Use(a_, name);
  world_.Advance(kUnused);
  PurgeOrder order = Everything();
  order.prefix = "b/";

  EXPECT_THAT(PurgeAll(order), ElementsAre("b/1", "b/2"));
  EXPECT_THAT(Elections(), ElementsAre("a/1", "c/1"));
}

TEST_F(PurgesTest, EachPageContinuesTheOneBefore) {
  for (const char* name : {"1", "2", "3", "4", "5"}) Use(a_, name);
  EXPECT_THAT(a_.Do(Stand("3", "b")), AnswersElected());
  world_.Advance(kUnused);

  EXPECT_THAT(PurgeAll(Everything(2)), ElementsAre("1", "2", "4", "5"));
  EXPECT_EQ(pages_, 3);
}

TEST_F(PurgesTest, MoreElectionsThanOneTransactionTakesArePurged) {
  std::vector<std::string> names;
  for (int i = 100; i < 250; ++i) Use(a_, names.emplace_back(std::to_string(i)));
  world_.Advance(kUnused);

  EXPECT_EQ(PurgeAll(Everything(1'000)), names);
  EXPECT_EQ(pages_, 1);
}

TEST_F(PurgesTest, ALockedElectionStays) {
  Use(a_, "orders");
  Use(a_, "jobs");
  world_.Advance(kUnused);
  a_.store.Lock({"jobs"});

  EXPECT_THAT(PurgeAll(Everything()), ElementsAre("orders"));
  EXPECT_THAT(Elections(), ElementsAre("jobs"));
}

TEST_F(PurgesTest, AStoreThatIsAwayIsAnError) {
  a_.store.FailNext(1, "ListElections");
  EXPECT_THAT(Purge(Everything()), FailsWith(Reason::kStoreUnavailable));
}

// Its events are more than are deleted at once, in one page, and in one call.
TEST_F(PurgesTest, ALongHistoryIsPurgedPieceByPieceWithItsElection) {
  constexpr uint64_t kEvents = 10'500;
  for (const char* name : {"0", "a", "z"}) Use(a_, name);
  LockSet locks;
  locks.elections[{"a"}];
  ASSERT_TRUE(world_.store().Transact(locks, {}, [&](TransactionState& transaction) {
    Election& election = transaction.elections.at({"a"}).election;
    while (election.revision < Revision{kEvents}) {
      election.revision = election.revision.Next();
      transaction.events.push_back({election.name,
                                    election.revision,
                                    EventType::kProclaimed,
                                    Cause::kNone,
                                    election.term,
                                    {},
                                    transaction.now});
    }
  }));
  world_.Advance(kUnused);

  EXPECT_THAT(PurgeAll(Everything()), ElementsAre("0", "a", "z"));

  EXPECT_EQ(pages_, 2);
  EXPECT_THAT(world_.store().ReadEvents({"a"}, {1}, 10).value(), IsEmpty());
  EXPECT_THAT(a_.Do(Stand("a", "b")), AnswersElected());
  EXPECT_EQ(a_.Read({"a"}).value()->term, Term{kEvents + 1});
}

// --- Another replica, which remembers ---

class PurgedElsewhereTest : public PurgesTest {
 protected:
  PurgedElsewhereTest() {
    Use(b_, "orders");
    Use(b_, "orders");
    world_.Advance(kUnused);
    EXPECT_EQ(b_.Read({"orders"}).value()->term, Term{2});
  }

  Replica& b_ = world_.Start();
};

TEST_F(PurgedElsewhereTest, TermsGoOnBeforeItHearsOfThePurge) {
  ASSERT_THAT(PurgeAll(Everything()), ElementsAre("orders"));

  EXPECT_THAT(b_.Do(Stand("orders", "b")), AnswersElected());

  EXPECT_EQ(b_.Read({"orders"}).value()->term, Term{5});
  EXPECT_EQ(b_.metrics.transactions_refused.Value(), 1);
}

TEST_F(PurgedElsewhereTest, TermsGoOnAfterItHearsOfThePurge) {
  ASSERT_THAT(PurgeAll(Everything()), ElementsAre("orders"));
  world_.Advance(1s);

  EXPECT_THAT(b_.Do(Stand("orders", "b")), AnswersElected());

  EXPECT_EQ(b_.Read({"orders"}).value()->term, Term{5});
  EXPECT_EQ(b_.metrics.transactions_refused.Value(), 0);
}

TEST_F(PurgedElsewhereTest, ItShowsNoPurgedElection) {
  ASSERT_THAT(PurgeAll(Everything()), ElementsAre("orders"));

  EXPECT_EQ(b_.Read({"orders"}).value(), std::nullopt);
  EXPECT_EQ(a_.Read({"orders"}).value(), std::nullopt);
}

TEST_F(PurgedElsewhereTest, ItsWatchersAreNotifiedOfTheNextLeader) {
  const Watching watching(b_.engine.hub(), {WatchElection{{"orders"}}});
  ASSERT_THAT(PurgeAll(Everything()), ElementsAre("orders"));
  EXPECT_THAT(a_.Do(Stand("orders", "c")), AnswersElected());
  world_.Advance(1s);

  EXPECT_THAT(watching.lines(), ElementsAre("orders 5 ELECTED c term 5"));
}

}  // namespace
}  // namespace tenure::engine
