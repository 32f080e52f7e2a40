#include "storage/changes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/law/law_testing.h"

namespace tenure::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

std::vector<std::string> ElectionsIn(const Changes& changes) {
  std::vector<std::string> names;
  for (const Election* election : changes.elections) names.push_back(election->name.bytes);
  return names;
}

std::vector<SessionId> SessionsIn(const Changes& changes) {
  std::vector<SessionId> ids;
  for (const Session* session : changes.opened) ids.push_back(session->id);
  for (const Session* session : changes.sessions) ids.push_back(session->id);
  return ids;
}

std::vector<SessionId> CandidaciesIn(const Changes& changes) {
  std::vector<SessionId> ids;
  for (const auto& [election, candidacy] : changes.candidacies) {
    EXPECT_EQ(*election, kElection);
    ids.push_back(candidacy->session);
  }
  return ids;
}

// --- Compare ---

MATCHER(WritesNothing, "") {
  return arg.elections.empty() && arg.opened.empty() && arg.sessions.empty() &&
         arg.candidacies.empty() && arg.departed.empty() && arg.emptied.empty() &&
         arg.cool_downs.empty();
}

TEST(CompareTest, WithoutChangesNothingIsWritten) {
  const auto transaction = Given(LedBy("a", Term{7}), Waiting("b"), Ended("c", Cause::kExpired));

  EXPECT_THAT(Compare(transaction, transaction), WritesNothing());
}

TEST(CompareTest, EventsAloneAreNotCompared) {
  const auto loaded = Given(LedBy("a", Term{7}));
  auto decided = loaded;
  decided.ended.push_back(Id("a"));
  decided.undecided.insert(kElection);

  EXPECT_THAT(Compare(loaded, decided), WritesNothing());
}

TEST(CompareTest, AChangedElectionIsWritten) {
  const auto loaded = Given(LedBy("a", Term{7}));
  auto decided = loaded;
  decided.elections.at(kElection).election.leader->value = "w";

  const Changes changes = Compare(loaded, decided);

  EXPECT_THAT(ElectionsIn(changes), ElementsAre("orders"));
  EXPECT_THAT(SessionsIn(changes), IsEmpty());
  EXPECT_EQ(changes.elections[0], &decided.elections.at(kElection).election);
}

TEST(CompareTest, ANewElectionIsWritten) {
  const auto loaded = Given();
  auto decided = loaded;
  (void)Do(decided, FirstCampaignBy("a"));

  const Changes changes = Compare(loaded, decided);

  EXPECT_THAT(ElectionsIn(changes), ElementsAre("orders"));
  EXPECT_THAT(SessionsIn(changes), ElementsAre(Id("a")));
  EXPECT_THAT(CandidaciesIn(changes), IsEmpty());
  EXPECT_THAT(changes.departed, IsEmpty());
}

TEST(CompareTest, ANewElectionEqualToTheLoadedOneIsWritten) {
  auto loaded = Given();
  loaded.elections.at(kElection).exists = false;
  auto decided = loaded;
  decided.elections.at(kElection).exists = true;

  EXPECT_THAT(ElectionsIn(Compare(loaded, decided)), ElementsAre(kElection.bytes));
}

TEST(CompareTest, ASessionThatMovesIsWrittenAlone) {
  const auto loaded = Given(Alive("a"), Alive("b"));
  auto decided = loaded;
  EXPECT_TRUE(Adopt(decided, Id("a")));

  const Changes changes = Compare(loaded, decided);

  EXPECT_THAT(SessionsIn(changes), ElementsAre(Id("a")));
  EXPECT_THAT(ElectionsIn(changes), IsEmpty());
}

TEST(CompareTest, ANewCandidacyIsWritten) {
  const auto loaded = Given(LedBy("a", Term{7}), Waiting("b"));
  auto decided = loaded;
  (void)Do(decided, FirstCampaignBy("c"));

  const Changes changes = Compare(loaded, decided);

  EXPECT_THAT(CandidaciesIn(changes), ElementsAre(Id("c")));
  EXPECT_THAT(changes.departed, IsEmpty());
}

TEST(CompareTest, AChangedCandidacyIsWrittenAndNotDeleted) {
  const auto loaded = Given(LedBy("a", Term{7}), Waiting("b"), Waiting("c"));
  auto decided = loaded;
  (void)Do(decided, CampaignBy("c", {.priority = 5}));

  const Changes changes = Compare(loaded, decided);

  EXPECT_THAT(CandidaciesIn(changes), ElementsAre(Id("c")));
  EXPECT_THAT(changes.departed, IsEmpty());
}

