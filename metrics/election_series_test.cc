#include "metrics/election_series.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "metrics/metrics.h"

namespace tenure {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Event ElectedIn(const std::string& election, uint64_t revision, uint64_t term) {
  Event event;
  event.election = {election};
  event.revision = {revision};
  event.term = {term};
  event.leader.candidate = "alice";
  return event;
}

Event VacatedIn(const std::string& election, uint64_t revision, uint64_t term,
                Cause cause = Cause::kResigned) {
  Event event = ElectedIn(election, revision, term);
  event.type = EventType::kVacated;
  event.cause = cause;
  return event;
}

Election ReadAt(const std::string& name, uint64_t revision, uint64_t term) {
  Election election;
  election.name = {name};
  election.revision = {revision};
  election.term = {term};
  return election;
}

Election TombstoneAt(const std::string& name, uint64_t revision) {
  Election election = ReadAt(name, revision, 1);
  election.deleted = true;
  return election;
}

MATCHER_P3(ShowsOf, election, what, value, "") {
  const std::string line =
      std::string("tenure_election_") + what + "{election=\"" + election + "\"} " + value + "\n";
  return arg.Expose().find(line) != std::string::npos;
}

MATCHER_P2(ShowsLeader, election, candidate, "") {
  const std::string line = std::string("tenure_election_leader_info{candidate=\"") + candidate +
                           "\",election=\"" + election + "\"} 1\n";
  return arg.Expose().find(line) != std::string::npos;
}

MATCHER_P(Lists, election, "") {
  return arg.Expose().find(std::string("{election=\"") + election + "\"}") != std::string::npos;
}

TEST(ElectionSeriesTest, AnElectionIsShownAsOfItsLatestChange) {
  Metrics metrics({.elections_max = 10});

  metrics.election_series.Heard(ElectedIn("orders", 1, 1));
  EXPECT_THAT(metrics, ShowsOf("orders", "has_leader", "1"));
  metrics.election_series.Heard(VacatedIn("orders", 2, 1));
  EXPECT_THAT(metrics, ShowsOf("orders", "has_leader", "0"));
  metrics.election_series.Heard(ElectedIn("orders", 3, 2));

  EXPECT_THAT(metrics, ShowsOf("orders", "has_leader", "1"));
  EXPECT_THAT(metrics, ShowsOf("orders", "term", "2"));
  EXPECT_THAT(metrics, ShowsOf("orders", "changes_total", "3"));
}

TEST(ElectionSeriesTest, TheLeaderIsNamedWhileItLeads) {
  Metrics metrics({.elections_max = 10});
  Event bob = ElectedIn("orders", 3, 2);
  bob.leader.candidate = "bob";

  metrics.election_series.Heard(ElectedIn("orders", 1, 1));
  EXPECT_THAT(metrics, ShowsLeader("orders", "alice"));
  metrics.election_series.Heard(VacatedIn("orders", 2, 1));
  EXPECT_THAT(metrics.Expose(), Not(HasSubstr("tenure_election_leader_info{")));
  metrics.election_series.Heard(bob);
  EXPECT_THAT(metrics, ShowsLeader("orders", "bob"));
  EXPECT_THAT(metrics, Not(ShowsLeader("orders", "alice")));
  metrics.election_series.Heard(VacatedIn("orders", 4, 2, Cause::kDeleted));

  EXPECT_THAT(metrics.Expose(), Not(HasSubstr("tenure_election_leader_info{")));
}

TEST(ElectionSeriesTest, ALeaderThatProclaimsOrIsAskedToMakeWayStillLeads) {
  for (const EventType type : {EventType::kProclaimed, EventType::kHandoverAsked}) {
    Metrics metrics({.elections_max = 10});
    Event event = ElectedIn("orders", 2, 1);
    event.type = type;

    metrics.election_series.Heard(ElectedIn("orders", 1, 1));
    metrics.election_series.Heard(event);

    EXPECT_THAT(metrics, ShowsOf("orders", "has_leader", "1"));
    EXPECT_THAT(metrics, ShowsLeader("orders", "alice"));
  }
}

TEST(ElectionSeriesTest, AnElectionThatIsReadIsShownAsItIs) {
  Metrics metrics({.elections_max = 10});
  Election election = ReadAt("orders", 7, 3);
  election.leader.emplace().candidate = "alice";

  metrics.election_series.Read(election);

  EXPECT_THAT(metrics, ShowsOf("orders", "term", "3"));
  EXPECT_THAT(metrics, ShowsOf("orders", "changes_total", "7"));
  EXPECT_THAT(metrics, ShowsOf("orders", "has_leader", "1"));
  EXPECT_THAT(metrics, ShowsLeader("orders", "alice"));
}

TEST(ElectionSeriesTest, AllAreForgottenTogether) {
  Metrics metrics({.elections_max = 10});
  metrics.election_series.Heard(ElectedIn("orders", 1, 1));
  metrics.election_series.Heard(ElectedIn("jobs", 1, 1));

  metrics.election_series.ForgetAll();

  EXPECT_THAT(metrics, Not(Lists("orders")));
  EXPECT_THAT(metrics, Not(Lists("jobs")));
}

TEST(ElectionSeriesTest, TheFirstElectionsAreKeptWhenThereIsNoMoreRoom) {
  Metrics metrics({.elections_max = 2});

  for (const char* name : {"b", "c", "a"}) metrics.election_series.Heard(ElectedIn(name, 1, 1));

  EXPECT_THAT(metrics, Lists("b"));
  EXPECT_THAT(metrics, Lists("c"));
  EXPECT_THAT(metrics, Not(Lists("a")));
  EXPECT_FALSE(metrics.election_series.HasRoom());
}

TEST(ElectionSeriesTest, ADeletedElectionMakesRoom) {
  Metrics metrics({.elections_max = 1});
  metrics.election_series.Heard(ElectedIn("a", 1, 1));

  metrics.election_series.Heard(VacatedIn("a", 2, 1, Cause::kDeleted));
  metrics.election_series.Heard(ElectedIn("b", 1, 1));

  EXPECT_THAT(metrics, Not(Lists("a")));
  EXPECT_THAT(metrics, Lists("b"));
}

TEST(ElectionSeriesTest, AMissedDeletionIsNoticedByReading) {
  Metrics metrics({.elections_max = 1});
  metrics.election_series.Heard(VacatedIn("a", 2, 1));

  metrics.election_series.Read(TombstoneAt("a", 2));

  EXPECT_THAT(metrics, Not(Lists("a")));
}

TEST(ElectionSeriesTest, AReadOlderThanTheLatestChangeIsIgnored) {
  Metrics metrics({.elections_max = 1});
  metrics.election_series.Heard(ElectedIn("a", 5, 3));

  metrics.election_series.Read(ReadAt("a", 4, 2));
  metrics.election_series.Read(TombstoneAt("a", 4));

  EXPECT_THAT(metrics, ShowsOf("a", "has_leader", "1"));
  EXPECT_THAT(metrics, ShowsOf("a", "term", "3"));
}

TEST(ElectionSeriesTest, OnlyNamesWithTheGivenPrefixesAreListed) {
  Metrics metrics({.elections_max = 10, .election_prefixes = {"jobs/", "orders"}});

  for (const char* name : {"jobs/a", "jobs", "orders", "payments"}) {
    metrics.election_series.Heard(ElectedIn(name, 1, 1));
  }

  EXPECT_THAT(metrics, Lists("jobs/a"));
  EXPECT_THAT(metrics, Lists("orders"));
  EXPECT_THAT(metrics, Not(Lists("jobs")));
  EXPECT_THAT(metrics, Not(Lists("payments")));
}

TEST(ElectionSeriesTest, ALimitOfZeroMeansNoSeries) {
  Metrics metrics({.elections_max = 0});

  metrics.election_series.Heard(ElectedIn("a", 1, 1));
  metrics.election_series.Read(ReadAt("a", 1, 1));

  EXPECT_THAT(metrics.Expose(), Not(HasSubstr("tenure_election_term")));
}

TEST(ElectionSeriesTest, NamesAreEscapedForPrometheus) {
  Metrics metrics({.elections_max = 1});

  metrics.election_series.Heard(ElectedIn("a\"\\\xc3\xb6", 1, 7));

  EXPECT_THAT(metrics.Expose(),
              HasSubstr("tenure_election_term{election=\"a\\\"\\\\\xc3\xb6\"} 7\n"));
}

}  // namespace
}  // namespace tenure
