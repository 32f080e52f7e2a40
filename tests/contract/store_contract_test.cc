// What every store promises (storage/store.h), held against every store: SQLite in memory and in a
// file, and the database server of tests/support/database_server.h.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <random>
#include <thread>

#include "core/law.h"
#include "storage/mysql/sql.h"
#include "storage/open_store.h"
#include "tests/support/database_server.h"

namespace tenure {
namespace {

using namespace std::chrono_literals;
using ::tenure::testing::DatabaseServer;
using ::tenure::testing::Eventually;
using ::tenure::testing::TempDir;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

DatabaseServer& Server() {
  static DatabaseServer server;
  return server;
}

enum class Kind { kSqliteMemory, kSqliteFile, kServer };

std::string KindName(const ::testing::TestParamInfo<Kind>& info) {
  switch (info.param) {
    case Kind::kSqliteMemory: return "SqliteMemory";
    case Kind::kSqliteFile: return "SqliteFile";
    case Kind::kServer: return std::getenv("TENURE_TEST_MYSQL_ROOT") ? "MySql" : "MariaDb";
  }
  return "";
}

SessionId NewSessionId() {
  static std::mt19937_64 random{std::random_device{}()};
  SessionId id;
  for (uint8_t& byte : id.bytes) byte = static_cast<uint8_t>(random());
  return id;
}

Agenda AgendaFor(const std::vector<Command>& commands) {
  std::vector<const Command*> all;
  for (const Command& command : commands) all.push_back(&command);
  return tenure::AgendaFor(all);
}

class StoreContract : public ::testing::TestWithParam<Kind> {
 protected:
  void SetUp() override {
    switch (GetParam()) {
      case Kind::kSqliteMemory: url_ = "sqlite::memory:"; break;
      case Kind::kSqliteFile: url_ = "sqlite:" + (folder_.path() / "tenure.db").string(); break;
      case Kind::kServer: url_ = Server().FreshDatabase("tenure"); break;
    }
    store_ = Open();
    const auto migrated = store_->Migrate();
    ASSERT_TRUE(migrated) << migrated.error().message;
  }

  std::unique_ptr<Store> Open() { return OpenStore(ParseStoreUrl(url_).value()).value(); }

  // Applies the commands in one transaction.
  std::vector<Result<Answer>> Run(Store& store, const std::vector<Command>& commands) {
    std::vector<Result<Answer>> answers;
    const auto committed = store.Transact(AgendaFor(commands), [&](Docket& docket) {
      answers.clear();
      for (const Command& command : commands) {
        if (docket.busy.contains(NeedsOf(command).elections.front())) {
          answers.emplace_back(Fail(Reason::kOverloaded, "busy"));
        } else {
          answers.push_back(Apply(docket, limits_, command));
        }
      }
    });
    EXPECT_TRUE(committed) << committed.error().message;
    if (committed) committed_ = *committed;
    return answers;
  }

  Result<Answer> Run(const Command& command) { return Run(*store_, {command})[0]; }

  CampaignAnswer Stand(const std::string& election, const SessionId& session,
                       const std::string& candidate, Duration ttl = 60s, int32_t priority = 0) {
    Campaign campaign{{election}, session, Campaign::Opening{candidate, ttl}, {}, "v",
                      priority,   {7}};
    return std::get<CampaignAnswer>(Run(campaign).value());
  }

  ElectionView View(const std::string& election) {
    return store_->ReadElections({{election}}).value().at({election});
  }

  std::vector<std::string> History(const std::string& election) {
    std::vector<std::string> history;
    const auto events = store_->ReadEvents({election}, {1}, 1000).value();
    for (const Event& event : events) {
      history.push_back(std::to_string(event.revision.value) + " " +
                        std::string(EventTypeName(event.type)) + " " + event.leader.candidate +
                        " " + std::to_string(event.term.value) + " " +
                        std::string(CauseName(event.cause)));
    }
    return history;
  }

