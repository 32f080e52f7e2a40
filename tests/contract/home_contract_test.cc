// The homes of sessions, checked on every store: the numbered writes of a replica's own row,
// departures, ends, and what a beat reads.
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "tests/contract/store_contract.h"

namespace tenure::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

constexpr Duration kGoodFor = 3s;

class HomeContract : public StoreContract {
 protected:
  void SetUp() override {
    StoreContract::SetUp();
    for (const HomeId home : {a_, b_}) {
      ASSERT_EQ(store_->BeginHome({.id = home, .good_for = kGoodFor}).value(), true);
    }
  }

  BeatReport Beat(HomeId home, uint64_t number, uint64_t acknowledged) {
    return store_->Beat({home, number, acknowledged, 100}).value();
  }

  // One transaction of a replica.
  Result<Committed> As(HomeId home, const LockSet& locks, const LawStore::Decide& decide,
                       uint64_t acknowledged = 0, std::optional<uint64_t> number = {}) {
    return store_->Transact(locks, {.witness = HomeWitness{home, acknowledged, number}},
                            [&](TransactionState& transaction) {
                              transaction.home = home;
                              decide(transaction);
                            });
  }

  Result<Answer> StandAt(HomeId home, const std::string& election, const SessionId& session,
                         uint64_t acknowledged = 0) {
    const Command command =
        Campaign{{election}, session, Campaign::Opening{"c", kLease}, {}, "v", 0, {7}};
    Result<Answer> answer = Fail(Reason::kOverloaded, "not decided");
    const auto committed = As(
        home, LockSetOf({command}),
        [&](TransactionState& transaction) { answer = Apply(transaction, limits_, command); },
        acknowledged);
    if (!committed) return tl::unexpected(committed.error());
    return answer;
  }

  Result<Committed> Adopt(HomeId home, const SessionId& session, uint64_t acknowledged,
                          uint64_t number) {
    return As(
        home, {{}, {session}},
        [&](TransactionState& transaction) { EXPECT_TRUE(tenure::Adopt(transaction, session)); },
        acknowledged, number);
  }

  Session Load(const SessionId& session) {
    Session found;
    EXPECT_TRUE(store_->Transact({{}, {session}}, {}, [&](TransactionState& transaction) {
      found = transaction.sessions.at(session);
    }));
    return found;
  }

  bool HasEnded(const SessionId& session) { return Load(session).ended != Cause::kNone; }

  void EndSilentAt(HomeId home, const SessionId& session, uint64_t moves) {
    EXPECT_TRUE(As(home, {{}, {session}},
                   [&](TransactionState& transaction) { EndSilent(transaction, session, moves); }));
  }

  static constexpr Duration kLease = 60s;
  const HomeId a_{101};
  const HomeId b_{std::numeric_limits<int64_t>::max()};
  const SessionId session_ = NewSessionId();
};

INSTANTIATE_TEST_SUITE_P(Stores, HomeContract,
                         ::testing::Values(Kind::kSqliteMemory, Kind::kSqliteFile, Kind::kServer),
                         KindName);

// --- The own row ---

// Rows that the server has read so far.
int64_t RowsRead() {
  int64_t rows = 0;
  std::istringstream lines(Server().Ask("SHOW GLOBAL STATUS LIKE 'Handler_read%'"));
  for (std::string line; std::getline(lines, line);)
    rows += std::stoll(line.substr(line.find('\t')));
  return rows;
}

TEST_P(HomeContract, ABeatReadsAFewRowsHoweverManySessionsThereAre) {
  if (GetParam() != Kind::kServer) GTEST_SKIP() << "SQLite does not count them";
  ASSERT_TRUE(StandAt(a_, "e", NewSessionId()));
  Server().Ask(
      "USE tenure; INSERT INTO sessions (id, candidate, lease_ttl_us, ended_at_us, state, cause, "
      "home)"
      " WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 900)"
      " SELECT UNHEX(LEFT(SHA2(i, 256), 32)), 'c', 1, 0, 0, 0, 101 + i % 2 FROM n");
  // InnoDB does that by itself, once a tenth of a table has changed.
  Server().Ask("ANALYZE TABLE tenure.sessions");
  const int64_t before = RowsRead();
  const int64_t to_count = RowsRead() - before;

  EXPECT_TRUE(Beat(a_, 1, 0).beaten);

  EXPECT_LT(RowsRead() - before - 2 * to_count, 100);
}