TEST(CompareTest, ACandidacyThatLeftTheQueueIsDeleted) {
  const auto loaded = Given(LedBy("a", Term{7}), Waiting("b"), Waiting("c"), Waiting("d"));
  auto decided = loaded;
  auto& queue = decided.elections.at(kElection).queue;
  queue.erase(queue.begin(), queue.begin() + 2);

  const Changes changes = Compare(loaded, decided);

  EXPECT_THAT(changes.departed,
              UnorderedElementsAre(PlaceKey{kElection, Id("b")}, PlaceKey{kElection, Id("c")}));
  EXPECT_THAT(CandidaciesIn(changes), IsEmpty());
}

TEST(CompareTest, ASeatThatPassesMovesACandidacyToTheElection) {
  const auto loaded = Given(LedBy("a", Term{7}), Waiting("b"));
  auto decided = loaded;
  (void)EndSession(decided, Id("a"), Cause::kSessionClosed);
  (void)Do(decided, ReconciliationOf("a"));

  const Changes changes = Compare(loaded, decided);

  EXPECT_THAT(ElectionsIn(changes), ElementsAre("orders"));
  EXPECT_THAT(SessionsIn(changes), ElementsAre(Id("a")));
  EXPECT_THAT(changes.departed, ElementsAre(PlaceKey{kElection, Id("b")}));
}

TEST(CompareTest, AnElectionCreatedWithoutSettingsIsWritten) {
  const auto loaded = Given();
  auto decided = loaded;
  (void)Do(decided, Creating());

  EXPECT_THAT(ElectionsIn(Compare(loaded, decided)), ElementsAre("orders"));
}

std::vector<std::string> CoolDownsIn(const Changes& changes) {
  std::vector<std::string> candidates;
  for (const CoolDown& it : changes.cool_downs) candidates.push_back(*it.candidate);
  return candidates;
}

TEST(CompareTest, NewAndChangedCoolDownsAreWritten) {
  const auto loaded =
      Given(LedBy("a", Term{7}), KeptOut("same", kNow + 1s), KeptOut("longer", kNow + 1s));
  auto decided = loaded;
  decided.elections.at(kElection).cool_downs["longer"] = kNow + 2s;
  decided.elections.at(kElection).cool_downs["new"] = kNow + 3s;

  const Changes changes = Compare(loaded, decided);

  EXPECT_THAT(CoolDownsIn(changes), ElementsAre("longer", "new"));
  EXPECT_EQ(changes.cool_downs[0].until, kNow + 2s);
}

TEST(CompareTest, EndedCoolDownsNeedNoWrite) {
  const auto loaded = Given(LedBy("a", Term{7}), KeptOut("over", kNow));
  auto decided = loaded;
  decided.elections.at(kElection).cool_downs.clear();

  EXPECT_THAT(Compare(loaded, decided), WritesNothing());
}

TEST(CompareTest, AnEmptiedElectionIsWrittenCompletely) {
  const auto loaded =
      Given(LedBy("a", Term{7}), Waiting("b"), Waiting("c"), KeptOut("x", kNow + 1s));
  auto decided = loaded;
  ElectionState& state = decided.elections.at(kElection);
  state.emptied = true;
  state.queue.pop_back();

  const Changes changes = Compare(loaded, decided);

  ASSERT_EQ(changes.emptied.size(), 1u);
  EXPECT_EQ(*changes.emptied[0], kElection);
  EXPECT_THAT(CandidaciesIn(changes), ElementsAre(Id("b")));
  EXPECT_THAT(CoolDownsIn(changes), ElementsAre("x"));
  EXPECT_THAT(changes.departed, IsEmpty());
}

// --- EventsByPartition ---

TEST(EventsByPartitionTest, EachPartitionHasItsEventsInOrder) {
  TransactionState decided;
  const std::vector<Event>& events = decided.events;
  for (uint64_t i = 1; i <= 40; ++i) {
    Event& event = decided.events.emplace_back();
    event.election = {"e" + std::to_string(i % 9)};
    event.revision = {i};
  }

  const auto partitions = EventsByPartition(decided);

  size_t all = 0;
  for (const auto& [partition, of_partition] : partitions) {
    EXPECT_FALSE(of_partition.empty());
    Revision last;
    for (const Event* event : of_partition) {
      EXPECT_EQ(PartitionOf(event->election), partition);
      EXPECT_GT(event->revision, last);
      last = event->revision;
    }
    all += of_partition.size();
  }
  EXPECT_EQ(all, events.size());
  EXPECT_THAT(EventsByPartition({}), IsEmpty());
}

