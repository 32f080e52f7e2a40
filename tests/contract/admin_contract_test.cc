// What every store promises about administration, checked on every store.
#include <fmt/format.h>

#include <future>

#include "tests/contract/admin_fixture.h"

namespace tenure::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

class AdminContract : public AdminFixture {};

INSTANTIATE_TEST_SUITE_P(Stores, AdminContract,
                         ::testing::Values(Kind::kSqliteMemory, Kind::kSqliteFile, Kind::kServer),
                         KindName);

// --- What operators change is kept ---

TEST_P(AdminContract, EveryFieldOfAnElectionIsStored) {
  Election all{{"all"}, {7}, {8}, {9}, 0};
  all.leader = Leader{NewSessionId(), "a", 1s, std::string("\0v", 2), {10s}, {~0ULL}};
  all.settings = {1ms, 2ms, 3ms, 4ms, 5};
  all.paused = true;
  all.vacant_until = {11s};
  all.appointment = Appointment{"b'\\\xc3\xb6", DbTime{12s}};
  all.cooling_until = {13s};
  all.wake_at = DbTime{14s};
  all.history_from = {6};
  Election few{{"few"}, {1}, {2}, {3}, 0};
  few.appointment = Appointment{"c", std::nullopt};
  few.vacancy = Vacancy{Cause::kExpired, {15s}};
  Election tombstone{{"tombstone"}, {4}, {5}, {6}, 0};
  tombstone.deleted = true;
  tombstone.history_from = {6};
  LockSet locks;
  for (const Election& election : {all, few, tombstone}) {
    locks.elections[election.name].create = true;
  }

  for (int times = 0; times < 2; ++times) {  // as a new row, and over the old one
    ASSERT_TRUE(store_->Transact(locks, {}, [&](TransactionState& transaction) {
      for (const Election& election : {all, few, tombstone}) {
        transaction.elections.at(election.name) = {election, !election.deleted};
      }
    }));

    EXPECT_EQ(Load("all").election, all);
    EXPECT_EQ(Load("few").election, few);
    EXPECT_EQ(Load("tombstone").election, tombstone);
    EXPECT_FALSE(Load("tombstone").exists);
    EXPECT_EQ(Replica().ListElections("", "", 10).value()[0].election, all);
    std::swap(all.settings, few.settings);
    std::swap(all.paused, few.paused);
    std::swap(all.appointment, few.appointment);
    std::swap(all.vacant_until, few.vacant_until);
    std::swap(all.leader, few.leader);
    std::swap(all.wake_at, few.wake_at);
    std::swap(all.vacancy, few.vacancy);
  }
}

TEST_P(AdminContract, EveryFieldOfASessionIsStored) {
  Session session{NewSessionId(), "a", 3s, Cause::kNone, {}, {DbTime{5s}}, 2s, {DbTime{6s}}};
  const LockSet locks{{}, {session.id}};
  const auto found = [&] {
    return Replica()
        .Transact(locks, {}, [](TransactionState&) {})
        .value()
        .transaction.sessions.at(session.id);
  };

  ASSERT_TRUE(store_->Transact(locks, {}, [&](TransactionState& transaction) {
    transaction.sessions[session.id] = session;
  }));
  EXPECT_EQ(found(), session);

  session.lease_ttl = 9s;
  session.lease_ttl_since = {7s};
  session.ended = Cause::kDeposed;
  session.ended_at = {30s};
  session.home = {~0ULL >> 1};
  session.moves = 7;
  ASSERT_TRUE(store_->Transact(locks, {}, [&](TransactionState& transaction) {
    transaction.sessions[session.id] = session;
  }));
  EXPECT_EQ(found(), session);
}

TEST_P(AdminContract, EveryFieldOfACandidacyIsStored) {
  const SessionId session = NewSessionId();
  Stand("e", NewSessionId(), "leader");
  Stand("e", session, "a");
  Campaign again = CampaignOf("e", session, "a");
  again.call_id = {~0ULL};
  again.priority = std::numeric_limits<int32_t>::min();
  again.value = std::string("\0w", 2);
  ASSERT_TRUE(Run(again));

  const ElectionState state = Load("e", Needing({session}));

  ASSERT_THAT(state.queue, SizeIs(1));
  EXPECT_EQ(state.queue[0],
            (Candidacy{session, "a", 60s, {1}, again.priority, again.value, {~0ULL}, true}));
}

