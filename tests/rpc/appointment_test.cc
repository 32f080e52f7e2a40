// The calls by which an operator decides who leads next: handovers, appointments by force, reserved
// seats, depositions and cool-downs.
#include "tests/rpc/admin_fixture.h"

namespace tenure::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using Outcome = v1::AppointResponse;

class AppointmentTest : public AdminTest {};

INSTANTIATE_TEST_SUITE_P(Stores, AppointmentTest,
                         ::testing::Values(StoreKind::kSqlite, StoreKind::kMariaDb), StoreKindName);

TEST_P(AppointmentTest, TheLeaderIsAskedOnItsStreamAndTheAppointedGoesFirst) {
  Observer observer(A(), Election("e", 1));
  const auto leader = Stand(A(), {"e", "leader"});
  Stand(A(), {"e", "urgent", "", "", 0ms, 30s, 9});
  const auto chosen = Stand(A(), {"e", "chosen"});
  WaitingCampaign waiting(B(), {"e", "", IdOf(chosen)});
  KeepAliveStream stream(B(), {IdOf(leader)});
  EXPECT_THAT(stream.WaitForRenewal().sessions(0).seats(0).successor(), IsEmpty());

  const auto appointed = Appoint(A(), {"e", 1, "chosen"});

  EXPECT_EQ(appointed.outcome(), Outcome::OUTCOME_HANDOVER_ASKED);
  EXPECT_EQ(appointed.election().appointment().candidate(), "chosen");
  EXPECT_FALSE(appointed.election().appointment().has_reserved_until());
  const auto step_down = stream.WaitForStepDown("e");
  EXPECT_EQ(step_down.term(), 1u);
  EXPECT_EQ(step_down.successor(), "chosen");
  KeepAliveStream fresh(B(), {IdOf(leader)});
  EXPECT_EQ(fresh.WaitForRenewal().sessions(0).seats(0).successor(), "chosen");
  EXPECT_EQ(Leader(B(), "e").leader().candidate(), "leader");
  EXPECT_EQ(Leader(B(), "e").leader().successor(), "chosen");
  EXPECT_EQ(observer.WaitForEvents(2)[1].leadership().successor(), "chosen");

  Resign(B(), IdOf(leader), "e");

  EXPECT_EQ(waiting.Response().elected().term(), 2u);
  EXPECT_THAT(Texts(observer.WaitForEvents(4)),
              ElementsAre("ELECTED leader 1", "HANDOVER_ASKED leader 1",
                          "VACATED leader 1 RESIGNED", "ELECTED chosen 2"));
  EXPECT_FALSE(Describe(A(), "e").election().has_appointment());
  EXPECT_THAT(Leader(B(), "e").leader().successor(), IsEmpty());
}

TEST_P(AppointmentTest, AHandoverAlsoHappensWhenTheLeaderExpires) {
  Stand(A(), {"e", "leader", "", "", 0ms, 2s});
  Stand(A(), {"e", "first"});
  Stand(B(), {"e", "chosen"});

  Appoint(B(), {"e", 1, "chosen"});

  EXPECT_TRUE(Eventually([&] { return Leader(A(), "e").leader().candidate() == "chosen"; }));
  EXPECT_EQ(Leader(B(), "e").term(), 2u);
}

TEST_P(AppointmentTest, ForceEndsTheTermNow) {
  const auto leader = Stand(A(), {"e", "leader"});
  Stand(A(), {"e", "first"});
  Stand(A(), {"e", "reserve", "", "", 0ms, 30s, -5});
  KeepAliveStream stream(B(), {IdOf(leader)});
  stream.WaitForRenewal();

  const auto appointed = Appoint(A(), {"e", 1, "reserve", true});

  EXPECT_EQ(appointed.outcome(), Outcome::OUTCOME_LEADS);
  EXPECT_EQ(appointed.election().leader().candidate(), "reserve");
  EXPECT_EQ(appointed.election().leader().term(), 2u);
  const auto lost = stream.WaitForLoss("e");
  EXPECT_EQ(lost.term(), 1u);
  EXPECT_EQ(lost.cause(), v1::CAUSE_APPOINTED_AWAY);
  EXPECT_TRUE(Renew(B(), IdOf(leader)).has_lease_ttl());
}

