// Scenarios that other systems' users and test suites teach, against running servers. The numbers
// are those of the list in docs/scenarios.md.
#include <thread>

#include "tests/rpc/service_fixture.h"

namespace tenure::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class ScenarioTest : public ServiceTest {};

INSTANTIATE_TEST_SUITE_P(Stores, ScenarioTest,
                         ::testing::Values(StoreKind::kSqlite, StoreKind::kMariaDb), StoreKindName);

// 1
TEST_P(ScenarioTest, TheSecondCandidateWaitsUntilTheFirstResigns) {
  const auto first = Campaign(A(), {"e", "first"});
  ASSERT_EQ(first.elected().term(), 1u);
  const auto second = Campaign(B(), {"e", "second", "", "value of second", 200ms});
  ASSERT_EQ(second.standing().position(), 1u);
  ASSERT_EQ(second.standing().leader().candidate(), "first");

  WaitingCampaign waiting(B(), {"e", "second", second.session().session_id(), "value of second"});
  EXPECT_EQ(Resign(A(), first.session().session_id(), "e").outcome(),
            v1::ResignResponse::OUTCOME_RESIGNED);

  EXPECT_EQ(waiting.Response().elected().term(), 2u);
  EXPECT_EQ(Leader(A(), "e").leader().candidate(), "second");
  EXPECT_EQ(Leader(A(), "e").leader().value(), "value of second");
}

// 2
TEST_P(ScenarioTest, AnObserverSeesTenValuesOverTwoLeadersInOrder) {
  Observer observer(B(), Election("e"));
  observer.WaitUntilOpen();
  ASSERT_THAT(observer.Messages(), SizeIs(1));
  EXPECT_FALSE(observer.Messages()[0].snapshot().has_leader());
  EXPECT_EQ(observer.Messages()[0].snapshot().revision(), 0u);

  std::vector<std::string> expected;
  const auto lead = [&](Tenured& server, const std::string& candidate, uint64_t term) {
    const auto leader = Campaign(server, {"e", candidate, "", candidate + "0"});
    ASSERT_EQ(leader.elected().term(), term);
    for (int i = 1; i < 5; ++i) {
      Proclaim(server, leader.session().session_id(), "e", term, candidate + std::to_string(i));
    }
    for (int i = 0; i < 5; ++i) expected.push_back(candidate + std::to_string(i));
    Resign(server, leader.session().session_id(), "e");
    expected.push_back("vacated");
  };
  lead(A(), "a", 1);
  lead(B(), "b", 2);

  const auto events = observer.WaitForEvents(12);
  std::vector<std::string> seen;
  for (size_t i = 0; i < events.size(); ++i) {
    EXPECT_EQ(events[i].revision(), i + 1);
    const bool vacated = events[i].type() == v1::Event::TYPE_VACATED;
    seen.push_back(vacated ? "vacated" : events[i].leadership().value());
  }
  EXPECT_EQ(seen, expected);
}

// 3
TEST_P(ScenarioTest, TheWaiterWinsWhenTheLeaderClosesItsSession) {
  const auto leader = Campaign(A(), {"e", "leader"});
  const auto waiter = Campaign(B(), {"e", "waiter"});
  WaitingCampaign waiting(B(), {"e", "waiter", waiter.session().session_id()});

  EXPECT_EQ(Resign(A(), leader.session().session_id()).outcome(),
            v1::ResignResponse::OUTCOME_SESSION_ENDED);

  EXPECT_EQ(waiting.Response().elected().term(), 2u);
  Observer fresh(B(), Election("e"));
  fresh.WaitUntilOpen();
  ASSERT_THAT(fresh.Messages(), SizeIs(1));
  EXPECT_EQ(fresh.Messages()[0].snapshot().leader().candidate(), "waiter");
  EXPECT_EQ(fresh.Messages()[0].snapshot().term(), 2u);
  Observer from_the_start(A(), Election("e", 1));
  EXPECT_THAT(
      Texts(from_the_start.WaitForEvents(3)),
      ElementsAre("ELECTED leader 1", "VACATED leader 1 SESSION_CLOSED", "ELECTED waiter 2"));
}

// 4
TEST_P(ScenarioTest, TheSameSessionCampaignsTwice) {
  const auto first = Campaign(A(), {"e", "a", "", "one"});

  const auto second = Campaign(B(), {"e", "a", first.session().session_id(), "two"});

  EXPECT_EQ(second.elected().term(), first.elected().term());
  EXPECT_EQ(second.session().session_id(), first.session().session_id());
  EXPECT_EQ(Leader(A(), "e").leader().value(), "two");
}