TEST_P(AdminContract, AHandoverIsRecordedAndThenPassesTheSeat) {
  const SessionId leader = NewSessionId();
  Stand("e", leader, "a");
  Stand("e", NewSessionId(), "b");
  Stand("e", NewSessionId(), "c");

  EXPECT_TRUE(Administer(Appointing("e", {1}, "c")).changed);

  EXPECT_EQ(Load("e").election.appointment, Appointment{"c"});
  const auto events = Replica().ReadEvents({"e"}, {2}, 10).value();
  ASSERT_THAT(events, SizeIs(1));
  EXPECT_EQ(events[0].type, EventType::kHandoverAsked);
  EXPECT_EQ(events[0].successor, "c");
  EXPECT_EQ(Replica().ReadSeats({{leader}}).value().at(0).successor, "c");
  EXPECT_FALSE(Administer(Appointing("e", {1}, "c")).changed);
  EXPECT_THAT(committed_, IsEmpty());
  Run(Resign{{"e"}, leader, {}});
  EXPECT_EQ(LeaderOf("e"), "c");
  EXPECT_EQ(Load("e").election.appointment, std::nullopt);
  EXPECT_THAT(QueueOf("e"), ElementsAre("b"));
}

TEST_P(AdminContract, AnAppointedCandidateIsElectedFromDeepInTheQueue) {
  const SessionId leader = NewSessionId();
  Stand("e", leader, "leader");
  for (int i = 0; i < 30; ++i) Stand("e", NewSessionId(), fmt::format("c{:02}", i));

  Appoint by_force = Appointing("e", {1}, "c29");
  by_force.force = true;
  EXPECT_TRUE(Administer(by_force).changed);

  EXPECT_EQ(LeaderOf("e"), "c29");
  EXPECT_THAT(History("e"), ElementsAre("1 ELECTED leader 1 ", "2 VACATED leader 1 APPOINTED_AWAY",
                                        "3 ELECTED c29 2 "));
  EXPECT_TRUE(Administer(Appointing("e", {2}, "c28")).changed);
  Administer(Depose{{"e"}, {2}, {}, kAsker});
  EXPECT_EQ(LeaderOf("e"), "c28");
  EXPECT_EQ(View("e").election.waiting, 28u);
  EXPECT_THAT(QueueOf("e"), SizeIs(28));
}

TEST_P(AdminContract, AReservedSeatWaitsForItsCandidate) {
  const SessionId leader = NewSessionId();
  Stand("e", leader, "a");
  Stand("e", NewSessionId(), "b");
  Appoint reserved = Appointing("e", {1}, "absent");
  reserved.reserve_for = 1h;

  EXPECT_TRUE(Administer(reserved).changed);
  Run(Resign{{"e"}, leader, {}});

  const Election election = Load("e").election;
  EXPECT_EQ(election.leader, std::nullopt);
  ASSERT_TRUE(election.appointment && election.appointment->until);
  EXPECT_EQ(election.wake_at, election.appointment->until);
  EXPECT_TRUE(Stand("e", NewSessionId(), "absent").elected);
  EXPECT_EQ(Load("e").election.wake_at, std::nullopt);
}

TEST_P(AdminContract, ADeposedCandidateIsKeptOutWithAllItsSessions) {
  const SessionId first = NewSessionId();
  Stand("e", first, "a");

  EXPECT_TRUE(Administer(Depose{{"e"}, {1}, 1h, kAsker}).changed);

  const ElectionState state = Load("e");
  EXPECT_THAT(state.cool_downs, ElementsAre(Pair("a", state.election.cooling_until)));
  EXPECT_FALSE(Stand("e", NewSessionId(), "a").elected);
  EXPECT_FALSE(Stand("e", first, "a").elected);
  EXPECT_EQ(Load("e").election.wake_at, state.election.cooling_until);
  EXPECT_TRUE(Stand("e", NewSessionId(), "b").elected);
  EXPECT_THAT(History("e"),
              ElementsAre("1 ELECTED a 1 ", "2 VACATED a 1 DEPOSED", "3 ELECTED b 2 "));
}