TEST_P(AppointmentTest, AppointingTwiceIsRecordedOnceAndAsksOnce) {
  Stand(A(), {"e", "leader"});
  Stand(A(), {"e", "chosen"});

  EXPECT_EQ(Appoint(A(), {"e", 1, "chosen"}).outcome(), Outcome::OUTCOME_HANDOVER_ASKED);
  EXPECT_EQ(Appoint(B(), {"e", 1, "chosen"}).outcome(), Outcome::OUTCOME_HANDOVER_ASKED);
  EXPECT_EQ(Appoint(A(), {"e", 1, "chosen", true}).outcome(), Outcome::OUTCOME_LEADS);
  EXPECT_EQ(Appoint(B(), {"e", 1, "chosen", true}).outcome(), Outcome::OUTCOME_LEADS);
  EXPECT_EQ(Appoint(B(), {"e", 1, "chosen"}).outcome(), Outcome::OUTCOME_LEADS);

  EXPECT_EQ(Leader(B(), "e").term(), 2u);
  EXPECT_THAT(Texts(ListChanges(B(), "e")),
              ElementsAre("APPOINTED e 1 'chosen', by force", "APPOINTED e 1 'chosen'"));
  EXPECT_THAT(EventsOf(A(), "e"),
              ElementsAre("ELECTED leader 1", "HANDOVER_ASKED leader 1",
                          "VACATED leader 1 APPOINTED_AWAY", "ELECTED chosen 2"));
}

TEST_P(AppointmentTest, AppointingTheLeaderCancelsTheHandover) {
  const auto leader = Stand(A(), {"e", "leader"});
  Stand(A(), {"e", "first"});
  Stand(A(), {"e", "chosen"});
  Appoint(A(), {"e", 1, "chosen"});

  EXPECT_EQ(Appoint(B(), {"e", 1, "leader"}).outcome(), Outcome::OUTCOME_LEADS);

  EXPECT_THAT(Leader(B(), "e").leader().successor(), IsEmpty());
  Resign(A(), IdOf(leader));
  EXPECT_EQ(Leader(B(), "e").leader().candidate(), "first");
}

TEST_P(AppointmentTest, ASeatIsReservedForACandidateThatComesInTime) {
  const auto leader = Stand(A(), {"e", "leader"});
  const auto waiter = Stand(A(), {"e", "waiter"});

  const auto appointed =
      Appoint(A(), {.election = "e", .term = 1, .candidate = "chosen", .reserve_for = 1h});
  EXPECT_EQ(appointed.outcome(), Outcome::OUTCOME_HANDOVER_ASKED);
  EXPECT_TRUE(appointed.election().appointment().has_reserved_until());
  Resign(B(), IdOf(leader));
  EXPECT_FALSE(Leader(B(), "e").has_leader());
  EXPECT_TRUE(Campaign(B(), {"e", "", IdOf(waiter)}).has_standing());
  EXPECT_TRUE(Campaign(A(), {"e", "another"}).has_standing());

  EXPECT_EQ(Stand(B(), {"e", "chosen"}).elected().term(), 2u);

  EXPECT_FALSE(Describe(A(), "e").election().has_appointment());
}

TEST_P(AppointmentTest, AfterItsReservationASeatPassesToTheQueue) {
  const auto leader = Stand(A(), {"e", "leader"});
  const auto waiter = Stand(A(), {"e", "waiter"});
  Resign(A(), IdOf(leader));
  Resign(A(), IdOf(waiter), "e");
  ASSERT_EQ(Leader(B(), "e").term(), 2u);

  const auto appointed =
      Appoint(A(), {.election = "e", .term = 2, .candidate = "chosen", .reserve_for = 2s});
  EXPECT_EQ(appointed.outcome(), Outcome::OUTCOME_RESERVED);
  WaitingCampaign waiting(B(), {"e", "", IdOf(waiter)});

  EXPECT_EQ(waiting.Response().elected().term(), 3u);
  EXPECT_FALSE(Describe(A(), "e").election().has_appointment());
}