TEST_P(ScenarioTest, TheSameSessionWaitsTwiceAndKeepsItsPlace) {
  Campaign(A(), {"e", "leader"});
  const auto waiter = Campaign(A(), {"e", "waiter"});
  Campaign(A(), {"e", "behind"});

  const auto again = Campaign(B(), {"e", "waiter", waiter.session().session_id()});

  EXPECT_EQ(again.standing().position(), 1u);
}

// 5
TEST_P(ScenarioTest, SimilarNamesAreDifferentElections) {
  const std::vector<std::string> names = {"test", "testa", "test/", "TEST", "test ", "%"};
  for (size_t i = 0; i < names.size(); ++i) {
    const auto leader = Campaign(i % 2 ? A() : B(), {names[i], "leader of " + names[i]});
    EXPECT_EQ(leader.elected().term(), 1u) << names[i];
  }

  for (const std::string& name : names) {
    EXPECT_EQ(Leader(A(), name).leader().candidate(), "leader of " + name);
  }
  Observer observer(A(), Election("test"));
  observer.WaitUntilOpen();
  const auto other = Campaign(B(), {"testa", "other"});
  Campaign(B(), {"TEST", "other", other.session().session_id()});
  EXPECT_THAT(observer.Events(), IsEmpty());
  EXPECT_THAT(observer.Messages(), SizeIs(1));
}

// 6
TEST_P(ScenarioTest, ARestartedProcessKeepsItsSeatWithItsSession) {
  const auto before = Campaign(A(), {"e", "a"});
  const auto waiter = Campaign(A(), {"e", "b"});
  WaitingCampaign waiting(A(), {"e", "b", waiter.session().session_id()});

  const auto after = Campaign(B(), {"e", "a", before.session().session_id()});

  EXPECT_EQ(after.elected().term(), before.elected().term());
  EXPECT_FALSE(waiting.Done());
}