TEST_P(AdminContract, ASecondCoolDownReplacesTheFirst) {
  Stand("e", NewSessionId(), "a");
  Administer(Depose{{"e"}, {1}, 1h, kAsker});
  const DbTime first = Load("e").cool_downs.at("a");
  Appoint back = Appointing("e", {1}, "a");
  back.reserve_for = 1h;
  Administer(back);
  ASSERT_TRUE(Stand("e", NewSessionId(), "a").elected);

  Administer(Depose{{"e"}, {2}, 2h, kAsker});

  EXPECT_GT(Load("e").cool_downs.at("a"), first);
  EXPECT_THAT(Load("e").cool_downs, SizeIs(1));
}

TEST_P(AdminContract, APausedElectionElectsNobodyUntilItResumes) {
  const SessionId leader = NewSessionId();
  Stand("e", leader, "a");
  Stand("e", NewSessionId(), "b");

  EXPECT_TRUE(Administer(Pause{{"e"}, true, kAsker}).changed);
  Run(Resign{{"e"}, leader, {}});

  EXPECT_TRUE(Load("e").election.paused);
  EXPECT_EQ(LeaderOf("e"), "");
  EXPECT_TRUE(Administer(Pause{{"e"}, false, kAsker}).changed);
  EXPECT_EQ(LeaderOf("e"), "b");
  EXPECT_FALSE(Load("e").election.paused);
}

TEST_P(AdminContract, SettingsAreStoredAndCanCreateAnElection) {
  Configure configure = Creating("e");
  configure.lock_delay = 1ms;
  configure.min_hold = 2ms;
  configure.lease_ttl_default = 3s;
  configure.lease_ttl_max = 4s;
  configure.queue_max = 5;

  const AdminAnswer answer = Administer(configure);

  EXPECT_TRUE(answer.changed);
  EXPECT_TRUE(Load("e").exists);
  EXPECT_EQ(Load("e").election, answer.election);
  EXPECT_EQ(Load("e").election.settings, (Settings{1ms, 2ms, 3s, 4s, 5}));
  Campaign campaign = CampaignOf("e", NewSessionId(), "a");
  campaign.opening->lease_ttl.reset();
  EXPECT_EQ(std::get<CampaignAnswer>(Run(campaign).value()).session.lease_ttl, 3s);
}

TEST_P(AdminContract, ADeletedElectionIsGoneAndComesBackWithAHigherTerm) {
  const SessionId leader = NewSessionId();
  const SessionId waiting = NewSessionId();
  Configure configure = Creating("e");
  configure.queue_max = 50;
  Administer(configure);
  Stand("e", NewSessionId(), "deposed");
  Administer(Depose{{"e"}, {1}, 1h, kAsker});
  Stand("e", leader, "a");
  for (int i = 0; i < 20; ++i) Stand("e", NewSessionId(), "c");
  Stand("e", waiting, "b");

  EXPECT_TRUE(Administer(Delete{{"e"}, {2}, kAsker}).changed);

  const Election tombstone = Load("e").election;
  EXPECT_TRUE(tombstone.deleted);
  EXPECT_EQ(tombstone.term, Term{2});
  EXPECT_EQ(tombstone.revision, Revision{4});
  EXPECT_EQ(tombstone.settings, Settings{});
  EXPECT_THAT(Load("e", {{waiting}, {"b", "c"}, 5, false}).queue, IsEmpty());
  EXPECT_THAT(Load("e").cool_downs, IsEmpty());
  EXPECT_THAT(QueueOf("e"), IsEmpty());
  EXPECT_THAT(Replica().FilterWaiting({{{"e"}, waiting}}).value(), IsEmpty());
  EXPECT_THAT(Replica().FindPlaces({waiting, leader}).value(), IsEmpty());
  if (GetParam() != Kind::kSqliteMemory) {
    EXPECT_THAT(Query("SELECT * FROM candidacies"), IsEmpty());
    EXPECT_THAT(Query("SELECT * FROM cool_downs"), IsEmpty());
  }
  EXPECT_THAT(History("e"), ElementsAre("4 VACATED a 2 DELETED"));
  EXPECT_FALSE(Administer(Delete{{"e"}, {2}, kAsker}).changed);

  const CampaignAnswer again = Stand("e", waiting, "b");
  EXPECT_TRUE(again.elected);
  EXPECT_EQ(again.election.term, Term{3});
  EXPECT_EQ(Load("e").election, again.election);
  EXPECT_FALSE(Stand("e", NewSessionId(), "deposed").elected);
  EXPECT_GT(Load("e", Needing({}, 1)).queue.at(0).ticket, Ticket{22});
  EXPECT_THAT(History("e"), ElementsAre("4 VACATED a 2 DELETED", "5 ELECTED b 3 "));
}