TEST_P(HomeContract, AnIdIsTakenOnce) {
  EXPECT_EQ(store_->BeginHome({.id = a_, .good_for = 9s}).value(), false);

  EXPECT_EQ(Beat(a_, 1, 0).own, (HomeRow{a_, 1, false, 0, kGoodFor}));
}

TEST_P(HomeContract, ABeatIsNumbered) {
  const BeatReport report = Beat(a_, 1, 0);

  EXPECT_TRUE(report.beaten);
  EXPECT_EQ(report.own, (HomeRow{a_, 1, false, 0, kGoodFor}));
}

TEST_P(HomeContract, ABeatWhoseReplyWasLostIsNoObstacle) {
  Beat(a_, 1, 0);
  Beat(a_, 2, 1);  // nobody heard of it

  EXPECT_TRUE(Beat(a_, 3, 1).beaten);
}

TEST_P(HomeContract, ABeatThatComesLateChangesNothing) {
  Beat(a_, 2, 0);

  const BeatReport late = Beat(a_, 1, 0);

  EXPECT_FALSE(late.beaten);
  EXPECT_EQ(late.own->beat, 2);
}

TEST_P(HomeContract, ABeatOfACopiedReplicaIsRefused) {
  Beat(a_, 5, 0);

  EXPECT_FALSE(Beat(a_, 4, 3).beaten);
  EXPECT_FALSE(Beat(a_, 5, 4).beaten) << "the copy has sent the same";
}

TEST_P(HomeContract, ABeatIsRefusedIfTheDatabaseWentBack) {
  Beat(a_, 4, 0);

  const BeatReport report = Beat(a_, 6, 5);

  EXPECT_FALSE(report.beaten);
  EXPECT_EQ(report.own->beat, 4);
}

TEST_P(HomeContract, ABeatOfAHomeThatIsNotThereIsRefused) {
  const BeatReport report = Beat({77}, 1, 0);

  EXPECT_FALSE(report.beaten);
  EXPECT_EQ(report.own, std::nullopt);
}

TEST_P(HomeContract, ADeadHomeStaysDead) {
  Beat(a_, 1, 0);
  ASSERT_TRUE(store_->DeclareDead(a_, 1).value());

  const BeatReport report = Beat(a_, 2, 1);

  EXPECT_FALSE(report.beaten);
  EXPECT_TRUE(report.own->dead);
}

TEST_P(HomeContract, AHomeThatHasBeatenSinceIsNotDeclaredDead) {
  Beat(a_, 1, 0);
  Beat(a_, 2, 1);

  EXPECT_FALSE(store_->DeclareDead(a_, 1).value());

  EXPECT_TRUE(Beat(a_, 3, 2).beaten);
}

TEST_P(HomeContract, DeclaringAHomeDeadTwiceSucceeds) {
  Beat(a_, 1, 0);
  EXPECT_TRUE(store_->DeclareDead(a_, 1).value());
  EXPECT_TRUE(store_->DeclareDead(a_, 1).value());
}

// --- What a beat reads ---

TEST_P(HomeContract, ABeatShowsTheOthersThatLive) {
  Beat(b_, 1, 0);
  ASSERT_TRUE(store_->BeginHome({.id = {55}, .good_for = 1s}).value());
  ASSERT_TRUE(store_->DeclareDead({55}, 0).value());

  EXPECT_THAT(Beat(a_, 1, 0).living, ElementsAre(HomeRow{b_, 1, false, 0, kGoodFor}));
}

TEST_P(HomeContract, ABeatShowsDeadAndMissingHomesThatStillKeepSessions) {
  const SessionId other = NewSessionId();
  const SessionId ended = NewSessionId();
  ASSERT_TRUE(StandAt(b_, "e", session_));
  ASSERT_TRUE(StandAt(a_, "f", other));
  ASSERT_TRUE(StandAt(a_, "g", ended));
  EXPECT_THAT(Beat(a_, 1, 0).gone, IsEmpty());

  ASSERT_TRUE(store_->DeclareDead(b_, 0).value());
  ASSERT_TRUE(store_->Transact({{}, {other, ended}}, {}, [&](TransactionState& transaction) {
    transaction.sessions.at(other).home = {66};  // that never existed
    transaction.sessions.at(ended).home = {67};
    EXPECT_TRUE(EndSession(transaction, ended, Cause::kSessionClosed));
  }));

  EXPECT_THAT(Beat(a_, 2, 1).gone, UnorderedElementsAre(b_, HomeId{66}));
}