  Limits limits_;
  TempDir folder_;
  std::string url_;
  std::unique_ptr<Store> store_;
  Committed committed_;
};

INSTANTIATE_TEST_SUITE_P(Stores, StoreContract,
                         ::testing::Values(Kind::kSqliteMemory, Kind::kSqliteFile, Kind::kServer),
                         KindName);

TEST_P(StoreContract, MigratesTwiceAndKnowsItsSchema) {
  ASSERT_TRUE(store_->Migrate());

  EXPECT_EQ(store_->CheckSchema().value(), SchemaState::kCurrent);
  EXPECT_TRUE(store_->Ping());
}

TEST_P(StoreContract, KeepsEverythingThatALeadershipIsMadeOf) {
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

TEST_P(StoreContract, QueueIsOrderedByPriorityThenByArrival) {
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

  EXPECT_EQ(answer.error().reason, Reason::kSessionNotFound);
  EXPECT_THAT(store_->ReadElections({{"never"}}).value(), IsEmpty());
  EXPECT_THAT(store_->ListElections("", "", 10).value(), IsEmpty());
}

TEST_P(StoreContract, UnknownElectionsAndSessionsAreAnswers) {
  const SessionId session = NewSessionId();
  Stand("e", session, "a");

  EXPECT_EQ(Run(Resign{{"other"}, session, {}}).error().reason, Reason::kElectionNotFound);
  EXPECT_EQ(Run(Resign{{"e"}, NewSessionId(), {}}).error().reason, Reason::kSessionNotFound);
  EXPECT_THAT(store_->FindPlaces({NewSessionId()}).value(), IsEmpty());
  EXPECT_THAT(store_->ReadEvents({"other"}, {1}, 10).value(), IsEmpty());
}

TEST_P(StoreContract, AnExpiredLeaderIsFoundMarkedAndReplaced) {
  const SessionId brief = NewSessionId();
  const SessionId next = NewSessionId();
  Stand("e", brief, "brief", 50ms);
  Stand("f", brief, "brief", 50ms);
  Stand("e", next, "next");

  ASSERT_TRUE(Eventually([&] { return !View("e").LeaderAlive(); }));
  const DueWork due = store_->FindDueWork(10).value();
  EXPECT_THAT(due.expired, ElementsAre(brief));
  ASSERT_TRUE(due.next.has_value());
  EXPECT_GT(*due.next, due.now);
  Run(Settle{{"e"}, brief});

  EXPECT_THAT(History("e"),
              ElementsAre("1 ELECTED brief 1 ", "2 VACATED brief 1 EXPIRED", "3 ELECTED next 2 "));
  EXPECT_THAT(store_->FindDueWork(10).value().expired, IsEmpty());
  EXPECT_THAT(store_->FindDueWork(10).value().unsettled, ElementsAre(brief));
  EXPECT_THAT(store_->FindPlaces({brief}).value(), ElementsAre(PlaceKey{{"f"}, brief}));
  ASSERT_TRUE(store_->MarkSettled({brief}));
  EXPECT_THAT(store_->FindDueWork(10).value().unsettled, ElementsAre(brief));
  Run(Settle{{"f"}, brief});
  ASSERT_TRUE(store_->MarkSettled({brief}));
  EXPECT_THAT(store_->FindDueWork(10).value().unsettled, IsEmpty());
}

TEST_P(StoreContract, AnEndedSessionStaysEndedUntilItIsForgotten) {
  const SessionId session = NewSessionId();
  Stand("e", session, "a");
  const Agenda agenda{{}, {session}};

  ASSERT_TRUE(store_->Transact(agenda, [&](Docket& docket) {
    EXPECT_TRUE(EndSession(docket, session, Cause::kSessionClosed));
  }));
  Run(Settle{{"e"}, session});
  ASSERT_TRUE(store_->MarkSettled({session}));

  ASSERT_TRUE(store_->Transact(agenda, [&](Docket& docket) {
    EXPECT_EQ(Renew(docket, session).error().reason, Reason::kSessionEnded);
    EXPECT_EQ(docket.sessions.at(session).ended, Cause::kSessionClosed);
  }));
  EXPECT_EQ(store_->ForgetSessions(1h, 100).value(), 0u);
  ASSERT_TRUE(store_->Transact(
      agenda, [&](Docket& docket) { EXPECT_TRUE(docket.sessions.contains(session)); }));
  EXPECT_EQ(store_->ForgetSessions(-1h, 100).value(), 1u);
  ASSERT_TRUE(store_->Transact(
      agenda, [&](Docket& docket) { EXPECT_FALSE(docket.sessions.contains(session)); }));
}

TEST_P(StoreContract, RenewalsMoveTheExpiryOnly) {
  const SessionId session = NewSessionId();
  Stand("e", session, "a", 1s);
  DbTime before;
  ASSERT_TRUE(store_->Transact({{}, {session}}, [&](Docket& docket) {
    before = docket.sessions.at(session).expires_at;
    EXPECT_TRUE(Renew(docket, session));
  }));

  ASSERT_TRUE(store_->Transact({{}, {session}}, [&](Docket& docket) {
    EXPECT_GT(docket.sessions.at(session).expires_at, before);
    EXPECT_EQ(docket.sessions.at(session).candidate, "a");
  }));
}

TEST_P(StoreContract, SeatsOfASession) {
  const SessionId session = NewSessionId();
  Stand("e", session, "a");
  Stand("f", NewSessionId(), "b");
  Stand("f", session, "a");
  Stand("g", session, "a");

  const auto seats = store_->ReadSeats({session}).value();

  ASSERT_THAT(seats, SizeIs(2));
  EXPECT_EQ(seats[0].election.bytes, "e");
  EXPECT_EQ(seats[1].election.bytes, "g");
  EXPECT_THAT(store_->FindPlaces({session}).value(),
              UnorderedElementsAre(PlaceKey{{"e"}, session}, PlaceKey{{"f"}, session},
                                   PlaceKey{{"g"}, session}));
}

TEST_P(StoreContract, TheFeedTellsEveryCommitOfALaneInOrder) {
  const int lane = LaneOf({"e"});
  const SessionId session = NewSessionId();
  Stand("e", session, "a");
  ASSERT_EQ(committed_.at(0).lane, lane);
  const uint64_t start = committed_.at(0).position;

  Run(Proclaim{{"e"}, session, {1}, "w"});
  EXPECT_EQ(committed_.at(0).position, start + 1);
  Run(Resign{{"e"}, session, {}});
  EXPECT_EQ(committed_.at(0).position, start + 2);
  Run(Resign{{"e"}, session, {}});
  EXPECT_THAT(committed_, IsEmpty());

  EXPECT_EQ(store_->ReadLanePositions().value().at(static_cast<size_t>(lane)), start + 2);
  const auto feed = store_->ReadFeed(lane, start, start + 5).value();
  ASSERT_THAT(feed, SizeIs(2));
  EXPECT_EQ(feed[0].position, start + 1);
  EXPECT_EQ(feed[0].event.type, EventType::kProclaimed);
  EXPECT_EQ(feed[0].event.leader.value, "w");
  EXPECT_EQ(feed[1].event.type, EventType::kVacated);
  EXPECT_THAT(store_->ReadEvents({"e"}, {2}, 1).value(), SizeIs(1));
}

TEST_P(StoreContract, AThrowingDecisionSavesNothingAndLeavesNoLock) {
  const SessionId session = NewSessionId();
  Stand("e", session, "a");
  const std::vector<Command> resign = {Resign{{"e"}, session, {}}};

  EXPECT_THROW((void)store_->Transact(AgendaFor(resign),
                                      [&](Docket& docket) {
                                        (void)Apply(docket, limits_, resign[0]);
                                        throw std::runtime_error("planted");
                                      }),
               std::runtime_error);

  EXPECT_EQ(View("e").election.leader->candidate, "a");
  EXPECT_EQ(std::get<ResignAnswer>(Run(resign[0]).value()).outcome, ResignOutcome::kResigned);
}

TEST_P(StoreContract, ConcurrentTransactionsNeverRepeatATermNorSkipARevision) {
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
      int led = 0;
      while (led < kCycles) {
        const Campaign stand{
            {"hot"}, session, Campaign::Opening{"c" + std::to_string(i), 60s}, {}, "", 0, {1}};
        const Resign leave{{"hot"}, session, {}};
        std::vector<Result<Answer>> answers;
        for (const std::vector<Command>& batch :
             {std::vector<Command>{stand}, std::vector<Command>{leave}}) {
          const auto committed = store->Transact(AgendaFor(batch), [&](Docket& docket) {
            answers.clear();
            if (docket.busy.empty()) answers.push_back(Apply(docket, limits_, batch[0]));
          });
          ASSERT_TRUE(committed) << committed.error().message;
          if (answers.empty() || !answers[0]) continue;
          const auto* resigned = std::get_if<ResignAnswer>(&answers[0].value());
          if (resigned && resigned->outcome == ResignOutcome::kResigned) ++led;
        }
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
  const auto feed = store_->ReadFeed(LaneOf({"hot"}), 0, ~0ULL >> 1).value();
  ASSERT_EQ(feed.size(), events.size());
  for (size_t i = 0; i < feed.size(); ++i) ASSERT_EQ(feed[i].event, events[i]);
}

TEST_P(StoreContract, AnElectionLockedByAnotherIsBusyAndHoldsUpNobodyElse) {
  if (GetParam() != Kind::kServer) GTEST_SKIP() << "SQLite locks the whole file";
  const SessionId session = NewSessionId();
  const SessionId free_session = NewSessionId();
  Stand("locked", session, "a");
  Stand("free", free_session, "b");
  const auto other = Open();
  std::vector<Command> both = {Resign{{"free"}, free_session, {}},
                               Resign{{"locked"}, free_session, {}}};

  const auto held = other->Transact(AgendaFor({Resign{{"locked"}, session, {}}}), [&](Docket&) {
    const auto answers = Run(*store_, both);
    ASSERT_EQ(answers.size(), 2u);
    EXPECT_TRUE(answers[0].has_value());
    EXPECT_EQ(answers[1].error().reason, Reason::kOverloaded);
  });

  EXPECT_TRUE(held);
  EXPECT_EQ(View("locked").election.leader->candidate, "a");
  EXPECT_FALSE(View("free").election.leader.has_value());
}

TEST_P(StoreContract, ASessionLockedByAnotherIsBusyAndHoldsUpNobodyElse) {
  if (GetParam() != Kind::kServer) GTEST_SKIP() << "SQLite locks the whole file";
  const SessionId locked = NewSessionId();
  const SessionId free = NewSessionId();
  Stand("e", locked, "a");
  Stand("f", free, "b");
  const auto other = Open();

  const auto held = other->Transact({{}, {locked}}, [&](Docket&) {
    const auto renewed = store_->Transact({{}, {locked, free}}, [&](Docket& docket) {
      EXPECT_THAT(docket.busy_sessions, ElementsAre(locked));
      EXPECT_TRUE(Renew(docket, free));
    });
    EXPECT_TRUE(renewed);
    const auto answers = Run(*store_, {Resign{{"e"}, locked, {}}, Resign{{"f"}, free, {}}});
    ASSERT_EQ(answers.size(), 2u);
    EXPECT_EQ(answers[0].error().reason, Reason::kOverloaded);
    EXPECT_TRUE(answers[1].has_value());
  });

  EXPECT_TRUE(held);
  EXPECT_EQ(View("e").election.leader->candidate, "a");
}

TEST_P(StoreContract, TwoThatOpenOneSessionAtOnceFindTheSameOne) {
  if (GetParam() != Kind::kServer) GTEST_SKIP() << "SQLite runs one transaction at a time";
  const SessionId session = NewSessionId();
  const auto other = Open();
  const auto stand = [&](const std::string& election, const std::string& candidate) {
    return Campaign{{election}, session, Campaign::Opening{candidate, 60s}, {}, "", 0, {1}};
  };
  int tries = 0;
  Result<Answer> second = Fail(Reason::kOverloaded, "not tried");

  const Command late = stand("f", "second");
  const auto committed = store_->Transact(AgendaFor({late}), [&](Docket& docket) {
    // Between the second one's look and its save, the first opens the session and ends it.
    if (++tries == 1) {
      EXPECT_FALSE(docket.sessions.contains(session));
      Run(*other, {stand("e", "first")});
      EXPECT_TRUE(other->Transact({{}, {session}}, [&](Docket& ending) {
        EXPECT_TRUE(EndSession(ending, session, Cause::kSessionClosed));
      }));
    }
    second = Apply(docket, limits_, late);
  });

  EXPECT_TRUE(committed);
  EXPECT_EQ(tries, 2);
  EXPECT_EQ(second.error().reason, Reason::kSessionEnded);
}

TEST_P(StoreContract, TablesThatHoldNonsenseAreAnError) {
  if (GetParam() != Kind::kServer) GTEST_SKIP() << "the nonsense is written by a client";
  Server().Query("INSERT INTO tenure.lanes VALUES (9, 0)");

  EXPECT_EQ(store_->ReadLanePositions().error().reason, Reason::kStoreUnavailable);
}

// A commit that is stuck on the server when its connection breaks is waited for, not guessed at.
TEST_P(StoreContract, ACommitWhoseReplyIsLostIsLookedUp) {
  if (GetParam() != Kind::kServer) GTEST_SKIP() << "a commit of SQLite has no reply to lose";
  const SessionId session = NewSessionId();
  Stand("e", session, "a");
  const Command resign = Resign{{"e"}, session, {}};
  Result<Answer> answer = Fail(Reason::kOverloaded, "not tried");
  int tries = 0;

  // The events table is locked against writing until after the store's patience with one message.
  std::thread blocker;
  const auto committed = store_->Transact(AgendaFor({resign}), [&](Docket& docket) {
    answer = Apply(docket, limits_, resign);
    if (++tries > 1) return;
    std::atomic<bool> started = false;
    blocker = std::thread([&started] {
      started = true;
      Server().Query("LOCK TABLES tenure.events READ; DO SLEEP(9); UNLOCK TABLES");
    });
    EXPECT_TRUE(Eventually([&] {
      return Server()
                 .Query(
                     "SELECT COUNT(*) FROM information_schema.processlist"
                     " WHERE info LIKE 'DO SLEEP%'")
                 .output == "1\n";
    }));
  });
  blocker.join();

  if (committed) {
    EXPECT_EQ(std::get<ResignAnswer>(answer.value()).outcome, ResignOutcome::kResigned);
    EXPECT_THAT(History("e"), SizeIs(2));
  } else {
    EXPECT_EQ(committed.error().reason, Reason::kStoreUnavailable);
  }
  // Whatever was answered, the seat is left once.
  Run(resign);
  EXPECT_THAT(History("e"), SizeIs(2));
}

// The order of the index is the order of the queue: whatever else the database holds, finding the
// next leader reads its first rows only.
TEST(QueryPlanTest, TheHeadOfAQueueIsReadInTheOrderOfItsIndex) {
  const std::string url = Server().FreshDatabase("plans");
  const auto store = OpenStore(ParseStoreUrl(url).value()).value();
  ASSERT_TRUE(store->Migrate());

  const auto plan = Server().Query("USE plans; EXPLAIN FORMAT=JSON " +
                                   mysql::query::LoadHeads({{ElectionName{"e"}, 2}}));

  EXPECT_EQ(plan.exit_code, 0) << plan.errors;
  EXPECT_NE(plan.output.find("queue"), std::string::npos) << plan.output;
  for (const std::string sorted :
       {"filesort\": true", "using_filesort\": true", "\"filesort\": {"}) {
    EXPECT_EQ(plan.output.find(sorted), std::string::npos) << plan.output;
  }
}

}  // namespace
}  // namespace tenure