TEST_P(AdminContract, AnElectionIsDeletedAndCampaignedForInOneTransaction) {
  const SessionId leader = NewSessionId();
  const SessionId waiting = NewSessionId();
  Stand("e", leader, "a");
  Stand("e", waiting, "b");

  const auto answers = Run(*store_, {Delete{{"e"}, {1}, kAsker}, CampaignOf("e", leader, "a"),
                                     CampaignOf("e", waiting, "b")});

  EXPECT_TRUE(std::get<CampaignAnswer>(answers[1].value()).elected);
  EXPECT_EQ(LeaderOf("e"), "a");
  EXPECT_EQ(Load("e").election.term, Term{2});
  EXPECT_THAT(QueueOf("e"), ElementsAre("b"));
}

TEST_P(AdminContract, AnOperatorEndsASession) {
  const SessionId session = NewSessionId();
  Stand("e", session, "a");
  const auto depose = [&] {
    return store_->Transact({{}, {session}}, {}, [&](TransactionState& transaction) {
      EXPECT_TRUE(DeposeSession(transaction, session, kAsker));
    });
  };

  ASSERT_TRUE(depose());
  ASSERT_TRUE(depose());

  ASSERT_TRUE(Replica().Transact({{}, {session}}, {}, [&](TransactionState& transaction) {
    EXPECT_EQ(transaction.sessions.at(session).ended, Cause::kDeposed);
  }));
  const auto changes = AdminChanges();
  ASSERT_THAT(changes, SizeIs(1));
  EXPECT_EQ(changes[0].change.action, AdminAction::kSessionEnded);
  EXPECT_EQ(changes[0].change.election, ElectionName{});
  EXPECT_EQ(changes[0].change.author, kAsker);
  EXPECT_THAT(Replica().FindDueWork(10).value().unsettled, ElementsAre(session));
}

TEST_P(AdminContract, ChangesAreReadInPagesLatestFirst) {
  const Author author{"o'lga\\", std::string("\xc3\xb6%", 3)};
  std::vector<AdminChange> made;
  for (const auto& [election, term] : {std::pair("e", 1), {"f", 2}, {"e", 3}, {"f", 4}, {"e", 5}}) {
    made.push_back({{election},
                    AdminAction::kConfigured,
                    {static_cast<uint64_t>(term)},
                    {DbTime{1s * term}},
                    "detail '" + std::to_string(term),
                    author});
  }
  ASSERT_TRUE(store_->Transact({}, {}, [&](TransactionState& transaction) {
    transaction.admin_changes.assign(made.begin(), made.begin() + 2);
  }));
  ASSERT_TRUE(store_->Transact({}, {}, [&](TransactionState& transaction) {
    transaction.admin_changes.assign(made.begin() + 2, made.end());
  }));

  const auto first = Replica().ReadAdminChanges({}, kNumberMax, 3).value();
  ASSERT_THAT(first, SizeIs(3));
  const auto second = Replica().ReadAdminChanges({}, first.back().number, 3).value();
  ASSERT_THAT(second, SizeIs(2));
  const auto of_f = Replica().ReadAdminChanges(ElectionName{"f"}, kNumberMax, 10).value();

  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(first[i].change, made[4 - i]);
  for (size_t i = 0; i < 2; ++i) EXPECT_EQ(second[i].change, made[1 - i]);
  ASSERT_THAT(of_f, SizeIs(2));
  EXPECT_EQ(of_f[0].change, made[3]);
  EXPECT_EQ(of_f[1].change, made[1]);
  EXPECT_THAT(Replica().ReadAdminChanges(ElectionName{"f"}, of_f[1].number, 10).value(), IsEmpty());
  EXPECT_THAT(Replica().ReadAdminChanges(ElectionName{"g"}, kNumberMax, 10).value(), IsEmpty());
}