TEST_P(HomeContract, ABeatShowsWhatIsDueAndThePartitions) {
  ASSERT_TRUE(StandAt(a_, "e", session_));
  EndSilentAt(a_, session_, 1);

  const BeatReport report = Beat(a_, 1, 0);

  EXPECT_THAT(report.due.unsettled, ElementsAre(session_));
  EXPECT_EQ(report.due.partitions.offsets, store_->ReadPartitions().value().offsets);
  EXPECT_GT(report.due.now, DbTime{});
}

TEST_P(HomeContract, ALeaseRunsOutOnceItsHomeIsDead) {
  const SessionId other = NewSessionId();
  ASSERT_TRUE(StandAt(a_, "e", session_));
  ASSERT_TRUE(StandAt(b_, "e", other));
  EXPECT_EQ(View("e").lease_left, kLease);
  EXPECT_EQ(store_->ReadQueue({"e"}, 0, 10).value().at(0).lease_left, kLease);

  ASSERT_TRUE(store_->DeclareDead(a_, 0).value());
  ASSERT_TRUE(Eventually([&] { return View("e").lease_left < kLease; }));

  EXPECT_GT(View("e").lease_left, kLease - 30s);
  EXPECT_TRUE(View("e").LeaderAlive());
  const auto sessions = store_->ReadSessions("", {}, 10).value();
  ASSERT_THAT(sessions, SizeIs(2));
  for (const SessionView& view : sessions) {
    EXPECT_EQ(view.lease_left == kLease, view.session.id == other);
  }
}

TEST_P(HomeContract, ASessionOf01IsAnOrphanUntilItIsAdopted) {
  Stand("e", session_, "a");  // by nobody's home
  EXPECT_EQ(View("e").lease_left, 0s);
  EXPECT_THAT(Beat(a_, 1, 0).gone, ElementsAre(HomeId{}));
  EXPECT_THAT(store_->ListOrphans({}, 60s, 10).value(), ElementsAre(session_));

  ASSERT_TRUE(Adopt(a_, session_, 1, 2));

  EXPECT_EQ(View("e").lease_left, kLease);
  EXPECT_THAT(Beat(a_, 3, 2).gone, IsEmpty());
}

// --- Witnesses ---

TEST_P(HomeContract, ASessionIsOpenedAtItsHome) {
  ASSERT_TRUE(StandAt(a_, "e", session_));

  const Session session = Load(session_);
  EXPECT_EQ(session.home, a_);
  EXPECT_EQ(session.moves, 1);
  EXPECT_TRUE(session.Alive());
}

TEST_P(HomeContract, NothingIsCommittedForADeadHome) {
  ASSERT_TRUE(store_->DeclareDead(a_, 0).value());

  const auto answer = StandAt(a_, "e", session_);

  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().reason, Reason::kStoreUnavailable);
  EXPECT_THAT(answer.error().message, ::testing::HasSubstr(kHomeDoesNotStand));
  EXPECT_THAT(History("e"), IsEmpty());
  EXPECT_THAT(store_->ListKept(a_, {}, 10).value(), IsEmpty());
}

TEST_P(HomeContract, NothingIsCommittedOnceTheDatabaseWentBack) {
  Beat(a_, 4, 0);

  EXPECT_FALSE(StandAt(a_, "e", session_, 5));
  EXPECT_TRUE(StandAt(a_, "e", session_, 4));
}

TEST_P(HomeContract, NothingIsCommittedForAHomeThatIsNotThere) {
  EXPECT_FALSE(StandAt({77}, "e", session_));
  EXPECT_THAT(History("e"), IsEmpty());
}

TEST_P(HomeContract, ANumberedTransactionWritesTheRow) {
  ASSERT_TRUE(StandAt(b_, "e", session_));
  Beat(a_, 1, 0);

  ASSERT_TRUE(Adopt(a_, session_, 1, 2));

  EXPECT_EQ(Beat(a_, 3, 2).beaten, true);
  EXPECT_FALSE(Adopt(a_, session_, 3, 3)) << "the number is not higher";
  EXPECT_FALSE(Adopt(a_, session_, 4, 5)) << "an acknowledged number is missing";
}

TEST_P(HomeContract, ANumberedTransactionWritesTheRowEvenIfNothingElseChanges) {
  ASSERT_TRUE(As(
      a_, {{}, {session_}}, [](TransactionState&) {}, 0, 1));

  EXPECT_EQ(Beat(a_, 2, 1).beaten, true);
}