TEST_P(AppointmentTest, ACandidateThatIsNotStandingIsNotAppointed) {
  Stand(A(), {"e", "leader"});
  const auto gone = Stand(A(), {"e", "gone"});
  Resign(A(), IdOf(gone), "e");

  const auto status =
      TryCall(B(), &AdminStub::Appoint, ToRequest(AppointArguments{"e", 1, "gone"}));

  EXPECT_EQ(ReasonOf(status), "CANDIDATE_NOT_STANDING");
  EXPECT_EQ(status.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_THAT(ListChanges(A()), IsEmpty());
  EXPECT_EQ(Leader(A(), "e").revision(), 1u);
}

TEST_P(AppointmentTest, AStaleTermChangesNothing) {
  const auto first = Stand(A(), {"e", "first"});
  Stand(A(), {"e", "second"});
  Stand(A(), {"e", "third"});
  Resign(A(), IdOf(first), "e");

  for (const uint64_t term : {0, 1, 3}) {
    const auto appointed = TryCall(B(), &AdminStub::Appoint,
                                   ToRequest(AppointArguments{"e", term, "third", term == 1}));
    EXPECT_EQ(ReasonOf(appointed), "STALE_TERM");
    EXPECT_EQ(InfoOf(appointed).metadata().at("current_term"), "2");
  }
  const auto never_granted = TryCall(B(), &AdminStub::Depose, ToRequest(DeposeArguments{"e", 3}));
  EXPECT_EQ(ReasonOf(never_granted), "STALE_TERM");
  EXPECT_FALSE(Depose(B(), {"e", 1}).deposed());

  EXPECT_EQ(Leader(A(), "e").leader().candidate(), "second");
  EXPECT_THAT(ListChanges(A()), IsEmpty());
}

TEST_P(AppointmentTest, APausedElectionRefusesForceButHandsOverWhenResumed) {
  const auto leader = Stand(A(), {"e", "leader"});
  Stand(A(), {"e", "first"});
  Stand(A(), {"e", "chosen"});
  Pause(A(), "e");

  const auto forced =
      TryCall(B(), &AdminStub::Appoint, ToRequest(AppointArguments{"e", 1, "chosen", true}));
  EXPECT_EQ(ReasonOf(forced), "ELECTION_PAUSED");
  EXPECT_EQ(Appoint(B(), {"e", 1, "chosen"}).outcome(), Outcome::OUTCOME_HANDOVER_ASKED);
  Resign(A(), IdOf(leader));
  EXPECT_FALSE(Leader(A(), "e").has_leader());

  EXPECT_EQ(Resume(B(), "e").leader().candidate(), "chosen");
}

TEST_P(AppointmentTest, ADeposedLeaderMakesWayOnceAndKeepsItsSession) {
  const auto leader = Stand(A(), {"e", "leader"});
  Stand(A(), {"e", "next"});
  KeepAliveStream stream(B(), {IdOf(leader)});
  stream.WaitForRenewal();

  const auto deposed = Depose(A(), {"e", 1});

  EXPECT_TRUE(deposed.deposed());
  EXPECT_EQ(deposed.election().leader().candidate(), "next");
  EXPECT_EQ(stream.WaitForLoss("e").cause(), v1::CAUSE_DEPOSED);
  EXPECT_TRUE(Renew(B(), IdOf(leader)).has_lease_ttl());
  EXPECT_FALSE(Depose(B(), {"e", 1}).deposed());
  EXPECT_EQ(Leader(B(), "e").leader().candidate(), "next");
  EXPECT_TRUE(Campaign(B(), {"e", "", IdOf(leader)}).has_standing());
  EXPECT_THAT(ListChanges(A()), SizeIs(1));
}

TEST_P(AppointmentTest, ACandidateThatCoolsDownIsPassedOverUntilTheEnd) {
  const auto leader = Stand(A(), {"e", "leader"});
  Depose(B(), {"e", 1, 3s});

  const auto again = Stand(A(), {"e", "", IdOf(leader)});
  const auto other_session = Stand(B(), {"e", "leader"});
  const auto behind = Stand(B(), {"e", "behind"});

  EXPECT_TRUE(again.has_standing());
  EXPECT_TRUE(other_session.has_standing());
  EXPECT_EQ(behind.elected().term(), 2u);
  const auto queue = ListQueue(A(), "e");
  ASSERT_THAT(queue, SizeIs(2));
  EXPECT_TRUE(queue[0].has_cools_down_until());
  EXPECT_TRUE(Stand(A(), {"f", "leader"}).has_elected());
  Resign(A(), IdOf(behind));
  EXPECT_TRUE(Eventually([&] { return Leader(B(), "e").leader().term() == 3; }));
  EXPECT_EQ(Leader(A(), "e").leader().candidate(), "leader");
}

TEST_P(AppointmentTest, AnElectionKeepsOutAHundredCandidates) {
  constexpr int kMax = 100;
  for (int i = 0; i < kMax; ++i) {
    const auto leader = Stand(A(), {"e", "c" + std::to_string(i)});
    Depose(B(), {"e", leader.elected().term(), 1h});
    Resign(A(), IdOf(leader));
  }
  Stand(A(), {"e", "one too many"});

  const auto refused =
      TryCall(B(), &AdminStub::Depose, ToRequest(DeposeArguments{"e", kMax + 1, 1h}));

  EXPECT_EQ(ReasonOf(refused), "TOO_MANY_COOL_DOWNS");
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(InfoOf(refused).metadata().at("limit"), "100");
  EXPECT_EQ(Leader(A(), "e").leader().candidate(), "one too many");
  EXPECT_TRUE(Depose(B(), {"e", kMax + 1}).deposed());
}

}  // namespace
}  // namespace tenure::testing
