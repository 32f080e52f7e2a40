#include "client/cpp/machine/observation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tenure {
namespace {

using ::testing::ElementsAre;
using enum Observation::Verdict;

v1::ObserveResponse SnapshotOf(const std::string& election, uint64_t revision,
                               v1::Snapshot::Reason reason = v1::Snapshot::REASON_INITIAL) {
  v1::ObserveResponse response;
  response.mutable_snapshot()->set_election(election);
  response.mutable_snapshot()->set_revision(revision);
  response.mutable_snapshot()->set_reason(reason);
  return response;
}

v1::ObserveResponse Resync(const std::string& election, uint64_t revision) {
  return SnapshotOf(election, revision, v1::Snapshot::REASON_RESYNC);
}

v1::ObserveResponse EventOf(const std::string& election, uint64_t revision) {
  v1::ObserveResponse response;
  response.mutable_event()->set_election(election);
  response.mutable_event()->set_revision(revision);
  return response;
}

v1::ObserveResponse Progress() {
  v1::ObserveResponse response;
  response.mutable_progress();
  return response;
}

// What it asks for: "e", "e from 7", "prefix e/ from 1".
std::vector<std::string> Asked(const Observation& observation) {
  std::vector<std::string> texts;
  const v1::ObserveRequest request = observation.Request();
  for (const v1::Selector& selector : request.selectors()) {
    std::string text = selector.has_prefix() ? "prefix " + selector.prefix() : selector.election();
    if (selector.has_from_revision()) text += " from " + std::to_string(selector.from_revision());
    texts.push_back(text);
  }
  return texts;
}

TEST(ObservationTest, ItStartsWithTheRequestedSelectors) {
  EXPECT_THAT(Asked(Observation({{"e", "f"}})), ElementsAre("e", "f"));
  EXPECT_THAT(Asked(Observation({{"e"}, false, 7})), ElementsAre("e from 7"));
  EXPECT_THAT(Asked(Observation({{"a/", "b/"}, true})), ElementsAre("prefix a/", "prefix b/"));
}

TEST(ObservationTest, SingleElectionsStartWithTheirOwnRevisions) {
  EXPECT_THAT(Asked(Observation({{"e", "f"}, false, {}, {{"e", 7}}})),
              ElementsAre("e from 7", "f"));
  EXPECT_THAT(Asked(Observation({{"e", "f"}, false, 3, {{"e", 7}}})),
              ElementsAre("e from 7", "f from 3"));
  EXPECT_THAT(Asked(Observation({{"a/"}, true, {}, {{"a/x", 7}}})),
              ElementsAre("a/x from 7", "prefix a/"));
}

TEST(ObservationTest, TheOwnRevisionOfAnElectionComesFirst) {
  Observation observation({{"e", "f"}, false, 3, {{"e", 7}, {"f", 1}}});

  EXPECT_EQ(observation.Note(EventOf("e", 6)), kKnown);
  EXPECT_EQ(observation.Note(EventOf("e", 8)), kGap);
  EXPECT_EQ(observation.Note(EventOf("e", 7)), kNews);
  EXPECT_EQ(observation.Note(EventOf("f", 1)), kNews);

  EXPECT_THAT(Asked(observation), ElementsAre("e from 8", "f from 2"));
}

// It starts again with whichever event the service says is its first.
TEST(ObservationTest, ADeletedElectionForgetsItsOwnRevision) {
  Observation observation({{"a/"}, true, {}, {{"a/x", 7}}});
  EXPECT_EQ(observation.Note(Resync("a/x", 0)), kNews);
  EXPECT_THAT(Asked(observation), ElementsAre("prefix a/"));

  EXPECT_EQ(observation.Note(EventOf("a/x", 5)), kNews);
}

TEST(ObservationTest, EachElectionResumesAfterItsLastNewRevision) {
  Observation observation({{"e", "f", "g"}});

  EXPECT_EQ(observation.Note(SnapshotOf("e", 4)), kNews);
  EXPECT_EQ(observation.Note(SnapshotOf("f", 0)), kNews);
  EXPECT_EQ(observation.Note(EventOf("e", 5)), kNews);

  EXPECT_THAT(Asked(observation), ElementsAre("e from 6", "f from 1", "g"));
}

TEST(ObservationTest, AnElectionWithoutNewsIsRequestedAsAtFirst) {
  Observation observation({{"e", "f"}, false, 7});

  EXPECT_EQ(observation.Note(EventOf("f", 7)), kNews);

  EXPECT_THAT(Asked(observation), ElementsAre("f from 8", "e from 7"));
}

TEST(ObservationTest, RepeatedEventsAreNotNews) {
  Observation observation({{"e"}});
  EXPECT_EQ(observation.Note(SnapshotOf("e", 4)), kNews);
  EXPECT_EQ(observation.Note(EventOf("e", 5)), kNews);

  EXPECT_EQ(observation.Note(EventOf("e", 5)), kKnown);
  EXPECT_EQ(observation.Note(EventOf("e", 3)), kKnown);
  EXPECT_EQ(observation.Note(SnapshotOf("e", 5)), kKnown);
  EXPECT_EQ(observation.Note(EventOf("e", 6)), kNews);
}

TEST(ObservationTest, EventsAfterAGapDoNotCountAsSeen) {
  Observation observation({{"e"}});
  EXPECT_EQ(observation.Note(SnapshotOf("e", 4)), kNews);

  EXPECT_EQ(observation.Note(EventOf("e", 6)), kGap);
  EXPECT_EQ(observation.Note(SnapshotOf("e", 7)), kGap);

  EXPECT_THAT(Asked(observation), ElementsAre("e from 5"));
}

// In a database that was restored, elections begin with higher numbers than 1.
TEST(ObservationTest, TheServiceDecidesWhichEventIsTheFirst) {
  Observation all({{""}, true});
  EXPECT_EQ(all.Note(EventOf("e", 1'000)), kNews);
  EXPECT_EQ(all.Note(EventOf("e", 1'002)), kGap);
  EXPECT_EQ(all.Note(EventOf("f", 1)), kNews);

  Observation not_there({{"e"}});
  EXPECT_EQ(not_there.Note(SnapshotOf("e", 0)), kNews);
  EXPECT_EQ(not_there.Note(EventOf("e", 1'000)), kNews);
  EXPECT_EQ(not_there.Note(EventOf("e", 1'000)), kKnown);
}

TEST(ObservationTest, TheRequestedRevisionComesFirst) {
  Observation later({{""}, true, 7});
  EXPECT_EQ(later.Note(EventOf("e", 6)), kKnown);
  EXPECT_EQ(later.Note(EventOf("e", 8)), kGap);
  EXPECT_EQ(later.Note(EventOf("e", 7)), kNews);
}

TEST(ObservationTest, AResyncMaySkipEventsAndGoBack) {
  Observation observation({{"e"}});
  EXPECT_EQ(observation.Note(SnapshotOf("e", 4)), kNews);

  EXPECT_EQ(observation.Note(Resync("e", 9)), kNews);
  EXPECT_EQ(observation.Note(EventOf("e", 10)), kNews);
  EXPECT_EQ(observation.Note(Resync("e", 2)), kNews);
  EXPECT_EQ(observation.Note(EventOf("e", 3)), kNews);

  EXPECT_THAT(Asked(observation), ElementsAre("e from 4"));
}

TEST(ObservationTest, ElectionsCreatedDuringABreakStartWithTheirFirstEvent) {
  Observation observation({{"jobs/"}, true});
  EXPECT_EQ(observation.Note(SnapshotOf("jobs/a", 4)), kNews);
  EXPECT_THAT(Asked(observation), ElementsAre("jobs/a from 5", "prefix jobs/"));

  EXPECT_EQ(observation.Note(Progress()), kNews);

  EXPECT_THAT(Asked(observation), ElementsAre("jobs/a from 5", "prefix jobs/ from 1"));
}

TEST(ObservationTest, DeletedElectionsAreForgottenUnlessRequestedByName) {
  Observation by_prefix({{"e"}, true});
  EXPECT_EQ(by_prefix.Note(SnapshotOf("e", 4)), kNews);
  EXPECT_EQ(by_prefix.Note(Resync("e", 0)), kNews);
  EXPECT_THAT(Asked(by_prefix), ElementsAre("prefix e"));

  Observation by_name({{"e"}});
  EXPECT_EQ(by_name.Note(SnapshotOf("e", 4)), kNews);
  EXPECT_EQ(by_name.Note(Resync("e", 0)), kNews);
  EXPECT_THAT(Asked(by_name), ElementsAre("e from 1"));
}

TEST(ObservationTest, EveryElectionOfAFullStreamResumesByName) {
  Observation observation({{""}, true});
  for (int i = 0; i < 10'000; ++i) {
    EXPECT_EQ(observation.Note(EventOf("e" + std::to_string(i), 1)), kNews);
  }

  EXPECT_EQ(observation.Request().selectors_size(), 10'001);
}

TEST(ObservationTest, AnUnknownMessageIsNotNews) {
  EXPECT_EQ(Observation({{"e"}}).Note(v1::ObserveResponse()), kKnown);
}

}  // namespace
}  // namespace tenure
