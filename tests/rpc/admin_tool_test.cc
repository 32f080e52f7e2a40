// The command line tool as operators and their scripts use it.
#include <csignal>
#include <nlohmann/json.hpp>

#include "tests/contract/raw_sql.h"
#include "tests/rpc/service_fixture.h"
#include "tests/rpc/tool.h"

namespace tenure::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;
using Json = nlohmann::json;

constexpr int kNotFound = 5;
constexpr int kRefused = 6;

std::vector<std::string> LinesOf(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

class AdminToolTest : public ServiceTest {
 protected:
  Finished Run(std::vector<std::string> arguments) { return RunTool(A(), std::move(arguments)); }

  // The lines that a command prints for people. It must succeed.
  std::vector<std::string> Lines(std::vector<std::string> arguments) {
    const auto finished = Run(std::move(arguments));
    EXPECT_EQ(finished.exit_code, 0) << finished.errors;
    return LinesOf(finished.output);
  }

  // The same for programs: one object on each line.
  std::vector<Json> Objects(std::vector<std::string> arguments) {
    arguments.push_back("--json");
    std::vector<Json> objects;
    for (const std::string& line : Lines(std::move(arguments))) {
      objects.push_back(Json::parse(line));
    }
    return objects;
  }
  Json Object(std::vector<std::string> arguments) {
    const auto objects = Objects(std::move(arguments));
    EXPECT_THAT(objects, SizeIs(1));
    return objects.empty() ? Json() : objects.front();
  }

  // Expects that a command is refused.
  void ExpectRefused(std::vector<std::string> arguments, int exit_code, const std::string& reason) {
    const auto finished = Run(std::move(arguments));
    EXPECT_EQ(finished.exit_code, exit_code) << finished.output;
    EXPECT_THAT(finished.output, IsEmpty());
    EXPECT_THAT(LinesOf(finished.errors), ElementsAre(StartsWith("tenure: ")));
    EXPECT_THAT(finished.errors, HasSubstr("(" + reason + ")"));
  }

  std::string Open(const std::string& election, const std::string& candidate,
                   const std::string& value = "") {
    return Campaign(A(), {election, candidate, "", value}).session().session_id();
  }
};

INSTANTIATE_TEST_SUITE_P(Stores, AdminToolTest,
                         ::testing::Values(StoreKind::kSqlite, StoreKind::kMariaDb), StoreKindName);

// --- list ---

TEST_P(AdminToolTest, ListShowsElectionsByName) {
  Open("orders", "alice");
  Open("orders", "bob");
  Resign(A(), Open("Jobs", "carol"), "Jobs");

  EXPECT_THAT(
      Lines({"list"}),
      ElementsAre("ELECTION  LEADER  TERM  LED FOR  LEASE  QUEUE  STATE",
                  "Jobs      -          1        -      -      0  vacant",
                  MatchesRegex("orders    alice      1       [0-9]s    (30|2[0-9])s      1")));
}

TEST_P(AdminToolTest, ListPrintsEverythingAsJson) {
  Open("orders", "alice", "10.0.0.7:80");
  Open("orders", "bob");

  const Json election = Object({"list"});

  EXPECT_EQ(election.at("election"), "orders");
  EXPECT_EQ(election.at("term"), 1);
  EXPECT_EQ(election.at("revision"), 1);
  EXPECT_EQ(election.at("leader"), "alice");
  EXPECT_EQ(election.at("value"), "10.0.0.7:80");
  EXPECT_THAT(election.at("elected_time").get<std::string>(),
              MatchesRegex("20[0-9-]+T[0-9:]+(.[0-9]+)?Z"));
  EXPECT_EQ(election.at("lease_ttl_ms"), 30'000);
  EXPECT_GT(election.at("lease_left_ms"), 0);
  EXPECT_LE(election.at("lease_left_ms"), 30'000);
  EXPECT_EQ(election.at("candidates"), 1);
  EXPECT_EQ(election.at("paused"), false);
  EXPECT_EQ(election.at("vacant_until"), nullptr);
  EXPECT_EQ(election.at("appointment"), nullptr);
  EXPECT_EQ(election.at("settings"),
            Json::parse(R"({"lock_delay_ms":0,"min_hold_ms":0,"default_lease_ttl_ms":0,
                            "max_lease_ttl_ms":0,"max_candidates":0})"));
}

TEST_P(AdminToolTest, ListShowsOnlyElectionsOfAPrefix) {
  Open("jobs/a", "x");
  Open("jobs/b", "x");
  Open("jobs", "x");

  EXPECT_THAT(Objects({"list", "jobs/"}), SizeIs(2));
  EXPECT_THAT(Objects({"list", "nothing"}), IsEmpty());
  EXPECT_THAT(Lines({"list", "nothing"}), ElementsAre("no elections"));
}

TEST_P(AdminToolTest, ListGoesThroughAllPages) {
  constexpr int kElections = 1100;  // a page has at most 1000
  constexpr int kAtOnce = 25;
  for (int i = 0; i < kElections; i += kAtOnce) {
    v1::CampaignRequest request = ToRequest({"", "x"});
    for (int j = i; j < i + kAtOnce; ++j) request.add_elections("e" + std::to_string(10'000 + j));
    grpc::ClientContext context;
    v1::CampaignResponse response;
    ASSERT_TRUE(A().stub().Campaign(&context, request, &response).ok());
  }

  const auto all = Objects({"list"});

  ASSERT_THAT(all, SizeIs(kElections));
  EXPECT_EQ(all.front().at("election"), "e10000");
  EXPECT_EQ(all.back().at("election"), "e11099");
  EXPECT_THAT(Objects({"list", "--limit", "1050"}), SizeIs(1050));
  const auto lines = Lines({"list", "--limit", "2"});
  ASSERT_THAT(lines, SizeIs(4));
  EXPECT_EQ(lines.back(), "(there are more; --limit 0 shows all of them)");
}

// --- describe ---

TEST_P(AdminToolTest, DescribeShowsAnElectionAndItsQueue) {
  Open("orders", "alice", "10.0.0.7:80");
  const std::string bob = Open("orders", "bob", "10.0.0.8:80");

  const auto lines = Lines({"describe", "orders"});

  ASSERT_THAT(lines, SizeIs(9));
  EXPECT_EQ(lines[0], "election  orders");
  EXPECT_THAT(lines[1], MatchesRegex("leader    alice in term 1, since 20.*:[0-9][0-9] .[0-9]s."));
  EXPECT_EQ(lines[2], "value     '10.0.0.7:80'");
  EXPECT_THAT(lines[3], MatchesRegex("lease     (30|2[0-9])s left of 30s"));
  EXPECT_EQ(lines[4], "revision  1");
  EXPECT_EQ(lines[5], "settings  none (server defaults)");
  EXPECT_THAT(lines[7], StartsWith("#  CANDIDATE  SESSION"));
  EXPECT_THAT(lines[8], MatchesRegex("1  bob        " + bob.substr(0, 16) +
                                     "         0    (30|2[0-9])s         -  10.0.0.8:80"));
}

TEST_P(AdminToolTest, DescribePrintsTheQueueInOrderAsJson) {
  Open("orders", "alice");
  Campaign(A(), {.election = "orders", .candidate = "bob", .priority = -1});
  Campaign(A(), {.election = "orders", .candidate = "carol", .priority = 5});

  const Json election = Object({"describe", "orders"});

  EXPECT_EQ(election.at("leader"), "alice");
  ASSERT_THAT(election.at("queue"), SizeIs(2));
  const Json& first = election.at("queue").at(0);
  EXPECT_EQ(first.at("position"), 1);
  EXPECT_EQ(first.at("candidate"), "carol");
  EXPECT_EQ(first.at("priority"), 5);
  EXPECT_EQ(first.at("cools_down_until"), nullptr);
  EXPECT_EQ(election.at("queue").at(1).at("candidate"), "bob");
}

TEST_P(AdminToolTest, DescribeSaysWhenTheQueueIsLongerThanShown) {
  Open("orders", "leader");
  for (int i = 0; i < 25; ++i) Open("orders", "c" + std::to_string(i));

  EXPECT_EQ(Lines({"describe", "orders"}).back(),
            "(25 candidates are waiting; --limit 0 shows all of them)");
  EXPECT_THAT(Object({"describe", "orders"}).at("queue"), SizeIs(20));
  EXPECT_THAT(Object({"describe", "orders", "--limit", "0"}).at("queue"), SizeIs(25));
}

TEST_P(AdminToolTest, DescribeSaysThatASeatIsVacant) {
  Resign(A(), Open("orders", "alice"), "orders");

  const auto lines = Lines({"describe", "orders"});

  EXPECT_EQ(lines[1], "leader    nobody; the last term was 1");
  EXPECT_EQ(lines[2], "state     vacant");
  EXPECT_EQ(lines.back(), "the queue is empty");
}

TEST_P(AdminToolTest, ControlCharactersInNamesNeverReachTheTerminal) {
  Open("orders", "alice", "\x1b[2Ja\nb");
  Open("orders", "bob", std::string(300, 'v'));

  const std::string output = Run({"describe", "orders"}).output;

  EXPECT_THAT(output, HasSubstr(R"(value     '\x1b[2Ja\nb')"));
  EXPECT_THAT(output, HasSubstr(std::string(39, 'v') + "…\n"));
}

TEST_P(AdminToolTest, AnUnknownElectionIsExitCode5) {
  for (const std::string command : {"describe", "history", "pause", "resume", "delete", "depose"}) {
    ExpectRefused({command, "nothing"}, kNotFound, "ELECTION_NOT_FOUND");
  }
  ExpectRefused({"appoint", "nothing", "alice"}, kNotFound, "ELECTION_NOT_FOUND");
}

TEST_P(AdminToolTest, AnInvalidNameIsExitCode2) {
  ExpectRefused({"describe", "a\nb"}, 2, "INVALID_ELECTION_NAME");
}

// --- history ---

TEST_P(AdminToolTest, HistoryShowsTermsAndChangesLatestFirst) {
  Resign(A(), Open("orders", "alice"), "orders");
  Open("orders", "bob");
  Lines({"pause", "orders", "--reason", "maintenance of db-3"});

  const auto lines = Lines({"history", "orders"});

  const std::string time = "20[0-9-]+ [0-9:]+";
  ASSERT_THAT(lines, SizeIs(6));
  EXPECT_THAT(lines[0], MatchesRegex("TERM  LEADER  FROM +TO +LED FOR  END"));
  EXPECT_THAT(lines[1], MatchesRegex("   2  bob     " + time + "  - +[0-9]s  leads"));
  EXPECT_THAT(lines[2], MatchesRegex("   1  alice   " + time + "  " + time + " +0s  RESIGNED"));
  EXPECT_EQ(lines[3], "");
  EXPECT_THAT(lines[4], MatchesRegex("TIME +CHANGE  TERM  WHAT  BY +REASON"));
  EXPECT_THAT(lines[5], MatchesRegex(time + "  PAUSED     2 .* maintenance of db-3"));
}

TEST_P(AdminToolTest, HistoryPrintsTermsAndThenChangesAsJson) {
  Resign(A(), Open("orders", "alice"), "orders");
  Open("orders", "bob");
  Lines({"depose", "orders", "--reason", "why not"});

  const auto records = Objects({"history", "orders"});

  ASSERT_THAT(records, SizeIs(3));
  EXPECT_EQ(records[0].at("record"), "term");
  EXPECT_EQ(records[0].at("term"), 2);
  EXPECT_EQ(records[0].at("candidate"), "bob");
  EXPECT_EQ(records[0].at("cause"), "DEPOSED");
  EXPECT_EQ(records[1].at("cause"), "RESIGNED");
  EXPECT_EQ(records[2].at("record"), "change");
  EXPECT_EQ(records[2].at("election"), "orders");
  EXPECT_EQ(records[2].at("action"), "DEPOSED");
  EXPECT_EQ(records[2].at("term"), 2);
  EXPECT_EQ(records[2].at("reason"), "why not");
  EXPECT_NE(records[2].at("identity"), "");
}

TEST_P(AdminToolTest, HistoryIsShortUnlessMoreIsRequested) {
  for (int i = 0; i < 25; ++i) Resign(A(), Open("orders", "alice"), "orders");

  EXPECT_THAT(Objects({"history", "orders"}), SizeIs(20));
  EXPECT_THAT(Run({"history", "orders"}).output,
              HasSubstr("(there are more; --limit 0 shows all of them)"));
  EXPECT_THAT(Objects({"history", "orders", "--limit", "0"}), SizeIs(25));
}

TEST_P(AdminToolTest, HistoryWithoutAnElectionShowsAllOperatorsChanges) {
  Open("a", "x");
  const std::string session = Open("b", "y");
  Lines({"pause", "a"});
  Lines({"end-session", session.substr(0, 16)});

  const auto changes = Objects({"history"});

  ASSERT_THAT(changes, SizeIs(2));
  EXPECT_EQ(changes[0].at("action"), "SESSION_ENDED");
  EXPECT_EQ(changes[0].at("election"), nullptr);
  EXPECT_EQ(changes[1].at("action"), "PAUSED");
  EXPECT_EQ(changes[1].at("election"), "a");
  EXPECT_THAT(Lines({"history"})[0], MatchesRegex("TIME +ELECTION  CHANGE.*"));
}

// --- sessions ---

TEST_P(AdminToolTest, SessionsShowsWhereEachLeadsAndWaits) {
  const std::string alice = Open("orders", "alice");
  Campaign(A(), {"payments", "", alice});
  const std::string bob = Open("orders", "bob");

  const auto lines = Lines({"sessions", "alice"});
  ASSERT_THAT(lines, SizeIs(2));
  EXPECT_EQ(lines[0],
            "SESSION           CANDIDATE  OPEN FOR  LEASE  LEFT  LEADS             WAITS FOR");
  EXPECT_THAT(lines[1],
              MatchesRegex(alice.substr(0, 16) +
                           "  alice            [0-9]s    30s   (30|2[0-9])s  orders, payments  -"));

  const Json session = Object({"sessions", "b"});
  EXPECT_EQ(session.at("session"), bob.substr(0, 16));
  EXPECT_EQ(session.at("candidate"), "bob");
  EXPECT_EQ(session.at("lease_ttl_ms"), 30'000);
  EXPECT_EQ(session.at("leads"), Json::array());
  EXPECT_EQ(session.at("waits"), Json::array({"orders"}));
  EXPECT_THAT(Objects({"sessions"}), SizeIs(2));
  EXPECT_THAT(Lines({"sessions", "nobody"}), ElementsAre("no sessions"));
}

// --- appoint ---

TEST_P(AdminToolTest, AppointAsksTheLeaderToMakeWay) {
  Open("orders", "alice");
  Open("orders", "bob");

  EXPECT_THAT(Lines({"appoint", "orders", "bob"}),
              ElementsAre("orders: alice was asked to make way for bob (seen in term 1)"));

  const Json election = Object({"describe", "orders"});
  EXPECT_EQ(election.at("leader"), "alice");
  EXPECT_EQ(election.at("appointment").at("candidate"), "bob");
  EXPECT_THAT(Lines({"list"})[1], ::testing::EndsWith("handover to bob"));
}

TEST_P(AdminToolTest, AppointByForceMovesTheSeatAtOnce) {
  Open("orders", "alice");
  Open("orders", "bob");

  const Json answer = Object({"appoint", "orders", "bob", "--force", "--reason", "drill"});

  EXPECT_EQ(answer.at("outcome"), "LEADS");
  EXPECT_EQ(answer.at("term_sent"), 1);
  EXPECT_EQ(answer.at("leader"), "bob");
  EXPECT_EQ(answer.at("term"), 2);
  EXPECT_EQ(Objects({"history", "orders"}).at(1).at("cause"), "APPOINTED_AWAY");
}

TEST_P(AdminToolTest, AppointReservesTheSeatForAnAbsentCandidate) {
  Resign(A(), Open("orders", "alice"), "orders");

  const auto lines = Lines({"appoint", "orders", "bob", "--reserve-for", "10m"});

  EXPECT_THAT(lines, ElementsAre(MatchesRegex(
                         "orders: the seat is reserved for bob until 20.* .seen in term 1.")));
  EXPECT_FALSE(Campaign(A(), {"orders", "carol"}).has_elected());
  EXPECT_TRUE(Campaign(B(), {"orders", "bob"}).has_elected());
}

TEST_P(AdminToolTest, AppointRefusesACandidateThatIsNotStanding) {
  Open("orders", "alice");

  ExpectRefused({"appoint", "orders", "bob"}, kRefused, "CANDIDATE_NOT_STANDING");
}

TEST_P(AdminToolTest, AppointByForceIsRefusedDuringAPause) {
  Open("orders", "alice");
  Open("orders", "bob");
  Lines({"pause", "orders"});

  ExpectRefused({"appoint", "orders", "bob", "--force"}, kRefused, "ELECTION_PAUSED");
}

TEST_P(AdminToolTest, AStaleTermIsRefused) {
  Resign(A(), Open("orders", "alice"), "orders");
  Open("orders", "bob");
  Open("orders", "carol");

  ExpectRefused({"appoint", "orders", "carol", "--term", "1"}, kRefused, "STALE_TERM");
  ExpectRefused({"delete", "orders", "--term", "1"}, kRefused, "STALE_TERM");
  ExpectRefused({"depose", "orders", "--term", "9"}, kRefused, "STALE_TERM");
  EXPECT_EQ(Object({"describe", "orders"}).at("leader"), "bob");
}

// --- depose ---

TEST_P(AdminToolTest, DeposeEndsTheTermAndKeepsTheCandidateOut) {
  const std::string alice = Open("orders", "alice");
  Open("orders", "bob");

  EXPECT_THAT(Lines({"depose", "orders", "--cool-down", "10m", "--reason", "it hangs"}),
              ElementsAre("orders: term 1 has ended; bob leads in term 2 (seen in term 1)"));

  EXPECT_TRUE(Campaign(B(), {"orders", "", alice}).has_standing());
  const Json waiting = Object({"describe", "orders"}).at("queue").at(0);
  EXPECT_EQ(waiting.at("candidate"), "alice");
  EXPECT_NE(waiting.at("cools_down_until"), nullptr);
}

TEST_P(AdminToolTest, DeposeOfAnEndedTermChangesNothing) {
  Resign(A(), Open("orders", "alice"), "orders");
  EXPECT_THAT(Lines({"depose", "orders"}),
              ElementsAre("orders: nobody leads; nothing to do (seen in term 1)"));
  Open("orders", "bob");

  const Json answer = Object({"depose", "orders", "--term", "1"});

  EXPECT_EQ(answer.at("outcome"), "OVER_ALREADY");
  EXPECT_EQ(answer.at("leader"), "bob");
}

// --- pause and resume ---

TEST_P(AdminToolTest, NobodyIsElectedDuringAPause) {
  Resign(A(), Open("orders", "alice"), "orders");

  EXPECT_THAT(Lines({"pause", "orders"}),
              ElementsAre("orders: paused, so the seat will not be granted; nobody leads"));
  Open("orders", "bob");
  EXPECT_EQ(Object({"list"}).at("leader"), nullptr);
  EXPECT_EQ(Object({"list"}).at("paused"), true);

  const Json resumed = Object({"resume", "orders"});
  EXPECT_EQ(resumed.at("outcome"), "RESUMED");
  EXPECT_EQ(resumed.at("leader"), "bob");
}

// --- configure ---

TEST_P(AdminToolTest, ConfigureChangesTheGivenSettingsBeforeAnybodyCampaigns) {
  EXPECT_THAT(Lines({"configure", "orders", "--lock-delay", "5s", "--max-candidates", "1"}),
              ElementsAre("orders: lock-delay 5s, max-candidates 1"));

  const Json settings =
      Object({"configure", "orders", "--min-hold", "1m", "--default-ttl", "20s", "--max-ttl", "1h"})
          .at("settings");

  EXPECT_EQ(settings, Json::parse(R"({"lock_delay_ms":5000,"min_hold_ms":60000,
      "default_lease_ttl_ms":20000,"max_lease_ttl_ms":3600000,"max_candidates":1})"));
  EXPECT_EQ(
      Object({"configure", "orders", "--lock-delay", "0s"}).at("settings").at("lock_delay_ms"), 0);
}

TEST_P(AdminToolTest, ConfigureOutOfBoundsIsExitCode2) {
  ExpectRefused({"configure", "orders", "--lock-delay", "25h"}, 2, "INVALID_SETTING");
}

TEST_P(AdminToolTest, ATooLongReasonIsExitCode2) {
  Open("orders", "alice");

  ExpectRefused({"pause", "orders", "--reason", std::string(256, 'r')}, 2, "INVALID_REASON");
}

// --- delete ---

TEST_P(AdminToolTest, DeleteRemovesAllButTheTerm) {
  Open("orders", "alice");

  EXPECT_THAT(Lines({"delete", "orders"}),
              ElementsAre("orders: deleted; the next term will be higher than 1 (seen in term 1)"));

  EXPECT_THAT(Lines({"list"}), ElementsAre("no elections"));
  EXPECT_EQ(Object({"delete", "orders", "--term", "1"}).at("outcome"), "DELETED_ALREADY");
  const std::string deleted =
      "election 'orders' was deleted, and nobody has campaigned in it since";
  for (const std::string command : {"describe", "depose", "pause", "resume", "delete"})
    EXPECT_THAT(Run({command, "orders"}).errors, HasSubstr(deleted)) << command;
  EXPECT_EQ(Campaign(A(), {"orders", "bob"}).elected().term(), 2u);
}

// --- purge ---

TEST_P(AdminToolTest, PurgeRemovesElectionsUnusedForTheGivenTime) {
  for (const std::string name : {"jobs/1", "jobs/2", "orders"}) {
    Resign(A(), Open(name, "alice"), name);
  }
  (void)QueryRows(url_, "UPDATE events SET at_us = at_us - 172800000000");
  (void)QueryRows(url_, "UPDATE elections SET vacant_since_us = vacant_since_us - 172800000000");
  Open("jobs/2", "bob");

  EXPECT_THAT(Lines({"purge", "--unused-for", "24h", "--dry-run"}),
              ElementsAre("jobs/1: would be purged", "orders: would be purged",
                          "2 elections would be purged"));
  EXPECT_EQ(Object({"purge", "o", "--unused-for", "24h", "--dry-run"}),
            Json::parse(R"({"election":"orders","outcome":"WOULD_BE_PURGED"})"));
  EXPECT_THAT(Objects({"list"}), SizeIs(3));
  EXPECT_THAT(Lines({"purge", "--unused-for", "72h"}), ElementsAre("0 elections purged"));

  EXPECT_THAT(Lines({"purge", "jobs/", "--unused-for", "24h", "--reason", "tidy"}),
              ElementsAre("jobs/1: purged", "1 election purged"));
  EXPECT_EQ(Object({"purge", "--unused-for", "24h"}),
            Json::parse(R"({"election":"orders","outcome":"PURGED"})"));

  EXPECT_THAT(Lines({"history", "jobs/1"}),
              Contains(MatchesRegex(".* PURGED +1  unused for 48h .* tidy")));
  EXPECT_EQ(Object({"list"}).at("election"), "jobs/2");
}

TEST_P(AdminToolTest, PurgeNeedsAnAge) {
  EXPECT_EQ(Run({"purge"}).exit_code, 2);
  EXPECT_EQ(Run({"purge", "--unused-for", "23h"}).exit_code, 2);
}

// --- end-session ---

TEST_P(AdminToolTest, EndSessionTakesItsSeats) {
  const std::string handle = Open("orders", "alice").substr(0, 16);

  EXPECT_THAT(Lines({"end-session", handle, "--reason", "lost laptop"}),
              ElementsAre(handle + ": ended"));

  EXPECT_FALSE(Leader(B(), "orders").has_leader());
  EXPECT_THAT(Lines({"end-session", handle}),
              ElementsAre(handle + ": had already ended (DEPOSED)"));
  EXPECT_EQ(Object({"end-session", handle}).at("outcome"), "ENDED_ALREADY");
}

TEST_P(AdminToolTest, AnUnknownSessionIsExitCode5) {
  ExpectRefused({"end-session", "0123456789abcdef"}, kNotFound, "SESSION_NOT_FOUND");
  ExpectRefused({"end-session", "alice"}, 2, "INVALID_SESSION_ID");
}

// --- Trouble ---

TEST_P(AdminToolTest, AnyReplicaThatAnswersIsUsed) {
  Open("orders", "alice");

  EXPECT_THAT(Objects({"list", "--endpoint", "127.0.0.1:1," + A().endpoint()}), SizeIs(1));
}

TEST_P(AdminToolTest, WithoutAReplicaTheExitCodeIs7) {
  const auto finished = Run({"list", "--endpoint", "127.0.0.1:1"});

  EXPECT_EQ(finished.exit_code, 7);
  EXPECT_EQ(finished.errors,
            "tenure: cannot use 127.0.0.1:1: connection refused; see `tenure status`\n");
}

}  // namespace
}  // namespace tenure::testing