TEST_P(AdminContract, ARefusedCommandChangesNothing) {
  if (GetParam() == Kind::kSqliteMemory) GTEST_SKIP() << "a database in memory has one connection";
  Stand("e", NewSessionId(), "a");
  Stand("e", NewSessionId(), "b");
  Administer(Depose{{"e"}, {1}, 1h, kAsker});
  Stand("paused", NewSessionId(), "a");
  Stand("paused", NewSessionId(), "b");
  Administer(Pause{{"paused"}, true, kAsker});
  Stand("gone", NewSessionId(), "a");
  Administer(Delete{{"gone"}, {1}, kAsker});
  const auto before = Dump();
  Appoint by_force = Appointing("paused", {1}, "b");
  by_force.force = true;
  Configure configure = Creating("never");
  configure.create = false;
  configure.queue_max = 3;
  const std::vector<Command> refused = {
      Appointing("e", {1}, "a"),
      Appointing("e", {2}, "nobody"),
      by_force,
      Appointing("never", {0}, "a"),
      Depose{{"e"}, {3}, {}, kAsker},
      Depose{{"never"}, {0}, {}, {}},
      Pause{{"never"}, true, kAsker},
      configure,
      Delete{{"e"}, {1}, kAsker},
      Delete{{"never"}, {0}, kAsker},
      Campaign{{"gone"}, NewSessionId(), {}, {}, "", 0, {}},
      Campaign{{"never"}, NewSessionId(), {}, {}, "", 0, {}},
      CampaignForAll{{{"gone"}, {"never"}}, NewSessionId(), {}, {}, "", {}}};

  for (const Command& command : refused) {
    EXPECT_FALSE(Run(command)) << "command " << &command - refused.data();
  }
  Depose late{{"e"}, {1}, 1h, kAsker};
  EXPECT_FALSE(Administer(late).changed);
  EXPECT_FALSE(Administer(Pause{{"paused"}, true, kAsker}).changed);
  EXPECT_FALSE(Administer(Delete{{"gone"}, {1}, kAsker}).changed);

  EXPECT_EQ(Dump(), before);
}

// --- Rows that are created before they are known to be needed ---

TEST_P(AdminContract, ATombstoneOutlivesEveryRefusal) {
  Administer(Creating("e"));  // which no event mentions
  Administer(Delete{{"e"}, {0}, kAsker});
  const Election tombstone = Load("e").election;

  EXPECT_FALSE(Run(Campaign{{"e"}, NewSessionId(), {}, {}, "", 0, {}}));
  Configure configure = Creating("e");
  configure.create = false;
  EXPECT_FALSE(Run(configure));

  EXPECT_EQ(Load("e").election, tombstone);
  EXPECT_TRUE(Replica().ReadElections({{"e"}}).value().contains({"e"}));
}

TEST_P(AdminContract, ATermOfAnElectionCreatedAndDeletedAtOnceIsNotReused) {
  const SessionId session = NewSessionId();

  const auto answers = Run(*store_, {CampaignOf("e", session, "a"), Delete{{"e"}, {1}, kAsker}});

  ASSERT_TRUE(answers[1]);
  const auto again = Run(CampaignOf("e", session, "a"));
  ASSERT_TRUE(again);
  EXPECT_EQ(std::get<CampaignAnswer>(*again).election.term, Term{2});
}

TEST_P(AdminContract, APostponedCampaignLeavesNoElection) {
  if (GetParam() != Kind::kServer) GTEST_SKIP() << "SQLite locks the whole file";
  const SessionId locked = NewSessionId();
  const SessionId free = NewSessionId();
  Stand("f", locked, "a");
  Stand("g", free, "b");
  const auto other = Open();

  const auto held = other->Transact({{}, {locked}}, {}, [&](TransactionState&) {
    const auto answers = Run(*store_, {CampaignOf("ghost", locked, "a"), Resign{{"g"}, free, {}}});
    EXPECT_EQ(ReasonOf(answers.at(0)), Reason::kOverloaded);
    EXPECT_TRUE(answers.at(1));
  });

  EXPECT_TRUE(held);
  EXPECT_EQ(LeaderOf("g"), "");
  EXPECT_THAT(store_->ReadElections({{"ghost"}}).value(), IsEmpty());
}

// --- What is loaded ---