// 8
TEST_P(ScenarioTest, AWaiterWhoseSessionEndsGetsAnErrorAndNeverWins) {
  const auto leader = Campaign(A(), {"e", "leader"});
  const auto waiter = Campaign(A(), {"e", "waiter", "", "", 0ms, 3s});
  const std::string session = waiter.session().session_id();
  WaitingCampaign waiting(A(), {"e", "waiter", session});

  EXPECT_EQ(Resign(B(), session).outcome(), v1::ResignResponse::OUTCOME_SESSION_ENDED);

  EXPECT_EQ(ReasonOf(waiting.Status()), "SESSION_ENDED");
  EXPECT_EQ(waiting.Status().error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  Resign(A(), leader.session().session_id());
  EXPECT_FALSE(Leader(B(), "e").has_leader());
  EXPECT_EQ(Leader(B(), "e").term(), 1u);
}

TEST_P(ScenarioTest, AWaiterWhoseCandidacyWasWithdrawnElsewhereGetsAnError) {
  Campaign(A(), {"e", "leader"});
  const auto waiter = Campaign(A(), {"e", "waiter", "", "", 0ms, 3s});
  const std::string session = waiter.session().session_id();
  WaitingCampaign waiting(A(), {"e", "waiter", session, "waits now"});
  ASSERT_TRUE(Eventually([&] { return Describe(B(), "e").queue(0).value() == "waits now"; }));

  EXPECT_EQ(Resign(B(), session, "e").outcome(), v1::ResignResponse::OUTCOME_WITHDRAWN);

  EXPECT_EQ(ReasonOf(waiting.Status()), "CANDIDACY_WITHDRAWN");
}

// 9
TEST_P(ScenarioTest, ACancelledWaiterIsGoneAndTheOthersMoveUp) {
  const auto leader = Campaign(A(), {"e", "leader"});
  WaitingCampaign cancelled(A(), {"e", "first"});
  std::string second;
  const auto second_stands_behind_first = [&] {
    const auto answer = Campaign(B(), {"e", "second", second});
    second = answer.session().session_id();
    if (answer.standing().position() == 2) return true;
    Resign(B(), second, "e");
    return false;
  };
  ASSERT_TRUE(Eventually(second_stands_behind_first));

  cancelled.Cancel();

  EXPECT_EQ(cancelled.Status().error_code(), grpc::StatusCode::CANCELLED);
  EXPECT_TRUE(Eventually([&] {
    return Campaign(B(), {"e", "second", second}).standing().position() == 1;
  }));
  Resign(A(), leader.session().session_id());
  EXPECT_EQ(Leader(B(), "e").leader().candidate(), "second");
}

// 10
TEST_P(ScenarioTest, TheThirdCandidateIsNotElectedWhenTheMiddleOneLeaves) {
  const auto first = Campaign(A(), {"e", "first"});
  const auto second = Campaign(B(), {"e", "second"});
  const auto third = Campaign(A(), {"e", "third"});
  WaitingCampaign waiting(B(), {"e", "third", third.session().session_id()});

  Resign(A(), second.session().session_id());

  EXPECT_EQ(Leader(B(), "e").leader().candidate(), "first");
  EXPECT_EQ(Leader(B(), "e").term(), 1u);
  EXPECT_EQ(Campaign(A(), {"e", "third", third.session().session_id()}).standing().position(), 1u);
  EXPECT_FALSE(waiting.Done());
  Resign(B(), first.session().session_id());
  EXPECT_EQ(waiting.Response().elected().term(), 2u);
}

// 11
TEST_P(ScenarioTest, ASessionOpenedOnOneReplicaIsKnownToTheOtherAtOnce) {
  for (int i = 0; i < 1000; ++i) {
    const auto opened = Campaign(A(), {"e", "c" + std::to_string(i)});
    const auto renewal = Renew(B(), opened.session().session_id());
    ASSERT_TRUE(renewal.has_lease_ttl()) << renewal.ShortDebugString();
    Resign(B(), opened.session().session_id());
  }
}

// 14
TEST_P(ScenarioTest, TwentyCandidatesEachLeadOnceInTheOrderOfTheQueue) {
  constexpr int kCandidates = 20;
  Observer observer(A(), Election("e", 1));
  std::vector<std::string> sessions;
  std::vector<std::string> expected;
  for (int i = 0; i < kCandidates; ++i) {
    const std::string name = "c" + std::to_string(i);
    sessions.push_back(Campaign(i % 2 ? A() : B(), {"e", name}).session().session_id());
    expected.push_back("ELECTED " + name + " " + std::to_string(i + 1));
    expected.push_back("VACATED " + name + " " + std::to_string(i + 1) + " RESIGNED");
  }
  std::vector<std::unique_ptr<WaitingCampaign>> waiting;
  for (int i = 0; i < kCandidates; ++i) {
    waiting.push_back(std::make_unique<WaitingCampaign>(
        i % 3 ? A() : B(), CampaignArguments{"e", "", sessions[static_cast<size_t>(i)]}));
  }

  for (size_t i = 0; i < kCandidates; ++i) {
    EXPECT_EQ(waiting[i]->Response().elected().term(), i + 1);
    EXPECT_EQ(Leader(i % 2 ? A() : B(), "e").leader().term(), i + 1);
    Resign(i % 2 ? B() : A(), sessions[i], "e");
  }

  EXPECT_EQ(Texts(observer.WaitForEvents(2 * kCandidates)), expected);
}

// 19
TEST_P(ScenarioTest, ATryReturnsAtOnceForAHeldSeatAndWinsAnExpiredOne) {
  Campaign(A(), {"e", "brief", "", "", 0ms, 1s});
  const auto tried = Campaign(B(), {"e", "other"});
  ASSERT_TRUE(tried.has_standing());
  Resign(B(), tried.session().session_id());

  ASSERT_TRUE(Eventually([&] { return !Leader(A(), "e").has_leader(); }));

  EXPECT_EQ(Campaign(B(), {"e", "next"}).elected().term(), 2u);
}

TEST_P(ScenarioTest, TheSeatOfAnExpiredLeaderPassesToTheWaiterWithAHigherTerm) {
  Observer observer(B(), Election("e", 1));
  Campaign(A(), {"e", "brief", "", "", 0ms, 1s});
  WaitingCampaign waiting(B(), {"e", "next"});

  EXPECT_EQ(waiting.Response().elected().term(), 2u);

  EXPECT_THAT(Texts(observer.WaitForEvents(3)),
              ElementsAre("ELECTED brief 1", "VACATED brief 1 EXPIRED", "ELECTED next 2"));
}

TEST_P(ScenarioTest, AHigherPriorityIsElectedFirst) {
  const auto leader = Campaign(A(), {"e", "leader"});
  Campaign(A(), {"e", "ordinary"});
  Campaign(B(), {"e", "urgent", "", "", 0ms, 30s, 5});

  Resign(B(), leader.session().session_id());

  EXPECT_EQ(Leader(A(), "e").leader().candidate(), "urgent");
}

// One stream serves a client for as long as it lives, however many sessions it has had meanwhile.
TEST_P(ScenarioTest, EndedSessionsTakeNoRoomOnAKeepAliveStream) {
  constexpr int kRoom = 100'000;
  constexpr int kAtOnce = 500;
  grpc::ClientContext context;
  const auto stream = A().stub().KeepAlive(&context);
  v1::KeepAliveResponse response;
  for (int gone = 0; gone <= kRoom; gone += kAtOnce) {
    v1::KeepAliveRequest request;
    for (int i = 0; i < kAtOnce; ++i) {
      const std::string number = std::to_string(gone + i);
      request.add_session_ids(std::string(32 - number.size(), '0') + number);
    }
    ASSERT_TRUE(stream->Write(request));
    ASSERT_TRUE(stream->Read(&response)) << ReasonOf(stream->Finish());
  }

  EXPECT_TRUE(response.renewal().sessions(0).not_found());
  context.TryCancel();
}

TEST_P(ScenarioTest, AKeepAliveStreamReportsSeatsWonAndLostOnAnotherReplica) {
  const auto leader = Campaign(A(), {"e", "leader"});
  const auto waiter = Campaign(A(), {"e", "waiter"});
  grpc::ClientContext context;
  const auto stream = B().stub().KeepAlive(&context);
  v1::KeepAliveRequest request;
  request.set_sequence(7);
  request.add_session_ids(leader.session().session_id());
  request.add_session_ids(waiter.session().session_id());
  stream->Write(request);
  v1::KeepAliveResponse response;
  do {  // a notice of how the leader was elected may come first
    ASSERT_TRUE(stream->Read(&response)) << ReasonOf(stream->Finish());
  } while (!response.has_renewal());
  ASSERT_EQ(response.renewal().sequence(), 7u);
  ASSERT_THAT(response.renewal().sessions(0).seats(), SizeIs(1));
  EXPECT_EQ(response.renewal().sessions(0).seats(0).term(), 1u);
  EXPECT_THAT(response.renewal().sessions(1).seats(), IsEmpty());

  Resign(A(), leader.session().session_id(), "e");

  do {  // what the renewal has listed may be reported again
    ASSERT_TRUE(stream->Read(&response)) << ReasonOf(stream->Finish());
  } while (response.notice().elected().term() == 1);
  EXPECT_EQ(response.notice().lost().term(), 1u);
  EXPECT_EQ(response.notice().lost().cause(), v1::CAUSE_RESIGNED);
  ASSERT_TRUE(stream->Read(&response)) << ReasonOf(stream->Finish());
  EXPECT_EQ(response.notice().session_id(), waiter.session().session_id());
  EXPECT_EQ(response.notice().elected().term(), 2u);
  context.TryCancel();
}

TEST_P(ScenarioTest, AnObserverOfAPrefixSeesLaterElections) {
  Campaign(A(), {"jobs/a", "x"});
  Campaign(A(), {"job", "x"});
  Observer observer(B(), Prefix("jobs/"));
  observer.WaitUntilOpen();
  ASSERT_THAT(observer.Messages(), SizeIs(1));

  Campaign(A(), {"jobs/b", "y"});
  Campaign(B(), {"jobs/c", "z"});

  EXPECT_THAT(observer.WaitForEvents(2), SizeIs(2));
}

TEST_P(ScenarioTest, AnObserverResumesWhereItLeftOff) {
  const auto leader = Campaign(A(), {"e", "a", "", "0"});
  for (int i = 1; i < 600; ++i) {
    Proclaim(A(), leader.session().session_id(), "e", 1, std::to_string(i));
  }

  Observer observer(B(), Election("e", 100));

  const auto events = observer.WaitForEvents(501);
  ASSERT_THAT(events, SizeIs(501));
  for (size_t i = 0; i < events.size(); ++i) EXPECT_EQ(events[i].revision(), 100 + i);
}

TEST_P(ScenarioTest, AnObserverFromAnUnknownRevisionIsResynchronised) {
  Campaign(A(), {"e", "a"});

  Observer observer(A(), Election("e", 50));
  observer.WaitUntilOpen();

  ASSERT_THAT(observer.Messages(), SizeIs(1));
  EXPECT_EQ(observer.Messages()[0].snapshot().reason(), v1::Snapshot::REASON_RESYNC);
  EXPECT_EQ(observer.Messages()[0].snapshot().revision(), 1u);
}

}  // namespace
}  // namespace tenure::testing
