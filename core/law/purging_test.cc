// Purges: which elections are removed, and what is remembered of them.
#include "core/law/purging.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/law/law_testing.h"

namespace tenure::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr uint64_t kManyEvents = 1'000;
constexpr Duration kAge = 48h;
const DbTime kLongAgo = kNow + -kAge;

Purge Purging(Duration unused_for = kAge) { return {unused_for, false, kOperator}; }

// Its oldest event has this revision.
Fact ChangedAt(DbTime at, uint64_t oldest = 1) {
  return [=](TransactionState& transaction) {
    transaction.elections[kElection].past = Past{Revision{oldest}, at};
  };
}
Fact NothingIsKept() {
  return [](TransactionState& transaction) { transaction.elections[kElection].past.emplace(); };
}
Fact Changed(const std::function<void(Election&)>& change) {
  return [=](TransactionState& transaction) { change(transaction.elections[kElection].election); };
}

Purged Purge(TransactionState& transaction, const struct Purge& purge,
             uint64_t events_max = kManyEvents) {
  return Apply(transaction, purge, kElection, events_max);
}

TEST(PurgeTest, AnElectionThatNobodyUsesIsRemoved) {
  auto transaction = Given(VacantAfter(Term{7}), ChangedAt(kLongAgo));

  EXPECT_EQ(Purge(transaction, Purging()), Purged::kYes);

  EXPECT_TRUE(StateIn(transaction).purged);
  EXPECT_FALSE(StateIn(transaction).exists);
  EXPECT_THAT(transaction.events, IsEmpty());
}

// History may have been trimmed, or hidden when terms were raised.
TEST(PurgeTest, ARecentlyLedElectionStaysWhateverItsHistorySays) {
  const auto vacant_since = [](DbTime since) {
    return Changed([=](Election& it) { it.vacancy = Vacancy{Cause::kResigned, since}; });
  };
  for (const Fact& history : {NothingIsKept(), ChangedAt(kLongAgo)}) {
    auto transaction = Given(VacantAfter(Term{7}), history, vacant_since(kLongAgo + kInstant));
    EXPECT_EQ(Purge(transaction, Purging()), Purged::kNo);
    EXPECT_TRUE(StateIn(transaction).exists);

    vacant_since(kLongAgo)(transaction);
    EXPECT_EQ(Purge(transaction, Purging()), Purged::kYes);
    EXPECT_EQ(transaction.admin_changes.at(0).detail, "unused for 48h");
  }
}

TEST(PurgeTest, ARecentlyDeletedElectionStaysWhateverItsHistorySays) {
  auto transaction = Given(VacantAfter(Term{7}));
  (void)Do(transaction, Deleting(Term{7}));
  LoadAgain(transaction);
  NothingIsKept()(transaction);

  transaction.now = kNow + kAge + -kInstant;
  EXPECT_EQ(Purge(transaction, Purging()), Purged::kNo);
  transaction.now = kNow + kAge;
  EXPECT_EQ(Purge(transaction, Purging()), Purged::kYes);
}

TEST(PurgeTest, NewElectionsBeginAfterItsHighestNumber) {
  const ElectionName other{"billing"};
  auto transaction = Given(VacantAfter(Term{7}), ChangedAt(kLongAgo),
                           In(other, VacantAfter(Term{3}), ChangedAt(kLongAgo)));
  uint64_t events_max = kManyEvents;

  (void)Apply(transaction, Purging(), kElection, events_max);
  (void)Apply(transaction, Purging(), other, events_max);

  EXPECT_EQ(transaction.origin_min, 14u);  // the revision of the first election
  EXPECT_EQ(events_max, kManyEvents - 14 - 6);
}

TEST(PurgeTest, ItIsRecordedWithTheLastTerm) {
  auto transaction = Given(VacantAfter(Term{7}), ChangedAt(kLongAgo));

  (void)Purge(transaction, Purging());

  EXPECT_THAT(transaction.admin_changes,
              ElementsAre(AdminChange{kElection, AdminAction::kPurged, Term{7}, kNow,
                                      "unused for 48h", kOperator}));
}

TEST(PurgeTest, ADryRunChangesNothing) {
  auto transaction = Given(VacantAfter(Term{7}), ChangedAt(kLongAgo));
  const auto before = transaction;

  EXPECT_EQ(Purge(transaction, {kAge, true, kOperator}), Purged::kYes);

  EXPECT_THAT(transaction, IsSameAs(before));
  EXPECT_FALSE(StateIn(transaction).purged);
  EXPECT_EQ(transaction.origin_min, 0u);
}

TEST(PurgeTest, ADeletedElectionIsRemoved) {
  auto transaction = Given(VacantAfter(Term{7}));
  ASSERT_TRUE(Do(transaction, Deleting(Term{7})));
  ChangedAt(kLongAgo)(transaction);
  transaction.now = kNow + kAge;

  EXPECT_EQ(Purge(transaction, Purging()), Purged::kYes);
  EXPECT_EQ(transaction.origin_min, 14u);
}

