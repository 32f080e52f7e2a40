// Elections that nobody uses are purged, and their names used again.
#include "tests/contract/raw_sql.h"
#include "tests/rpc/admin_fixture.h"
#include "tests/support/sql_application.h"

namespace tenure::testing {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::StartsWith;

class PurgeTest : public AdminTest {
 protected:
  // Grants and ends this many terms at a replica.
  void Use(Tenured& server, const std::string& election, int terms = 1) {
    for (int i = 0; i < terms; ++i) {
      Resign(server, IdOf(Stand(server, {election, "a"})), election);
    }
  }
  // Two days pass, as far as anybody can see.
  void LetTimePass() {
    for (const std::string table : {"events", "admin_changes"}) {
      (void)QueryRows(url_, "UPDATE " + table + " SET at_us = at_us - 172800000000");
    }
    (void)QueryRows(url_, "UPDATE elections SET vacant_since_us = vacant_since_us - 172800000000");
  }

  static std::vector<std::string> Messages(Observer& observer) {
    std::vector<std::string> texts;
    for (const auto& message : observer.Messages()) {
      if (message.has_event()) {
        texts.push_back(message.event().election() + " " + Text(message.event()));
        continue;
      }
      const v1::Snapshot& snapshot = message.snapshot();
      texts.push_back(v1::Snapshot::Reason_Name(snapshot.reason()).substr(7) + " " +
                      snapshot.election() + " " + snapshot.leader().candidate() + " " +
                      std::to_string(snapshot.term()));
    }
    return texts;
  }
  static bool Eventually(Observer& observer, const std::string& message) {
    return testing::Eventually([&] {
      const auto messages = Messages(observer);
      return std::ranges::find(messages, message) != messages.end();
    });
  }
};

INSTANTIATE_TEST_SUITE_P(Stores, PurgeTest,
                         ::testing::Values(StoreKind::kSqlite, StoreKind::kMariaDb), StoreKindName);

TEST_P(PurgeTest, UnusedElectionsArePurgedAndRecorded) {
  Use(A(), "used/long/ago", 3);
  LetTimePass();
  Use(A(), "used/lately");

  EXPECT_THAT(Purge(A(), {.reason = "tidy"}), ElementsAre("used/long/ago"));

  const auto elections = ListElections(B());
  ASSERT_EQ(elections.size(), 1u);
  EXPECT_EQ(elections[0].name(), "used/lately");
  EXPECT_THAT(ListTerms(B(), "used/long/ago"), IsEmpty());
  EXPECT_THAT(Texts(ListChanges(B(), "used/long/ago")),
              ElementsAre("PURGED used/long/ago 3 unused for 48h: tidy"));
  EXPECT_FALSE(Leader(A(), "used/long/ago").has_leader());
}

TEST_P(PurgeTest, UsedElectionsStay) {
  Stand(A(), {"led", "a"});
  Use(A(), "paused");
  Pause(A(), "paused");
  Use(A(), "configured");
  Update(A(), {.election = "configured", .lock_delay = 1s});
  Use(A(), "deleted");
  Delete(A(), "deleted", 1);
  LetTimePass();

  EXPECT_THAT(Purge(A(), {.unused_for = 72h}), IsEmpty());
  EXPECT_THAT(Purge(A(), {.dry_run = true}), ElementsAre("deleted"));
  EXPECT_THAT(Purge(A()), ElementsAre("deleted"));
  EXPECT_THAT(Purge(A()), IsEmpty());
}

TEST_P(PurgeTest, PagesGoThroughAllElections) {
  for (const char* name : {"a", "b", "c", "d", "e"}) Use(A(), name);
  Stand(A(), {"c", "b"});
  LetTimePass();

  EXPECT_THAT(Purge(A(), {.prefix = "a"}), ElementsAre("a"));
  EXPECT_THAT(Purge(A(), {}, 2), ElementsAre("b", "d", "e"));
}

TEST_P(PurgeTest, TermsGoOnAtAReplicaThatRemembersTheElection) {
  Use(B(), "e", 3);
  const uint64_t revision = Leader(B(), "e").revision();
  LetTimePass();
  ASSERT_THAT(Purge(A()), ElementsAre("e"));

  const auto again = Stand(B(), {"e", "b"});

  EXPECT_EQ(again.elected().term(), revision + 1);
  EXPECT_EQ(Leader(A(), "e").leader().term(), revision + 1);
  EXPECT_EQ(Leader(A(), "e").revision(), revision + 1);
}

TEST_P(PurgeTest, ObserversSeeTheNextLeader) {
  Use(B(), "e", 3);
  Use(B(), "with/e", 1);
  Observer by_name(B(), Election("e"));
  Observer by_prefix(B(), Prefix("with/"));
  by_name.WaitUntilOpen();
  by_prefix.WaitUntilOpen();
  LetTimePass();
  ASSERT_THAT(Purge(A()), ElementsAre("e", "with/e"));

  const uint64_t term = Stand(A(), {"e", "b"}).elected().term();
  ASSERT_EQ(Stand(A(), {"with/e", "b"}).elected().term(), term);

  EXPECT_EQ(term, 7u);  // for "e", it is the next; for "with/e", there is a gap
  EXPECT_TRUE(Eventually(by_name, "e ELECTED b 7"));
  EXPECT_TRUE(Eventually(by_prefix, "RESYNC with/e b 7"));
}

// Though the replica started when new elections began after another number.
TEST_P(PurgeTest, ObserversMissNoEventOfNewElections) {
  Observer by_prefix(B(), Prefix(""));
  Observer by_name(B(), Election("new", 1));
  by_prefix.WaitUntilOpen();
  by_name.WaitUntilOpen();
  Use(A(), "e", 3);
  LetTimePass();
  ASSERT_THAT(Purge(A()), ElementsAre("e"));

  Use(A(), "new", 2);

  for (Observer* observer : {&by_prefix, &by_name}) {
    EXPECT_TRUE(Eventually(*observer, "new VACATED a 8 RESIGNED"));
    EXPECT_THAT(Messages(*observer),
                AllOf(Contains("new ELECTED a 7"), Contains("new VACATED a 7 RESIGNED"),
                      Contains("new ELECTED a 8"), ::testing::Not(Contains(StartsWith("RESYNC")))));
  }
  Observer later(B(), Election("new", 1));
  EXPECT_EQ(Texts(later.WaitForEvents(1)).front(), "ELECTED a 7");
}

// The number after which new elections begin has no effect on older ones.
TEST_P(PurgeTest, TheHistoryOfOtherElectionsIsStillObservedFromItsBeginning) {
  Use(A(), "old");
  Use(A(), "e", 3);
  LetTimePass();
  Stand(A(), {"old", "b"});
  ASSERT_THAT(Purge(A()), ElementsAre("e"));

  Observer observer(B(), Election("old", 1));

  EXPECT_THAT(Texts(observer.WaitForEvents(3)),
              ElementsAre("ELECTED a 1", "VACATED a 1 RESIGNED", "ELECTED b 2"));
}

TEST_P(PurgeTest, AnOldLeaderIsRefusedBeforeAndAfterTheNameIsUsedAgain) {
  const std::string session =
      IdOf(Stand(A(), {.election = "e", .candidate = "a", .lease_ttl = 1h}));
  Resign(A(), session, "e");
  LetTimePass();
  ASSERT_THAT(Purge(A()), ElementsAre("e"));
  const auto proclaim = [&] {
    v1::ProclaimRequest request;
    request.set_session_id(session);
    request.set_election("e");
    request.set_term(1);
    grpc::ClientContext context;
    v1::ProclaimResponse response;
    return ReasonOf(A().stub().Proclaim(&context, request, &response));
  };
  const auto guard = [&](uint64_t term) -> std::string {
    if (GetParam() == StoreKind::kSqlite) return term == 1 ? "SQLite has no fence" : "";
    return SqlApplication(url_).Guard("'e'", std::to_string(term));
  };

  EXPECT_EQ(proclaim(), "ELECTION_NOT_FOUND");
  EXPECT_NE(guard(1), "");
  const uint64_t term = Stand(B(), {"e", "b"}).elected().term();
  EXPECT_EQ(proclaim(), "NOT_LEADER");
  EXPECT_NE(guard(1), "");
  EXPECT_EQ(guard(term), "");
}

}  // namespace
}  // namespace tenure::testing