TEST(EventsByPartitionTest, APurgeAdvancesAPartitionWithoutAnEvent) {
  auto decided = Given(VacantAfter(Term{7}));
  decided.elections.at(kElection).purged = true;

  const auto partitions = EventsByPartition(decided);

  EXPECT_THAT(partitions, ElementsAre(Pair(PartitionOf(kElection), IsEmpty())));
}

// --- Purges ---

TEST(CompareTest, AnElectionThatIsPurgedIsNotSaved) {
  const auto loaded = Given(VacantAfter(Term{7}));
  auto decided = loaded;
  decided.elections.at(kElection).purged = true;
  decided.elections.at(kElection).exists = false;

  const Changes changes = Compare(loaded, decided);

  ASSERT_EQ(changes.purged.size(), 1u);
  EXPECT_EQ(*changes.purged[0], kElection);
  EXPECT_THAT(changes.elections, IsEmpty());
}

TEST(CompareTest, AHistoryThatIsShortenedChangesNothingElse) {
  const auto loaded = Given(VacantAfter(Term{7}));
  auto decided = loaded;
  decided.elections.at(kElection).forgotten_before = {3};

  const Changes changes = Compare(loaded, decided);

  ASSERT_EQ(changes.forgotten.size(), 1u);
  EXPECT_EQ(changes.forgotten[0].second, Revision{3});
  EXPECT_THAT(changes.elections, IsEmpty());
}

// --- SessionIdsOf ---

TEST(SessionIdsOfTest, AHandleIsBetweenTheFirstAndTheLast) {
  const SessionId id = SessionId::FromHex("0123456789abcdef0f1e2d3c4b5a6978").value();

  const auto [first, last] = SessionIdsOf(id.Handle());

  EXPECT_EQ(first.Hex(), "0123456789abcdef0000000000000000");
  EXPECT_EQ(last.Hex(), "0123456789abcdefffffffffffffffff");
  EXPECT_LT(first, id);
  EXPECT_LT(id, last);
}

// --- FinishLoading ---

Candidacy Place(const std::string& name, uint64_t ticket, int32_t priority = 0) {
  return {Id(name), "", Duration(0), Ticket{ticket}, priority, "", {}};
}

std::vector<SessionId> QueueOf(const TransactionState& transaction) {
  std::vector<SessionId> ids;
  for (const Candidacy& candidacy : transaction.elections.at(kElection).queue) {
    ids.push_back(candidacy.session);
  }
  return ids;
}

TEST(FinishLoadingTest, TheQueueIsSorted) {
  auto transaction = Given();
  transaction.elections.at(kElection).queue = {Place("c", 1), Place("a", 3), Place("b", 2),
                                               Place("d", 4, 1)};

  FinishLoading(transaction);

  EXPECT_THAT(QueueOf(transaction), ElementsAre(Id("d"), Id("c"), Id("b"), Id("a")));
}

TEST(FinishLoadingTest, DuplicateRowsAreKeptOnce) {
  auto transaction = Given();
  transaction.elections.at(kElection).queue = {Place("a", 1), Place("b", 2), Place("a", 1),
                                               Place("a", 1)};

  FinishLoading(transaction);

  EXPECT_THAT(QueueOf(transaction), ElementsAre(Id("a"), Id("b")));
}

TEST(FinishLoadingTest, CandidaciesGetTheDataOfTheirSessions) {
  auto transaction = Given(Alive("a"));
  transaction.elections.at(kElection).queue = {Place("a", 1)};

  FinishLoading(transaction);

  EXPECT_EQ(transaction.elections.at(kElection).queue[0].candidate, "a");
  EXPECT_EQ(transaction.elections.at(kElection).queue[0].lease_ttl, kLease);
}

TEST(FinishLoadingTest, ACandidacyWithAForgottenSessionIsKept) {
  auto transaction = Given();
  transaction.elections.at(kElection).queue = {Place("a", 1)};

  FinishLoading(transaction);

  EXPECT_THAT(QueueOf(transaction), ElementsAre(Id("a")));
}

}  // namespace
}  // namespace tenure::testing