TEST_P(AdminContract, QueueHeadsLeaveOutIneligibleCandidates) {
  const SessionId deposed = NewSessionId();
  const SessionId leader = NewSessionId();
  Stand("e", deposed, "cooling");
  Administer(Depose{{"e"}, {1}, 1h, kAsker});
  Stand("e", leader, "leader");
  for (int i = 0; i < 5; ++i) Stand("e", NewSessionId(), "cooling");
  for (int i = 0; i < 5; ++i) Stand("e", NewSessionId(), "observer", 60s, -1);
  const SessionId dead = NewSessionId();
  Stand("e", dead, "dead");
  Stand("e", NewSessionId(), "first");
  Stand("e", NewSessionId(), "second");
  End(dead, Cause::kExpired);

  const ElectionState state = Load("e", Needing({}, 1));

  ASSERT_THAT(state.queue, SizeIs(2));
  EXPECT_EQ(state.queue[0].candidate, "first");
  EXPECT_EQ(state.queue[1].candidate, "second");
  ASSERT_TRUE(state.horizon);
  EXPECT_EQ(state.horizon->session, state.queue[1].session);
  EXPECT_EQ(Load("e", Needing({}, 2)).horizon, std::nullopt);
  Run(Resign{{"e"}, leader, {}});
  EXPECT_EQ(LeaderOf("e"), "first");
}

TEST_P(AdminContract, AQueueOfIneligibleCandidatesKeepsTheSeatEmptyAndBlocksNobody) {
  const SessionId leader = NewSessionId();
  Stand("e", leader, "leader");
  for (int i = 0; i < 5; ++i) Stand("e", NewSessionId(), "observer", 60s, -1);

  Run(Resign{{"e"}, leader, {}});

  EXPECT_EQ(LeaderOf("e"), "");
  EXPECT_EQ(View("e").election.waiting, 5u);
  EXPECT_TRUE(Stand("e", NewSessionId(), "next").elected);
}

TEST_P(AdminContract, OlderSessionsOfACandidateAreFoundWhereverTheyWait) {
  Stand("e", NewSessionId(), "leader");
  for (int i = 0; i < 20; ++i) Stand("e", NewSessionId(), fmt::format("c{:02}", i));
  const SessionId old = NewSessionId();
  Stand("e", old, "s");
  for (int i = 20; i < 40; ++i) Stand("e", NewSessionId(), fmt::format("c{:02}", i));

  Campaign campaign = CampaignOf("e", NewSessionId(), "s");
  campaign.supersede = true;
  ASSERT_TRUE(Run(campaign));

  const auto queue = QueueOf("e");
  ASSERT_THAT(queue, SizeIs(41));
  EXPECT_EQ(queue[20], "s");
  EXPECT_EQ(View("e").election.waiting, 41u);
  ASSERT_TRUE(store_->Transact({{}, {old}}, {}, [&](TransactionState& transaction) {
    EXPECT_EQ(transaction.sessions.at(old).ended, Cause::kSuperseded);
  }));
  campaign = CampaignOf("e", NewSessionId(), "leader");
  campaign.supersede = true;
  EXPECT_TRUE(std::get<CampaignAnswer>(Run(campaign).value()).elected);
}

// A cool-down that ends while a transaction reads keeps its candidate out of what was read; the
// transaction must not conclude that nobody will ever be elected.
TEST_P(AdminContract, ACoolDownThatEndsDuringATransactionIsNotForgotten) {
  if (GetParam() != Kind::kServer) GTEST_SKIP() << "SQLite has one clock for a transaction";
  Stand("e", NewSessionId(), "a");
  Administer(Depose{{"e"}, {1}, 1500ms, kAsker});
  Stand("e", NewSessionId(), "a");
  const DbTime until = Load("e").cool_downs.at("a");
  mysql::Connection holder(std::get<mysql::Config>(ParseStoreUrl(url_).value()));
  holder.Run({"LOCK TABLES cool_downs WRITE"});

  auto settled = std::async(std::launch::async, [&] {
    const auto store = Open();
    Run(*store, {Reconcile{{"e"}, {}}});
  });
  ASSERT_TRUE(Eventually([&] { return store_->FindDueWork(1).value().now > until; }));
  holder.Run({"UNLOCK TABLES"});
  settled.get();

  const Election election = Load("e").election;
  EXPECT_TRUE(election.leader || election.wake_at);
}

}  // namespace
}  // namespace tenure::testing
