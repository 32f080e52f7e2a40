// What every store promises (storage/store.h), checked on every store.
#include "tests/contract/store_contract.h"

#include <atomic>
#include <future>
#include <limits>
#include <optional>
#include <thread>

#include "storage/mysql/connection.h"
#include "storage/mysql/sql.h"

namespace tenure::testing {
namespace {

using namespace std::chrono_literals;
using namespace std::string_literals;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

INSTANTIATE_TEST_SUITE_P(Stores, StoreContract,
                         ::testing::Values(Kind::kSqliteMemory, Kind::kSqliteFile, Kind::kServer),
                         KindName);

TEST_P(StoreContract, MigratingTwiceSucceedsAndTheSchemaIsKnown) {
  ASSERT_TRUE(store_->Migrate());

  EXPECT_EQ(store_->CheckSchema().value(), SchemaState::kCurrent);
  EXPECT_TRUE(store_->Ping());
}

TEST_P(StoreContract, NewElectionsStartAfterTheOriginAndOldOnesStay) {
  Stand("old", NewSessionId(), "a");
  const uint64_t once = store_->RaiseOrigin().value();
  const uint64_t twice = store_->RaiseOrigin().value();
  Stand("new", NewSessionId(), "b");

  EXPECT_GE(twice, once + kBumpMin);
  const std::string first = std::to_string(twice + 1);
  EXPECT_THAT(History("new"), ElementsAre(first + " ELECTED b " + first + " "));
  EXPECT_THAT(History("old"), ElementsAre("1 ELECTED a 1 "));
}

// So a backup that is restored twice brings back no number given after the first time.
TEST_P(StoreContract, TheOriginIsRaisedToTheClock) {
  const auto year_2020 = 1'577'836'800'000'000u;

  EXPECT_GT(store_->RaiseOrigin().value(), year_2020);
}

TEST_P(StoreContract, TheSessionKeyIsRandomAndStays) {
  const std::string key = store_->SessionKey().value();
  const bool server = GetParam() == Kind::kServer;
  const auto another = OpenUrl(server ? Server().FreshDatabase("another") : "sqlite::memory:");
  ASSERT_TRUE(another->Migrate());

  EXPECT_THAT(key, SizeIs(32));
  EXPECT_NE(another->SessionKey().value(), key);
  ASSERT_TRUE(store_->RaiseOrigin());
  ASSERT_TRUE(store_->Migrate());
  EXPECT_EQ(store_->SessionKey().value(), key);
}

TEST_P(StoreContract, ReplicasThatWantTheKeyAtOnceGetTheSame) {
  std::vector<std::future<std::string>> keys;
  for (int i = 0; i < 8; ++i) {
    keys.push_back(std::async(std::launch::async, [&] { return store_->SessionKey().value(); }));
  }

  for (auto& key : keys) EXPECT_EQ(key.get(), store_->SessionKey().value());
}

TEST_P(StoreContract, ABumpIsSavedAndItsEventReportedLikeAnyOther) {
  Stand("e", NewSessionId(), "a");
  const uint64_t offset = committed_.at(0).offset;
  constexpr uint64_t kFloor = 2'000'000'000'000'000;
  LockSet locks;
  locks.elections[{"e"}].departures = 1;

  const auto committed = store_->Transact(
      locks, {}, [](TransactionState& transaction) { Bump(transaction, {"e"}, kFloor); });

  ASSERT_TRUE(committed);
  EXPECT_THAT(History("e"), ElementsAre("2000000000000001 VACATED a 1 DEPOSED"));
  const int partition = PartitionOf({"e"});
  EXPECT_THAT(store_->ReadFeed(partition, offset, offset + 1).value(), SizeIs(1));
  Stand("e", NewSessionId(), "b");
  EXPECT_EQ(View("e").election.term, Term{kFloor + 1});
}

TEST_P(StoreContract, EveryFieldOfALeadershipIsStored) {
  const SessionId session = NewSessionId();
  const std::string value("\0'\"\\\xff%", 6);

  Campaign campaign{{"föö 'x' \\"}, session, Campaign::Opening{"c'ändidate\\", 5s}, {}, value, 0,
                    {~0ULL}};
  const auto answer = std::get<CampaignAnswer>(Run(campaign).value());

  ASSERT_TRUE(answer.elected);
  EXPECT_EQ(View("föö 'x' \\").election, answer.election);
  EXPECT_EQ(answer.election.leader->value, value);
  EXPECT_EQ(answer.election.leader->lease_ttl, 5s);
  const auto events = store_->ReadEvents({"föö 'x' \\"}, {1}, 10).value();
  ASSERT_THAT(events, SizeIs(1));
  EXPECT_EQ(events[0].leader.value, value);
  EXPECT_EQ(events[0].leader.session, session);
  EXPECT_EQ(events[0].at, answer.election.leader->elected_at);
}

TEST_P(StoreContract, EveryFieldOfAPlaceIsStored) {
  const std::string value("\0'\"\\\xff%", 6);
  for (const bool again : {false, true}) {
    const ElectionName election{again ? "again" : "once"};
    Stand(election.bytes, NewSessionId(), "leader");
    Campaign campaign{election, NewSessionId(), Campaign::Opening{"c'ändidate\\", 5s}, {}, value,
                      -3,       {~0ULL}};
    const auto queue_after = [&](const Command& command, auto decide) {
      decltype(ElectionState::queue) queue;
      EXPECT_TRUE(store_->Transact(LockSetOf({command}), {}, [&](TransactionState& it) {
        decide(it);
        queue = it.elections.at(election).queue;
      }));
      return queue;
    };

    auto decided = queue_after(campaign, [&](TransactionState& it) {
      EXPECT_TRUE(Apply(it, limits_, campaign));
      if (again) campaign.call_id = {1};
      EXPECT_TRUE(Apply(it, limits_, campaign));
    });

    ASSERT_THAT(decided, SizeIs(1));
    EXPECT_EQ(decided[0].asked_again, again);
    EXPECT_EQ(queue_after(campaign, [](TransactionState&) {}), decided);
  }
}

TEST_P(StoreContract, NamesAreBytes) {
  const std::vector<std::string> names = {"test", "testa", "test/", "TEST", "test ", "%", "tést"};
  for (const std::string& name : names) Stand(name, NewSessionId(), "leader of " + name);

  for (const std::string& name : names) {
    EXPECT_EQ(View(name).election.leader->candidate, "leader of " + name);
    EXPECT_EQ(View(name).election.term, Term{1});
  }
  EXPECT_THAT(store_->ListElections("test", "", 100).value(), SizeIs(4));
  EXPECT_THAT(store_->ListElections("test", "test/", 100).value(), SizeIs(1));
  EXPECT_THAT(store_->ListElections("", "", 3).value(), SizeIs(3));
  EXPECT_THAT(store_->ListElections("nobody", "", 3).value(), IsEmpty());
}

TEST_P(StoreContract, TheSeatPassesInTheTransactionThatEndsATerm) {
  const SessionId a = NewSessionId();
  const SessionId b = NewSessionId();
  const SessionId c = NewSessionId();
  ASSERT_TRUE(Stand("e", a, "a").elected);
  ASSERT_FALSE(Stand("e", b, "b").elected);
  ASSERT_FALSE(Stand("e", c, "c").elected);
  EXPECT_EQ(View("e").election.waiting, 2u);

  const auto resigned = std::get<ResignAnswer>(Run(Resign{{"e"}, a, Term{1}}).value());

  EXPECT_EQ(resigned.outcome, ResignOutcome::kResigned);
  EXPECT_EQ(View("e").election.leader->candidate, "b");
  EXPECT_EQ(View("e").election.waiting, 1u);
  EXPECT_THAT(History("e"),
              ElementsAre("1 ELECTED a 1 ", "2 VACATED a 1 RESIGNED", "3 ELECTED b 2 "));
}

TEST_P(StoreContract, ALeaderKeepsItsSeatInTheNextTermAheadOfTheQueue) {
  const SessionId a = NewSessionId();
  ASSERT_TRUE(Stand("e", a, "a").elected);
  Stand("e", NewSessionId(), "b", 60s, 9);
  Stand("e", NewSessionId(), "c");
  Campaign campaign{{"e"}, a, {}, {}, "again", 0, {8}};
  campaign.after_term = Term{1};

  const auto answer = std::get<CampaignAnswer>(Run(campaign).value());

  EXPECT_TRUE(answer.elected);
  const Election election = View("e").election;
  EXPECT_EQ(election, answer.election);
  EXPECT_EQ(election.term, Term{2});
  EXPECT_EQ(election.leader->session, a);
  EXPECT_EQ(election.leader->value, "again");
  EXPECT_EQ(election.waiting, 2u);
  const std::vector<std::string> history = {"1 ELECTED a 1 ", "2 VACATED a 1 RESIGNED",
                                            "3 ELECTED a 2 "};
  EXPECT_EQ(History("e"), history);
  EXPECT_EQ(std::get<CampaignAnswer>(Run(campaign).value()).election.term, Term{2});
  EXPECT_EQ(History("e"), history) << "sent twice, done once";
}

TEST_P(StoreContract, ALeaderMakesWayForAnAppointedCandidateAndQueues) {
  const SessionId a = NewSessionId();
  const SessionId c = NewSessionId();
  ASSERT_TRUE(Stand("e", a, "a").elected);
  Stand("e", NewSessionId(), "b");
  Stand("e", c, "c");
  ASSERT_TRUE(Run(Appoint{{"e"}, {1}, "c", false, {}, {"olga", "drill"}}));
  Campaign campaign{{"e"}, a, {}, {}, "again", 0, {8}};
  campaign.after_term = Term{1};

  EXPECT_FALSE(std::get<CampaignAnswer>(Run(campaign).value()).elected);

  EXPECT_EQ(View("e").election.leader->session, c);
  EXPECT_EQ(View("e").election.waiting, 2u);
  EXPECT_EQ(store_->ReadPositions({{{"e"}, a}}).value().at({{"e"}, a}), 2u);
}

TEST_P(StoreContract, TheQueueIsOrderedByPriorityThenByArrival) {
  Stand("e", NewSessionId(), "leader");
  const SessionId low = NewSessionId();
  const SessionId first = NewSessionId();
  const SessionId second = NewSessionId();
  const SessionId high = NewSessionId();
  Stand("e", low, "low", 60s, std::numeric_limits<int32_t>::min());
  Stand("e", first, "first");
  Stand("e", second, "second");
  Stand("e", high, "high", 60s, std::numeric_limits<int32_t>::max());

  const PlaceKey nowhere{{"e"}, NewSessionId()};
  const auto positions =
      store_->ReadPositions({{{"e"}, low}, {{"e"}, first}, {{"e"}, second}, {{"e"}, high}, nowhere})
          .value();

  EXPECT_EQ(positions.at({{"e"}, high}), 1u);
  EXPECT_EQ(positions.at({{"e"}, first}), 2u);
  EXPECT_EQ(positions.at({{"e"}, second}), 3u);
  EXPECT_EQ(positions.at({{"e"}, low}), 4u);
  EXPECT_FALSE(positions.contains(nowhere));
  EXPECT_THAT(store_->FilterWaiting({{{"e"}, low}, nowhere}).value(), SizeIs(1));
}

TEST_P(StoreContract, ManyDeparturesOfOneBatchEachPromoteTheNext) {
  std::vector<SessionId> sessions;
  for (int i = 0; i < 6; ++i) {
    sessions.push_back(NewSessionId());
    Stand("e", sessions.back(), "c" + std::to_string(i));
  }

  std::vector<Command> all;
  for (int i = 0; i < 5; ++i) all.emplace_back(Resign{{"e"}, sessions[i], {}});
  Run(*store_, all);

  EXPECT_EQ(View("e").election.leader->candidate, "c5");
  EXPECT_EQ(View("e").election.term, Term{6});
  EXPECT_EQ(View("e").election.waiting, 0u);
}

TEST_P(StoreContract, ARefusedCampaignLeavesNothing) {
  Campaign campaign{{"never"}, NewSessionId(), {}, {}, "", 0, {}};

  const auto answer = Run(campaign);

  EXPECT_EQ(ReasonOf(answer), Reason::kSessionNotFound);
  EXPECT_THAT(store_->ReadElections({{"never"}}).value(), IsEmpty());
  EXPECT_THAT(store_->ListElections("", "", 10).value(), IsEmpty());
}

TEST_P(StoreContract, AQuotaCountsOnlyLiveSessionsOfItsIdentity) {
  const auto stand = [&](const std::string& election, const SessionId& session,
                         Principal principal) {
    Campaign campaign{{election}, session, Campaign::Opening{"c", 5s}, {}, "", 0, {1}};
    campaign.principal = std::move(principal);
    return Run(campaign);
  };
  const Quota quota{.sessions = 2, .candidacies = 3};
  const SessionId a = NewSessionId();
  const SessionId b = NewSessionId();
  ASSERT_TRUE(stand("e", NewSessionId(), {"others", {}}));
  ASSERT_TRUE(stand("f", a, {"team", quota}));
  ASSERT_TRUE(stand("e", a, {"team", quota}));  // waits
  ASSERT_TRUE(stand("g", b, {"team", quota}));

  EXPECT_EQ(DetailOf(stand("h", NewSessionId(), {"team", quota}), "limit"), "2");
  EXPECT_EQ(DetailOf(stand("h", b, {"team", quota}), "limit"), "3");
  EXPECT_TRUE(stand("h", NewSessionId(), {"others", quota}));
  EXPECT_TRUE(Run(Resign{{"e"}, a, {}}));
  EXPECT_TRUE(stand("h", b, {"team", quota}));
}

TEST_P(StoreContract, AQuotaCountsTheElectionsThatItsIdentityHasMade) {
  const SessionId a = NewSessionId();
  const auto stand = [&](const std::string& election, const std::string& identity) {
    Campaign campaign{{election}, a, Campaign::Opening{"c", 60s}, {}, "", 0, {1}};
    campaign.principal = {identity, {.elections = 2}};
    return Run(campaign);
  };
  Stand("others", NewSessionId(), "b");
  ASSERT_TRUE(stand("e", "team"));
  ASSERT_TRUE(stand("others", "team"));
  ASSERT_TRUE(stand("f", "team"));

  EXPECT_EQ(DetailOf(stand("g", "team"), "limit"), "2");
  EXPECT_THAT(store_->ReadElections({{"g"}}).value(), IsEmpty());
  EXPECT_TRUE(stand("e", "team"));
  EXPECT_TRUE(Run(Delete{{"e"}, {1}, {}}));
  EXPECT_EQ(DetailOf(stand("g", "team"), "limit"), "2");
  EXPECT_EQ(View("e").election.creator, "team");
}

TEST_P(StoreContract, ElectionsAreCountedOnlyIfOneIsToBeMade) {
  const auto usage = [&](const std::string& election) {
    Campaign campaign{{election}, NewSessionId(), Campaign::Opening{"c", 60s}, {}, "", 0, {1}};
    campaign.principal = {"team", {.elections = 2}};
    const auto committed = store_->Transact(LockSetOf({campaign}), {}, [](TransactionState&) {});
    return committed->transaction.usage.contains("team");
  };
  Campaign campaign{{"e"}, NewSessionId(), Campaign::Opening{"c", 60s}, {}, "", 0, {1}};
  campaign.principal.identity = "team";
  ASSERT_TRUE(Run(campaign));

  EXPECT_FALSE(usage("e"));
  EXPECT_TRUE(usage("f"));
}

TEST_P(StoreContract, UnknownElectionsAndSessionsAreAnswers) {
  const SessionId session = NewSessionId();
  Stand("e", session, "a");

  EXPECT_EQ(ReasonOf(Run(Resign{{"other"}, session, {}})), Reason::kElectionNotFound);
  EXPECT_EQ(ReasonOf(Run(Resign{{"e"}, NewSessionId(), {}})), Reason::kSessionNotFound);
  EXPECT_THAT(store_->FindPlaces({NewSessionId()}).value(), IsEmpty());
  EXPECT_THAT(store_->ReadEvents({"other"}, {1}, 10).value(), IsEmpty());
}

TEST_P(StoreContract, ALeaderWhoseSessionHasEndedIsFoundAndReplaced) {
  const SessionId brief = NewSessionId();
  const SessionId next = NewSessionId();
  Stand("e", brief, "brief");
  Stand("f", brief, "brief");
  Stand("e", next, "next");
  End(brief, Cause::kExpired);

  EXPECT_FALSE(View("e").LeaderAlive());
  const DueWork due = store_->FindDueWork(10).value();
  EXPECT_THAT(due.unsettled, ElementsAre(brief));
  EXPECT_EQ(due.partitions.offsets, store_->ReadPartitions().value().offsets);
  EXPECT_EQ(due.partitions.epoch, store_->ReadPartitions().value().epoch);
  Run(Reconcile{{"e"}, brief});

  EXPECT_THAT(History("e"),
              ElementsAre("1 ELECTED brief 1 ", "2 VACATED brief 1 EXPIRED", "3 ELECTED next 2 "));
  EXPECT_THAT(store_->FindDueWork(10).value().unsettled, ElementsAre(brief));
  EXPECT_THAT(store_->FindPlaces({brief}).value(), ElementsAre(PlaceKey{{"f"}, brief}));
  ASSERT_TRUE(store_->MarkSettled({brief}));
  EXPECT_THAT(store_->FindDueWork(10).value().unsettled, ElementsAre(brief));
  Run(Reconcile{{"f"}, brief});
  ASSERT_TRUE(store_->MarkSettled({brief}));
  EXPECT_THAT(store_->FindDueWork(10).value().unsettled, IsEmpty());
}

TEST_P(StoreContract, AnEndedSessionStaysEndedUntilItIsForgotten) {
  const SessionId session = NewSessionId();
  Stand("e", session, "a");
  const LockSet locks{{}, {session}};

  ASSERT_TRUE(store_->Transact(locks, {}, [&](TransactionState& transaction) {
    EXPECT_TRUE(EndSession(transaction, session, Cause::kSessionClosed));
  }));
  Run(Reconcile{{"e"}, session});
  ASSERT_TRUE(store_->MarkSettled({session}));

  ASSERT_TRUE(store_->Transact(locks, {}, [&](TransactionState& transaction) {
    EXPECT_EQ(ReasonOf(Adopt(transaction, session)), Reason::kSessionEnded);
    EXPECT_EQ(transaction.sessions.at(session).ended, Cause::kSessionClosed);
  }));
  EXPECT_EQ(store_->ForgetSessions(1h, 100).value(), 0u);
  ASSERT_TRUE(store_->Transact(locks, {}, [&](TransactionState& transaction) {
    EXPECT_TRUE(transaction.sessions.contains(session));
  }));
  EXPECT_EQ(store_->ForgetSessions(-1h, 100).value(), 1u);
  ASSERT_TRUE(store_->Transact(locks, {}, [&](TransactionState& transaction) {
    EXPECT_FALSE(transaction.sessions.contains(session));
  }));
}

TEST_P(StoreContract, TheSeatsOfASessionCanBeRead) {
  const SessionId session = NewSessionId();
  Stand("e", session, "a");
  Stand("f", NewSessionId(), "b");
  Stand("f", session, "a");
  Stand("g", session, "a");

  const auto seats = store_->ReadSeats({{session}}).value();

  ASSERT_THAT(seats, SizeIs(2));
  EXPECT_EQ(seats[0].election.bytes, "e");
  EXPECT_EQ(seats[1].election.bytes, "g");
  EXPECT_THAT(store_->FindPlaces({session}).value(),
              UnorderedElementsAre(PlaceKey{{"e"}, session}, PlaceKey{{"f"}, session},
                                   PlaceKey{{"g"}, session}));
}

TEST_P(StoreContract, SeatsAreReadInPages) {
  std::vector<SessionId> sessions = {NewSessionId(), NewSessionId(), NewSessionId()};
  std::ranges::sort(sessions);
  Stand("f", sessions[0], "a");
  Stand("e", sessions[0], "a");
  Stand("h", sessions[0], "a");
  Stand("b", sessions[1], "b");
  Stand("a", sessions[2], "c");
  const auto read = [&](const SeatPage& page) {
    std::string names;
    const auto seats = store_->ReadSeats(page).value();
    for (const Leadership& seat : seats) names += seat.election.bytes;
    return names;
  };

  EXPECT_EQ(read({sessions, {}, 2}), "ef");
  EXPECT_EQ(read({sessions, {"f"}, 2}), "hb");
  EXPECT_EQ(read({{sessions[1], sessions[2]}, {"b"}, 2}), "a");
  EXPECT_EQ(read({{sessions[2]}, {"a"}, 2}), "");
}

TEST_P(StoreContract, AttendanceShowsEndedSessionsThePartitionsAndTheOwnRow) {
  const SessionId settled = NewSessionId();
  const SessionId ended = SessionId::FromHex(std::string(28, 'a') + "2000").value();
  Stand("e", NewSessionId(), "a");
  Stand("f", settled, "b");
  Stand("g", ended, "c");
  End(settled, Cause::kSessionClosed);
  Run(Reconcile{{"f"}, settled});
  ASSERT_TRUE(store_->MarkSettled({settled}));
  End(ended, Cause::kExpired);
  constexpr HomeId kLargest{std::numeric_limits<int64_t>::max()};
  const HomeRow home{
      .id = kLargest, .beat = (1ULL << 60) + 1, .good_for = 3s, .peer = {"p\0 "s, "a:1"}};
  ASSERT_TRUE(store_->BeginHome(home).value());

  const auto attendance = store_->ReadAttendance(kLargest).value();

  EXPECT_THAT(attendance.unsettled, ElementsAre(ended));
  EXPECT_EQ(attendance.own, home);
  const Partitions partitions = store_->ReadPartitions().value();
  EXPECT_EQ(attendance.partitions.offsets, partitions.offsets);
  EXPECT_EQ(attendance.partitions.epoch, partitions.epoch);
  EXPECT_EQ(store_->ReadAttendance({8}).value().own, std::nullopt);
}

TEST_P(StoreContract, AnEmptyRequestGetsAnEmptyAnswer) {
  Stand("e", NewSessionId(), "a");

  EXPECT_THAT(store_->ReadElections({}).value(), IsEmpty());
  EXPECT_THAT(store_->ReadPositions({}).value(), IsEmpty());
  EXPECT_THAT(store_->FilterWaiting({}).value(), IsEmpty());
  EXPECT_THAT(store_->ReadSeats(SeatPage{}).value(), IsEmpty());
  EXPECT_THAT(store_->ReadAttendance({}).value().unsettled, IsEmpty());
  EXPECT_THAT(store_->FindPlaces({}).value(), IsEmpty());
  EXPECT_TRUE(store_->MarkSettled({}));
}

TEST_P(StoreContract, TheFeedHasEveryCommitOfAPartitionInOrder) {
  const int partition = PartitionOf({"e"});
  const SessionId session = NewSessionId();
  Stand("e", session, "a");
  ASSERT_EQ(committed_.at(0).partition, partition);
  const uint64_t start = committed_.at(0).offset;

  Run(Proclaim{{"e"}, session, {1}, "w"});
  EXPECT_EQ(committed_.at(0).offset, start + 1);
  Run(Resign{{"e"}, session, {}});
  EXPECT_EQ(committed_.at(0).offset, start + 2);
  Run(Resign{{"e"}, session, {}});
  EXPECT_THAT(committed_, IsEmpty());

  EXPECT_EQ(store_->ReadPartitions().value().offsets.at(static_cast<size_t>(partition)), start + 2);
  const auto feed = store_->ReadFeed(partition, start, start + 5).value();
  ASSERT_THAT(feed, SizeIs(2));
  EXPECT_EQ(feed[0].offset, start + 1);
  EXPECT_EQ(feed[0].event.type, EventType::kProclaimed);
  EXPECT_EQ(feed[0].event.leader.value, "w");
  EXPECT_EQ(feed[1].event.type, EventType::kVacated);
  EXPECT_THAT(store_->ReadEvents({"e"}, {2}, 1).value(), SizeIs(1));
}

TEST_P(StoreContract, ADecisionThatThrowsSavesNothingAndLeavesNoLock) {
  const SessionId session = NewSessionId();
  Stand("e", session, "a");
  const std::vector<Command> resign = {Resign{{"e"}, session, {}}};

  EXPECT_THROW((void)store_->Transact(LockSetOf(resign), {},
                                      [&](TransactionState& transaction) {
                                        (void)Apply(transaction, limits_, resign[0]);
                                        throw std::runtime_error("planted");
                                      }),
               std::runtime_error);

  EXPECT_EQ(View("e").election.leader->candidate, "a");
  EXPECT_EQ(std::get<ResignAnswer>(Run(resign[0]).value()).outcome, ResignOutcome::kResigned);
}

TEST_P(StoreContract, ConcurrentTransactionsNeverRepeatATermOrSkipARevision) {
  if (GetParam() == Kind::kSqliteMemory) {
    GTEST_SKIP() << "a database in memory has one connection";
  }
  constexpr int kThreads = 4;
  constexpr int kCycles = 50;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      const auto store = Open();
      const SessionId session = NewSessionId();
      // Waits for the row lock if the election is busy, or the threads would keep each other out.
      const auto carry_out = [&](const Command& command) -> std::optional<Answer> {
        LockSet locks = LockSetOf({command});
        std::optional<Result<Answer>> answer;
        while (!answer && !HasFailure()) {
          const auto committed = store->Transact(locks, {}, [&](TransactionState& transaction) {
            answer.reset();
            if (transaction.busy.empty()) answer = Apply(transaction, limits_, command);
          });
          EXPECT_TRUE(committed) << committed.error().message;
          locks.patient = true;
        }
        if (!answer) return std::nullopt;
        EXPECT_TRUE(*answer) << answer->error().message;
        return *answer ? std::optional(**answer) : std::nullopt;
      };
      int led = 0;
      while (led < kCycles && !HasFailure()) {
        // The lease outlasts any slow disk, since an expired session is never elected again.
        const Campaign stand{
            {"hot"}, session, Campaign::Opening{"c" + std::to_string(i), 1h}, {}, "", 0, {1}};
        carry_out(stand);
        const auto left = carry_out(Resign{{"hot"}, session, {}});
        if (left && std::get<ResignAnswer>(*left).outcome == ResignOutcome::kResigned) ++led;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();

  const auto events = store_->ReadEvents({"hot"}, {1}, 100'000).value();
  ASSERT_GE(events.size(), 2u * kThreads * kCycles);
  for (size_t i = 0; i < events.size(); ++i) {
    const bool begins = i % 2 == 0;
    ASSERT_EQ(events[i].revision.value, i + 1);
    ASSERT_EQ(events[i].type, begins ? EventType::kElected : EventType::kVacated);
    ASSERT_EQ(events[i].term.value, i / 2 + 1);
  }
  const auto feed = store_->ReadFeed(PartitionOf({"hot"}), 0, ~0ULL >> 1).value();
  ASSERT_EQ(feed.size(), events.size());
  for (size_t i = 0; i < feed.size(); ++i) ASSERT_EQ(feed[i].event, events[i]);
}

TEST_P(StoreContract, ALockedElectionIsBusyAndDelaysNobodyElse) {
  if (GetParam() != Kind::kServer) GTEST_SKIP() << "SQLite locks the whole file";
  const SessionId session = NewSessionId();
  const SessionId free_session = NewSessionId();
  Stand("locked", session, "a");
  Stand("free", free_session, "b");
  const auto other = Open();
  std::vector<Command> both = {Resign{{"free"}, free_session, {}},
                               Resign{{"locked"}, free_session, {}}};

  const auto held =
      other->Transact(LockSetOf({Resign{{"locked"}, session, {}}}), {}, [&](TransactionState&) {
        const auto answers = Run(*store_, both);
        ASSERT_EQ(answers.size(), 2u);
        EXPECT_TRUE(answers[0].has_value());
        EXPECT_EQ(ReasonOf(answers[1]), Reason::kOverloaded);
      });

  EXPECT_TRUE(held);
  EXPECT_EQ(View("locked").election.leader->candidate, "a");
  EXPECT_FALSE(View("free").election.leader.has_value());
}

TEST_P(StoreContract, ALockedSessionIsBusyAndDelaysNobodyElse) {
  if (GetParam() != Kind::kServer) GTEST_SKIP() << "SQLite locks the whole file";
  const SessionId locked = NewSessionId();
  const SessionId free = NewSessionId();
  Stand("e", locked, "a");
  Stand("f", free, "b");
  const auto other = Open();

  const auto held = other->Transact({{}, {locked}}, {}, [&](TransactionState&) {
    const auto renewed =
        store_->Transact({{}, {locked, free}}, {}, [&](TransactionState& transaction) {
          EXPECT_THAT(transaction.busy_sessions, ElementsAre(locked));
          EXPECT_TRUE(Adopt(transaction, free));
        });
    EXPECT_TRUE(renewed);
    const auto answers = Run(*store_, {Resign{{"e"}, locked, {}}, Resign{{"f"}, free, {}}});
    ASSERT_EQ(answers.size(), 2u);
    EXPECT_EQ(ReasonOf(answers[0]), Reason::kOverloaded);
    EXPECT_TRUE(answers[1].has_value());
  });

  EXPECT_TRUE(held);
  EXPECT_EQ(View("e").election.leader->candidate, "a");
}

TEST_P(StoreContract, AQueueIsLoadedTheSameAloneAndAmongManyElections) {
  const SessionId leader = NewSessionId();
  Stand("e", leader, "leader");
  Stand("e", NewSessionId(), "third");
  Stand("e", NewSessionId(), "second", 60s, 1);
  Stand("e", NewSessionId(), "first", 60s, 2);
  const SessionId last = NewSessionId();
  Stand("e", last, "last");
  const std::vector<Command> alone = {Resign{{"e"}, leader, {}}, Resign{{"e"}, last, {}}};
  std::vector<Command> among = alone;
  for (int i = 0; i < 20; ++i) {
    const std::string name = "f/" + std::to_string(i);
    const SessionId session = NewSessionId();
    Stand(name, session, "a");
    if (i % 2 == 0) Stand(name, NewSessionId(), "b");
    among.emplace_back(Resign{{name}, session, {}});
  }
  const auto load = [&](const std::vector<Command>& commands) {
    TransactionState loaded;
    EXPECT_TRUE(store_->Transact(LockSetOf(commands), {},
                                 [&](TransactionState& transaction) { loaded = transaction; }));
    return loaded;
  };

  for (const TransactionState& state : {load(alone), load(among)}) {
    const ElectionState& e = state.elections.at({"e"});
    EXPECT_THAT(
        e.queue,
        ElementsAre(Field(&Candidacy::candidate, "first"), Field(&Candidacy::candidate, "second"),
                    Field(&Candidacy::candidate, "third"), Field(&Candidacy::candidate, "last")));
    EXPECT_EQ(e.horizon->candidate, "third");
    EXPECT_TRUE(state.sessions.contains(leader));
    for (const Candidacy& it : e.queue) EXPECT_TRUE(state.sessions.contains(it.session));
  }
}

TEST_P(StoreContract, ALockedSuccessorIsBusyAndNotPassedOver) {
  if (GetParam() != Kind::kServer) GTEST_SKIP() << "SQLite locks the whole file";
  const SessionId leader = NewSessionId();
  const SessionId next = NewSessionId();
  Stand("e", leader, "leader");
  Stand("e", next, "next");
  Stand("e", NewSessionId(), "last");
  const auto other = Open();

  const auto held = other->Transact({{}, {next}}, {}, [&](TransactionState&) {
    EXPECT_EQ(ReasonOf(Run(Resign{{"e"}, leader, {}})), Reason::kOverloaded);
  });

  EXPECT_TRUE(held);
  EXPECT_TRUE(Run(Resign{{"e"}, leader, {}}));
  EXPECT_EQ(View("e").election.leader->candidate, "next");
}

TEST_P(StoreContract, TwoCallsThatOpenOneSessionAtOnceFindTheSameOne) {
  if (GetParam() != Kind::kServer) GTEST_SKIP() << "SQLite runs one transaction at a time";
  const SessionId session = NewSessionId();
  const auto other = Open();
  const auto stand = [&](const std::string& election, const std::string& candidate) {
    return Campaign{{election}, session, Campaign::Opening{candidate, 60s}, {}, "", 0, {1}};
  };
  int tries = 0;
  Result<Answer> second = Fail(Reason::kOverloaded, "not tried");

  const Command late = stand("f", "second");
  const auto committed =
      store_->Transact(LockSetOf({late}), {}, [&](TransactionState& transaction) {
        // Between the second call's read and its save, the first opens the session and ends it.
        if (++tries == 1) {
          EXPECT_FALSE(transaction.sessions.contains(session));
          Run(*other, {stand("e", "first")});
          EXPECT_TRUE(other->Transact({{}, {session}}, {}, [&](TransactionState& ending) {
            EXPECT_TRUE(EndSession(ending, session, Cause::kSessionClosed));
          }));
        }
        second = Apply(transaction, limits_, late);
      });

  EXPECT_TRUE(committed);
  EXPECT_EQ(tries, 2);
  EXPECT_EQ(store_->Activity().retries[static_cast<size_t>(RetryReason::kConflict)], 1u);
  EXPECT_EQ(ReasonOf(second), Reason::kSessionEnded);
}

TEST_P(StoreContract, TablesWithInvalidDataAreAnError) {
  if (GetParam() != Kind::kServer) GTEST_SKIP() << "the nonsense is written by a client";
  Server().Query("INSERT INTO tenure.lanes (lane, position) VALUES (9, 0)");

  EXPECT_EQ(ReasonOf(store_->ReadPartitions()), Reason::kStoreUnavailable);
}

TEST_P(StoreContract, AConnectionClosedByTheServerForIdlenessIsNotUsed) {
  if (GetParam() != Kind::kServer) GTEST_SKIP() << "SQLite has no connections to end";
  const std::string count = "SELECT COUNT(*) FROM information_schema.processlist WHERE db='tenure'";
  Stand("e", NewSessionId(), "a");
  ASSERT_NE(Server().Query(count).output, "0\n");
  ASSERT_TRUE(Eventually([&] { return Server().Query(count).output == "0\n"; }));

  Stand("e", NewSessionId(), "b");

  EXPECT_THAT(store_->Activity().retries, Each(0u));
}

// Frequent statements read only the rows that they need, whatever else the database holds.
class QueryPlanTest : public ::testing::Test {
 protected:
  static constexpr int kRows = 10'000;

  QueryPlanTest() : url_(Server().FreshDatabase("plans")) {
    EXPECT_TRUE(OpenUrl(url_)->Migrate());
    connection_.emplace(std::get<mysql::Config>(ParseStoreUrl(url_).value()));
  }

  // Runs `sql` with each n of 0 to kRows - 1.
  void Fill(const std::string& insert, const std::string& select) {
    const std::string digits =
        "(SELECT 0 d UNION SELECT 1 UNION SELECT 2 UNION SELECT 3 UNION SELECT 4 UNION SELECT 5"
        " UNION SELECT 6 UNION SELECT 7 UNION SELECT 8 UNION SELECT 9)";
    connection_->Run(
        {insert + " SELECT " + select +
             " FROM (SELECT a.d + 10 * b.d + 100 * c.d + 1000 * e.d AS n FROM " + digits +
             " a JOIN " + digits + " b JOIN " + digits + " c JOIN " + digits + " e) ns",
         "ANALYZE TABLE elections, sessions, candidacies, events"});  // as in a database in use
  }

  // How many rows a statement makes the storage engine read when it runs for the second time: the
  // first run also reads statistics about its tables.
  uint64_t RowsReadBy(const std::string& sql) {
    connection_->Run({sql});
    const auto results =
        connection_->Run({"FLUSH STATUS", sql, "SHOW SESSION STATUS LIKE 'Handler_read%'"});
    uint64_t rows = 0;
    for (const mysql::Row& row : results[2]) {
      // Reads of a temporary table do not count.
      if (row[0] != "Handler_read_rnd_deleted") rows += std::stoull(row[1].value());
    }
    return rows;
  }

  const std::string url_;
  std::optional<mysql::Connection> connection_;
};

TEST_F(QueryPlanTest, ANamedCandidateIsFoundInALongQueue) {
  Fill("INSERT INTO sessions (id, candidate, lease_ttl_us, ended_at_us, state, cause)",
       "UNHEX(LPAD(HEX(n), 32, '0')), CONCAT('c', n), 1, 0, 0, 0");
  Fill("INSERT INTO candidacies (election, session, ticket, precedence, value, attempt, candidate)",
       "'e', UNHEX(LPAD(HEX(n), 32, '0')), n, -1, '', 0, CONCAT('c', n)");

  Fill("INSERT INTO elections (name)", "IF(n = 0, 'e', CONCAT('e', n))");

  EXPECT_LT(RowsReadBy(mysql::query::LoadNamed({{{"e"}, "c9000"}}, 16)), 20u);
  const std::string heads = mysql::query::LoadHeads({{{"e"}, 2, true}});
  EXPECT_EQ(connection_->Run({heads})[0].size(), 2u);
  EXPECT_LT(RowsReadBy(heads), 50u);
}

TEST_F(QueryPlanTest, PlacesAreFoundByKeyHoweverManyThereAre) {
  Fill("INSERT INTO candidacies (election, session, ticket, precedence, value, attempt, candidate)",
       "'e', UNHEX(LPAD(HEX(n), 32, '0')), n, -1, '', 0, CONCAT('c', n)");
  for (const size_t count : {1u, 2u, 401u}) {
    SCOPED_TRACE(count);
    std::vector<PlaceKey> places;
    for (size_t n = 0; n < count; ++n) {
      PlaceKey place{{"e"}, {}};
      place.session.bytes[14] = static_cast<uint8_t>(10 * n >> 8);
      place.session.bytes[15] = static_cast<uint8_t>(10 * n);
      places.push_back(place);
    }

    connection_->Run({"START TRANSACTION"});
    EXPECT_LE(RowsReadBy(mysql::query::LoadPlaces(places)), 2 * count + 10);
    EXPECT_LE(RowsReadBy(mysql::query::DeletePlaces(places)), 2 * count + 10);
    EXPECT_EQ(connection_->Run({mysql::query::LoadPlaces(places)})[0].size(), 0u);
    connection_->Run({"ROLLBACK"});
  }
}

TEST_F(QueryPlanTest, DueElectionsAreFoundAmongMany) {
  Fill("INSERT INTO elections (name, wake_at_us)", "CONCAT('e', n), NULL");
  connection_->Run({"UPDATE elections SET wake_at_us = 5 WHERE name = 'e77'"});

  EXPECT_LT(RowsReadBy(mysql::query::FindDueWork(10)), 30u);
}

TEST_F(QueryPlanTest, ACensusOnlyCountsElectionsWithALeader) {
  Fill("INSERT INTO sessions (id, candidate, lease_ttl_us, ended_at_us, state, cause)",
       "UNHEX(LPAD(HEX(n), 32, '0')), CONCAT('c', n), 1, 0, 0, 0");
  Fill("INSERT INTO elections (name, leader_session)",
       "CONCAT('e', n), UNHEX(LPAD(HEX(n), 32, '0'))");

  EXPECT_LT(RowsReadBy(mysql::query::kCountAll), 2 * kRows + 30u);  // and live sessions
}

TEST_F(QueryPlanTest, TheOldestEventsAreFoundWithoutReadingTheOthers) {
  connection_->Run({"INSERT INTO elections (name, revision) VALUES ('e', 10000), ('f', 0)"});
  Fill(
      "INSERT INTO events (election, revision, type, cause, term, session, candidate,"
      " lease_ttl_us, value, elected_at_us, at_us, lane, position)",
      "'e', n + 1, 2, 0, 1, '', '', 0, '', 0, n, 0, n");

  EXPECT_LT(RowsReadBy(mysql::query::OldestEvents({}, 1000)), 20u);
  EXPECT_LT(RowsReadBy(mysql::query::LastToTrim({"e"}, {11}, {{5}, {}, {1s}})), 20u);
  EXPECT_LT(RowsReadBy(mysql::query::TrimEvents({"e"}, {4}, 10)), 20u);
}

// The order of the index is the order of the queue: whatever else the database holds, finding the
// next leader reads its first rows only.
TEST_F(QueryPlanTest, TheHeadOfAQueueIsReadInTheOrderOfItsIndex) {
  const auto plan = Server().Query("USE plans; EXPLAIN FORMAT=JSON " +
                                   mysql::query::LoadHeads({{ElectionName{"e"}, 2}}));

  EXPECT_EQ(plan.exit_code, 0) << plan.errors;
  EXPECT_NE(plan.output.find("queue"), std::string::npos) << plan.output;
  for (const std::string sorted :
       {"filesort\": true", "using_filesort\": true", "\"filesort\": {"}) {
    EXPECT_EQ(plan.output.find(sorted), std::string::npos) << plan.output;
  }
}

// After many quick tries.
TEST_P(StoreContract, AConflictThatDoesNotEndIsAnErrorAfterAWhile) {
  if (GetParam() != Kind::kServer) GTEST_SKIP() << "SQLite runs one transaction at a time";
  const SessionId session = NewSessionId();
  Stand("e", session, "a");
  const Command resign = Resign{{"e"}, session, {}};
  Server().Ask(
      "CREATE TRIGGER tenure.planted BEFORE INSERT ON tenure.events FOR EACH ROW"
      " SIGNAL SQLSTATE '40001' SET MYSQL_ERRNO = 1213");

  const auto connections_made = [] {
    const auto status = Server().Query("SHOW GLOBAL STATUS LIKE 'Connections'").output;
    return std::stoi(status.substr(status.rfind('\t') + 1));
  };
  const int before = connections_made();

  const auto refused = store_->Transact(
      LockSetOf({resign}), {},
      [&](TransactionState& transaction) { EXPECT_TRUE(Apply(transaction, limits_, resign)); });

  EXPECT_EQ(ReasonOf(refused), Reason::kStoreUnavailable);
  EXPECT_GE(store_->Activity().retries.at(static_cast<size_t>(RetryReason::kDeadlock)), 5U);
  EXPECT_EQ(connections_made(), before + 1) << "each try needs no connection of its own";
}

TEST_P(StoreContract, APatientTransactionWaitsForALockedElectionForABoundedTime) {
  if (GetParam() != Kind::kServer) GTEST_SKIP() << "SQLite locks the whole file";
  const SessionId session = NewSessionId();
  Stand("e", session, "a");
  const LockSet locks = LockSetOf({Resign{{"e"}, session, {}}});
  LockSet patiently = locks;
  patiently.patient = true;
  const auto finds_it_busy = [&] {
    bool busy = false;
    EXPECT_TRUE(store_->Transact(patiently, {}, [&](TransactionState& transaction) {
      busy = transaction.busy.contains({"e"});
    }));
    return busy;
  };
  const auto other = Open();
  std::future<bool> waiting;

  ASSERT_TRUE(other->Transact(locks, {}, [&](TransactionState&) {
    EXPECT_TRUE(finds_it_busy());  // after a second
    waiting = std::async(std::launch::async, finds_it_busy);
    EXPECT_EQ(waiting.wait_for(100ms), std::future_status::timeout);
  }));

  EXPECT_FALSE(waiting.get());
  EXPECT_THAT(store_->Activity().retries, Each(0u));
}

TEST_P(StoreContract, AFailureOnInvalidDataLeavesNoLock) {
  if (GetParam() != Kind::kServer) GTEST_SKIP() << "the nonsense is written by a client";
  const SessionId session = NewSessionId();
  Stand("e", session, "a");
  Server().Ask("UPDATE tenure.elections SET leader_candidate = NULL");
  const auto failed =
      store_->Transact(LockSetOf({Resign{{"e"}, session, {}}}), {}, [](TransactionState&) {});

  ASSERT_FALSE(failed);
  EXPECT_THAT(failed.error().message, HasSubstr("no tenured wrote"));
  Server().Ask(
      "SET innodb_lock_wait_timeout = 1; UPDATE tenure.elections SET leader_candidate = 'a'");
  EXPECT_TRUE(Run(Resign{{"e"}, session, {}}));
}

// --- Errors of a server, planted where a transaction saves its event ---

class ServerErrorTest : public StoreContract {
 protected:
  void SetUp() override {
    StoreContract::SetUp();
    ASSERT_TRUE(Stand("e", session_, "a").elected);
  }

  // Why a transaction whose first try meets the error is retried; nothing if it fails.
  std::optional<RetryReason> RetriedFor(int code, const std::string& text = "planted") {
    mysql::Connection connection(std::get<mysql::Config>(ParseStoreUrl(url_).value()));
    connection.Run(
        {"CREATE TRIGGER planted BEFORE INSERT ON events FOR EACH ROW IF NEW.value = 'fail' THEN"
         " SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = " +
         std::to_string(code) + ", MESSAGE_TEXT = '" + text + "'; END IF"});
    const auto before = store_->Activity().retries;
    const std::string value = std::to_string(++values_);
    int tries = 0;
    const auto committed = store_->Transact(
        LockSetOf({Proclaim{{"e"}, session_, {1}, value}}), {}, [&](TransactionState& transaction) {
          const Command proclaim = Proclaim{{"e"}, session_, {1}, ++tries == 1 ? "fail" : value};
          EXPECT_TRUE(Apply(transaction, limits_, proclaim));
        });
    connection.Run({"DROP TRIGGER planted"});
    EXPECT_EQ(committed.has_value(), tries >= 2) << code;
    const auto after = store_->Activity().retries;
    for (size_t i = 0; i < after.size(); ++i) {
      if (after[i] != before[i]) return static_cast<RetryReason>(i);
    }
    return std::nullopt;
  }

  const SessionId session_ = NewSessionId();
  int values_ = 0;
};

INSTANTIATE_TEST_SUITE_P(Stores, ServerErrorTest, ::testing::Values(Kind::kServer), KindName);

TEST_P(ServerErrorTest, AConflictIsTriedAgain) {
  EXPECT_EQ(RetriedFor(1213), RetryReason::kDeadlock);
  EXPECT_EQ(RetriedFor(1205), RetryReason::kLockTimeout);
  for (const int code : {1020, 1062, 3101, 3572}) {
    EXPECT_EQ(RetriedFor(code), RetryReason::kConflict) << code;
  }
  EXPECT_EQ(RetriedFor(1180, "Got error 149 \"Lock deadlock; Retry transaction\" during COMMIT"),
            RetryReason::kConflict);
}

// It may have been done.
TEST_P(ServerErrorTest, ACommitInDoubtIsLookedUp) {
  for (const int code : {1040, 1053, 1079, 1152, 1158, 1159, 1160, 1161, 1180, 1792, 1317,
                         1927, 1969, 3024, 4031, 5013, 5014, 5015, 2000, 2006, 2013, 2999,  // away
                         1047, 1290, 1836, 3100, 3168}) {                                   // unfit
    EXPECT_EQ(RetriedFor(code), RetryReason::kLostReply) << code;
  }
}

TEST_P(ServerErrorTest, AnyOtherErrorIsNotTriedAgain) {
  for (const int code : {1064, 1142, 1146, 1999, 3000}) {
    EXPECT_EQ(RetriedFor(code), std::nullopt) << code;
  }
  EXPECT_EQ(RetriedFor(1146, "error 149 "), std::nullopt);
}

}  // namespace
}  // namespace tenure::testing
