#include "client/tool/top/model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/tool/moments.h"
#include "proto/time.h"

namespace tenure::top {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

Model::Time At(std::chrono::milliseconds since) { return Model::Time(since); }

v1::Leadership Led(const std::string& election, uint64_t term, const std::string& candidate) {
  v1::Leadership leadership;
  leadership.set_election(election);
  leadership.set_term(term);
  leadership.set_candidate(candidate);
  *leadership.mutable_lease_ttl() = ToProto(Duration(10s));
  return leadership;
}

v1::Election Listed(const std::string& name, uint64_t revision, uint64_t term,
                    const std::string& leader = "", Duration lease_left = 8s) {
  v1::Election election;
  election.set_name(name);
  election.set_revision(revision);
  election.set_term(term);
  if (leader.empty()) return election;
  *election.mutable_leader() = Led(name, term, leader);
  *election.mutable_lease_left() = ToProto(lease_left);
  return election;
}

v1::ObserveResponse Event(v1::Event::Type type, uint64_t revision, const v1::Leadership& leadership,
                          v1::Cause cause = v1::CAUSE_UNSPECIFIED) {
  v1::ObserveResponse response;
  v1::Event& event = *response.mutable_event();
  event.set_election(leadership.election());
  event.set_revision(revision);
  event.set_type(type);
  *event.mutable_leadership() = leadership;
  event.set_cause(cause);
  return response;
}

v1::ObserveResponse Elected(uint64_t revision, const v1::Leadership& leadership) {
  return Event(v1::Event::TYPE_ELECTED, revision, leadership);
}

v1::ObserveResponse Vacated(uint64_t revision, const v1::Leadership& leadership, v1::Cause cause) {
  return Event(v1::Event::TYPE_VACATED, revision, leadership, cause);
}

// "orders: a 7, 8000 ms": name, leader, term, what is left of the lease.
std::vector<std::string> Texts(const Model& model, Model::Time now) {
  std::vector<std::string> texts;
  for (const v1::Election& election : model.Elections(now)) {
    const std::string leader = election.has_leader() ? election.leader().candidate() : "-";
    texts.push_back(election.name() + ": " + leader + " " + std::to_string(election.term()));
    if (election.has_lease_left()) {
      texts.back() += ", " + std::to_string(MillisOf(election.lease_left())) + " ms";
    }
  }
  return texts;
}

TEST(ModelTest, ListedElectionsAreShownByName) {
  Model model;

  model.Listed({Listed("b", 2, 1), Listed("a", 1, 1, "x")}, At(0s), At(1s));

  EXPECT_THAT(Texts(model, At(1s)), ElementsAre("a: x 1, 8000 ms", "b: - 1"));
}

TEST(ModelTest, LeasesKeepRunningBetweenLists) {
  Model model;
  model.Listed({Listed("a", 1, 1, "x", 8s)}, At(0s), At(1s));

  EXPECT_THAT(Texts(model, At(3500ms)), ElementsAre("a: x 1, 5500 ms"));
  EXPECT_THAT(Texts(model, At(10s)), ElementsAre("a: x 1, -1000 ms"));
}

TEST(ModelTest, AnEventChangesTheLeaderAtOnce) {
  Model model;
  model.Listed({Listed("a", 1, 1, "x")}, At(0s), At(0s));

  model.Observed(Vacated(2, Led("a", 1, "x"), v1::CAUSE_EXPIRED), At(1s));
  EXPECT_THAT(Texts(model, At(1s)), ElementsAre("a: - 1"));

  model.Observed(Elected(3, Led("a", 2, "y")), At(1s));
  EXPECT_THAT(Texts(model, At(1s)), ElementsAre("a: y 2, 10000 ms"));
}

TEST(ModelTest, AProclamationDoesNotRenewTheLease) {
  Model model;
  model.Listed({Listed("a", 1, 1, "x", 8s)}, At(0s), At(0s));

  model.Observed(Event(v1::Event::TYPE_PROCLAIMED, 2, Led("a", 1, "x")), At(1s));

  EXPECT_THAT(Texts(model, At(1s)), ElementsAre("a: x 1, 7000 ms"));
}

TEST(ModelTest, AListThatIsOlderThanAnEventDoesNotUndoIt) {
  Model model;
  model.Listed({Listed("a", 1, 1, "x")}, At(0s), At(0s));
  model.Observed(Vacated(2, Led("a", 1, "x"), v1::CAUSE_RESIGNED), At(1s));
  model.Observed(Elected(3, Led("a", 2, "y")), At(1s));

  v1::Election old = Listed("a", 1, 1, "x");
  old.set_candidates(5);
  model.Listed({old}, At(1s), At(2s));

  EXPECT_THAT(Texts(model, At(2s)), ElementsAre("a: y 2, 9000 ms"));
  EXPECT_EQ(model.Elections(At(2s)).front().candidates(), 5u);
}

TEST(ModelTest, AnEventThatIsOlderThanTheListChangesNothing) {
  Model model;
  model.Listed({Listed("a", 3, 2, "y")}, At(0s), At(0s));

  model.Observed(Vacated(2, Led("a", 1, "x"), v1::CAUSE_RESIGNED), At(1s));

  EXPECT_THAT(Texts(model, At(1s)), ElementsAre("a: y 2, 7000 ms"));
}

TEST(ModelTest, ElectionsNoLongerListedDisappear) {
  Model model;
  model.Listed({Listed("a", 1, 1), Listed("b", 1, 1)}, At(0s), At(0s));

  model.Listed({Listed("b", 1, 1)}, At(1s), At(2s));

  EXPECT_THAT(Texts(model, At(2s)), ElementsAre("b: - 1"));
}

TEST(ModelTest, AnElectionThatAppearedWhileTheListWasReadStays) {
  Model model;
  model.Observed(Elected(1, Led("new", 1, "x")), At(1500ms));

  model.Listed({}, At(1s), At(2s));
  EXPECT_THAT(Texts(model, At(2s)), SizeIs(1));

  model.Listed({}, At(3s), At(4s));
  EXPECT_THAT(Texts(model, At(4s)), IsEmpty());
}

TEST(ModelTest, ADeletedElectionDisappearsAtOnce) {
  Model model;
  model.Listed({Listed("a", 1, 1, "x")}, At(0s), At(0s));

  model.Observed(Vacated(2, Led("a", 1, "x"), v1::CAUSE_DELETED), At(1s));

  EXPECT_THAT(model.Elections(At(1s)), IsEmpty());
}

TEST(ModelTest, AHandoverIsShownAtOnceAndEndsWithTheNextTerm) {
  Model model;
  model.Listed({Listed("a", 1, 1, "x")}, At(0s), At(0s));
  v1::Leadership asked = Led("a", 1, "x");
  asked.set_successor("y");

  model.Observed(Event(v1::Event::TYPE_HANDOVER_ASKED, 2, asked), At(1s));
  EXPECT_EQ(model.Elections(At(1s)).front().appointment().candidate(), "y");

  model.Observed(Elected(4, Led("a", 2, "y")), At(2s));
  EXPECT_FALSE(model.Elections(At(2s)).front().has_appointment());
}

TEST(ModelTest, ASnapshotShowsTheStateOfAnElection) {
  Model model;
  v1::ObserveResponse response;
  v1::Snapshot& snapshot = *response.mutable_snapshot();
  snapshot.set_election("a");
  snapshot.set_revision(5);
  snapshot.set_term(3);
  *snapshot.mutable_leader() = Led("a", 3, "x");

  model.Observed(response, At(1s));

  EXPECT_THAT(Texts(model, At(1s)), ElementsAre("a: x 3, 10000 ms"));
  EXPECT_THAT(model.changes(), IsEmpty());
}

TEST(ModelTest, TheLatestChangesAreKeptLatestFirst) {
  Model model;

  for (uint64_t revision = 1; revision <= 300; ++revision) {
    model.Observed(Elected(revision, Led("a", revision, "x")), At(1s));
  }

  EXPECT_THAT(model.changes(), SizeIs(200));
  EXPECT_EQ(model.changes().front().revision(), 300u);
  EXPECT_EQ(model.changes().back().revision(), 101u);
}

}  // namespace
}  // namespace tenure::top