// --- Moves ---

TEST_P(HomeContract, ASessionMovesAndItsFormerHomeHearsOfIt) {
  ASSERT_TRUE(StandAt(b_, "e", session_));

  ASSERT_TRUE(Adopt(a_, session_, 0, 1));

  EXPECT_EQ(Load(session_).home, a_);
  EXPECT_EQ(Load(session_).moves, 2);
  const BeatReport report = Beat(b_, 1, 0);
  EXPECT_TRUE(report.beaten);
  EXPECT_EQ(report.own->departures, 1);
  EXPECT_THAT(store_->ReadDepartures(b_, 0, 10).value(),
              ElementsAre(NumberedDeparture{1, session_, 2}));
}

TEST_P(HomeContract, ASessionThatMovesBackHasMovedTwice) {
  ASSERT_TRUE(StandAt(b_, "e", session_));
  ASSERT_TRUE(Adopt(a_, session_, 0, 1));

  ASSERT_TRUE(Adopt(b_, session_, 0, 1));

  EXPECT_EQ(Load(session_).moves, 3);
  EXPECT_THAT(store_->ReadDepartures(a_, 0, 10).value(),
              ElementsAre(NumberedDeparture{1, session_, 3}));
}

TEST_P(HomeContract, AHomeThatAdoptsItsOwnSessionHasNoDeparture) {
  ASSERT_TRUE(StandAt(a_, "e", session_));

  ASSERT_TRUE(Adopt(a_, session_, 0, 1));

  EXPECT_EQ(Load(session_).moves, 2);
  EXPECT_EQ(Beat(a_, 2, 1).own->departures, 0);
}

TEST_P(HomeContract, ADeadHomeHearsOfNothing) {
  ASSERT_TRUE(StandAt(b_, "e", session_));
  ASSERT_TRUE(store_->DeclareDead(b_, 0).value());

  ASSERT_TRUE(Adopt(a_, session_, 0, 1));

  EXPECT_THAT(store_->ReadDepartures(b_, 0, 10).value(), IsEmpty());
  EXPECT_EQ(Load(session_).home, a_);
}

TEST_P(HomeContract, SeveralDeparturesAreNumberedInOrder) {
  std::vector<SessionId> sessions;
  LockSet locks;
  for (int i = 0; i < 5; ++i) {
    sessions.push_back(NewSessionId());
    ASSERT_TRUE(StandAt(i < 3 ? b_ : a_, "e" + std::to_string(i), sessions.back()));
    locks.sessions.push_back(sessions.back());
  }
  const HomeId c{303};
  ASSERT_TRUE(store_->BeginHome({.id = c, .good_for = kGoodFor}).value());

  ASSERT_TRUE(As(
      c, locks,
      [&](TransactionState& transaction) {
        for (const SessionId& id : sessions) EXPECT_TRUE(tenure::Adopt(transaction, id));
      },
      0, 1));

  EXPECT_THAT(
      store_->ReadDepartures(b_, 0, 10).value(),
      ElementsAre(NumberedDeparture{1, sessions[0], 2}, NumberedDeparture{2, sessions[1], 2},
                  NumberedDeparture{3, sessions[2], 2}));
  EXPECT_THAT(store_->ReadDepartures(b_, 0, 2).value(), SizeIs(2));
  EXPECT_THAT(store_->ReadDepartures(b_, 2, 10).value(),
              ElementsAre(NumberedDeparture{3, sessions[2], 2}));
  EXPECT_THAT(store_->ReadDepartures(b_, 0, 10).value(), SizeIs(1)) << "the first two are known";
  EXPECT_THAT(store_->ReadDepartures(a_, 0, 10).value(), SizeIs(2));
}

TEST_P(HomeContract, ASessionThatHasEndedIsNotAdopted) {
  ASSERT_TRUE(StandAt(b_, "e", session_));
  EndSilentAt(b_, session_, 1);

  ASSERT_TRUE(As(
      a_, {{}, {session_}},
      [&](TransactionState& transaction) {
        EXPECT_EQ(ReasonOf(tenure::Adopt(transaction, session_)), Reason::kSessionEnded);
      },
      0, 1));

  EXPECT_EQ(Load(session_).home, b_);
}

// --- Ends ---