TEST(PurgeTest, AnElectionThatWasNeverUsedIsRemovedWhateverItsAge) {
  auto transaction = Given(VacantAfter(Term{0}), NothingIsKept());

  EXPECT_EQ(Purge(transaction, Purging()), Purged::kYes);
  EXPECT_EQ(transaction.admin_changes.at(0).detail, "never used");
}

TEST(PurgeTest, AnUnknownElectionIsNotPurged) {
  auto transaction = Given(NothingIsKept());

  EXPECT_EQ(Purge(transaction, Purging()), Purged::kNo);
  EXPECT_THAT(transaction.admin_changes, IsEmpty());
}

// --- What keeps an election ---

struct Kept {
  std::string why;
  Fact fact;
};
void PrintTo(const Kept& kept, std::ostream* out) { *out << kept.why; }

class KeptTest : public ::testing::TestWithParam<Kept> {};

TEST_P(KeptTest, IsNotPurged) {
  auto transaction = Given(VacantAfter(Term{7}), ChangedAt(kLongAgo), GetParam().fact);
  const auto before = transaction;

  EXPECT_EQ(Purge(transaction, Purging()), Purged::kNo);

  EXPECT_THAT(transaction, IsSameAs(before));
  EXPECT_FALSE(StateIn(transaction).purged);
}

INSTANTIATE_TEST_SUITE_P(
    PurgeTest, KeptTest,
    ::testing::Values(Kept{"Led", LedBy("a", Term{7})},
                      Kept{"LedByOneWhoseSessionHasEnded",
                           [](auto& transaction) {
                             LedBy("a", Term{7})(transaction);
                             Expired("a")(transaction);
                           }},
                      Kept{"Wanted", Waiting("a")},
                      Kept{"WantedByOneWhoseSessionHasEnded",
                           [](auto& transaction) {
                             Waiting("a")(transaction);
                             Expired("a")(transaction);
                           }},
                      Kept{"Paused", Paused()}, Kept{"Configured", WithSettings({.queue_max = 7})},
                      Kept{"Delayed", VacantUntil(kNow + kInstant)},
                      Kept{"Reserved", Appointed("a", kNow + 1s)},
                      Kept{"CoolingDown", KeptOut("a", kNow + 1s)},
                      Kept{"Awaited", Changed([](Election& it) { it.wake_at = kNow; })},
                      Kept{"UsedAMomentTooLate", ChangedAt(kLongAgo + kInstant)},
                      // The clock has been set back since.
                      Kept{"UsedInTheFuture", ChangedAt(kNow + 1h)}),
    [](const auto& test) { return test.param.why; });

TEST(PurgeTest, DelaysThatHaveEndedKeepNothing) {
  auto transaction = Given(VacantAfter(Term{7}), ChangedAt(kLongAgo), VacantUntil(kNow),
                           Appointed("a", kNow), KeptOut("b", kNow));

  EXPECT_EQ(Purge(transaction, Purging()), Purged::kYes);
}

// --- A long history ---

TEST(PurgeTest, ALongHistoryIsDeletedFirstOldestEventsFirst) {
  auto transaction = Given(VacantAfter(Term{7}), ChangedAt(kLongAgo, 3));

  uint64_t events_max = 5;

  EXPECT_EQ(Apply(transaction, Purging(), kElection, events_max), Purged::kPartly);

  EXPECT_EQ(events_max, 0u);  // nothing is left for other elections
  EXPECT_EQ(StateIn(transaction).forgotten_before, Revision{8});
  EXPECT_FALSE(StateIn(transaction).purged);
  EXPECT_TRUE(StateIn(transaction).exists);
  EXPECT_EQ(transaction.origin_min, 0u);
  EXPECT_THAT(transaction.admin_changes, IsEmpty());
}

TEST(PurgeTest, AHistoryOfTheMaximumLengthGoesWithTheElection) {
  auto transaction = Given(VacantAfter(Term{7}), ChangedAt(kLongAgo, 3));

  EXPECT_EQ(Purge(transaction, Purging(), 12), Purged::kYes);
}

// --- The first event ---

TEST(FirstEventTest, OnlyTheFirstGrantIsTheFirst) {
  auto transaction = Given();
  (void)Do(transaction, FirstCampaignBy("a"));
  (void)Do(transaction, ProclaimBy("a", Term{1}, "w"));
  (void)Do(transaction, ResignBy("a"));
  (void)Do(transaction, CampaignBy("a"));

  std::vector<bool> first;
  for (const Event& event : transaction.events) first.push_back(IsFirst(event));

  EXPECT_THAT(first, ElementsAre(true, false, false, false));
}

TEST(FirstEventTest, TheFirstGrantIsFirstWhateverNumberItBeginsAfter) {
  auto transaction = Given(Changed([](Election& it) { it.term = Term{it.revision.value = 500}; }));
  (void)Do(transaction, FirstCampaignBy("a"));
  (void)Do(transaction, ResignBy("a"));

  EXPECT_TRUE(IsFirst(transaction.events.at(0)));
  EXPECT_EQ(transaction.events.at(0).revision, Revision{501});
  EXPECT_FALSE(IsFirst(transaction.events.at(1)));
}

}  // namespace
}  // namespace tenure::testing