TEST_P(HomeContract, AHomeEndsASessionAfterItsSilence) {
  ASSERT_TRUE(StandAt(a_, "e", session_));

  EndSilentAt(a_, session_, 1);

  EXPECT_EQ(Load(session_).ended, Cause::kExpired);
  EXPECT_EQ(Beat(a_, 1, 0).own->departures, 0) << "it knows";
}

TEST_P(HomeContract, AnEndThatComesLateChangesNothing) {
  ASSERT_TRUE(StandAt(a_, "e", session_));
  ASSERT_TRUE(Adopt(b_, session_, 0, 1));
  EndSilentAt(a_, session_, 1);
  EXPECT_FALSE(HasEnded(session_)) << "it is kept elsewhere";

  ASSERT_TRUE(Adopt(a_, session_, 0, 1));
  EndSilentAt(a_, session_, 1);
  EXPECT_FALSE(HasEnded(session_)) << "it has come back";

  EndSilentAt(a_, session_, 3);
  EXPECT_TRUE(HasEnded(session_));
}

TEST_P(HomeContract, AnEndBySomebodyElseIsADeparture) {
  ASSERT_TRUE(StandAt(b_, "e", session_));

  ASSERT_TRUE(As(a_, {{}, {session_}}, [&](TransactionState& transaction) {
    EXPECT_TRUE(DeposeSession(transaction, session_, {"operator", "why"}));
  }));

  EXPECT_THAT(store_->ReadDepartures(b_, 0, 10).value(),
              ElementsAre(NumberedDeparture{1, session_, 2}));
}

TEST_P(HomeContract, OrphansAreEndedOnceTheirLeasesHavePassed) {
  const SessionId shorter = NewSessionId();
  ASSERT_TRUE(StandAt(b_, "e", session_));
  ASSERT_TRUE(StandAt(b_, "f", shorter));
  ASSERT_TRUE(store_->Transact({{}, {shorter}}, {}, [&](TransactionState& transaction) {
    transaction.sessions.at(shorter).lease_ttl = 2s;
  }));

  EXPECT_THAT(store_->ListOrphans(b_, 1s, 10).value(), IsEmpty());
  EXPECT_THAT(store_->ListOrphans(b_, 2s, 10).value(), ElementsAre(shorter));
  EXPECT_THAT(store_->ListOrphans(b_, kLease, 10).value(), UnorderedElementsAre(shorter, session_));
  EXPECT_THAT(store_->ListOrphans(b_, kLease, 1).value(), SizeIs(1));

  ASSERT_TRUE(As(a_, {{}, {shorter}},
                 [&](TransactionState& transaction) { EndOrphan(transaction, shorter, b_); }));
  EXPECT_TRUE(HasEnded(shorter));
  EXPECT_THAT(store_->ListOrphans(b_, kLease, 10).value(), ElementsAre(session_));
}

TEST_P(HomeContract, AnOrphanThatWasAdoptedLivesOn) {
  ASSERT_TRUE(StandAt(b_, "e", session_));
  ASSERT_TRUE(store_->DeclareDead(b_, 0).value());
  ASSERT_TRUE(Adopt(a_, session_, 0, 1));

  ASSERT_TRUE(As(a_, {{}, {session_}},
                 [&](TransactionState& transaction) { EndOrphan(transaction, session_, b_); }));

  EXPECT_FALSE(HasEnded(session_));
}

// --- Lists ---

TEST_P(HomeContract, AHomeListsWhatItKeepsInPages) {
  std::vector<SessionId> sessions;
  for (int i = 0; i < 5; ++i) sessions.push_back(NewSessionId());
  std::ranges::sort(sessions);
  for (const SessionId& id : sessions) ASSERT_TRUE(StandAt(a_, "e", id));
  ASSERT_TRUE(StandAt(b_, "e", NewSessionId()));
  EndSilentAt(a_, sessions[1], 1);

  const auto first = store_->ListKept(a_, {}, 2).value();
  const auto second = store_->ListKept(a_, first.back().id, 2).value();

  const auto ids = [](const std::vector<Session>& page) {
    std::vector<SessionId> all;
    for (const Session& session : page) all.push_back(session.id);
    return all;
  };
  EXPECT_THAT(ids(first), ElementsAre(sessions[0], sessions[2]));
  EXPECT_THAT(ids(second), ElementsAre(sessions[3], sessions[4]));
  EXPECT_EQ(first[0], Load(sessions[0]));
}

}  // namespace
}  // namespace tenure::testing
