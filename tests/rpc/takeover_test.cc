// A process that restarts, one that lost its lease while it lived, and candidates in reserve.
#include "tests/rpc/admin_fixture.h"

namespace tenure::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

int64_t Milliseconds(const google::protobuf::Duration& duration) {
  return google::protobuf::util::TimeUtil::DurationToMilliseconds(duration);
}

class TakeoverTest : public AdminTest {
 protected:
  static CampaignArguments Superseding(const std::string& election, const std::string& candidate) {
    return {.election = election, .candidate = candidate, .supersede = true};
  }

  // How many leases were lost by live holders, as all replicas counted.
  int PrematureExpirations() {
    int count = 0;
    const std::string name = "\ntenure_premature_expirations_total ";
    for (const auto& server : servers_) {
      const std::string page = server->Get("/metrics").second;
      const size_t at = page.find(name);
      EXPECT_NE(at, std::string::npos);
      if (at != std::string::npos) count += std::stoi(page.substr(at + name.size()));
    }
    return count;
  }

  // A leader of "e" whose lease has expired.
  std::string ExpiredLeader(Tenured& server, std::chrono::milliseconds lease_ttl) {
    const auto leader = Stand(server, {"e", "a", "", "", 0ms, lease_ttl});
    EXPECT_TRUE(leader.has_elected());
    EXPECT_TRUE(Eventually([&] { return !Leader(server, "e").has_leader(); }));
    return IdOf(leader);
  }
};

INSTANTIATE_TEST_SUITE_P(Stores, TakeoverTest,
                         ::testing::Values(StoreKind::kSqlite, StoreKind::kMariaDb), StoreKindName);

TEST_P(TakeoverTest, ARestartedLeaderDoesNotWaitForItsOwnLease) {
  const auto before = Stand(A(), {"e", "host-7", "", "old"});
  Stand(A(), {"e", "waiter"});
  KeepAliveStream stream(A(), {IdOf(before)});
  stream.WaitForRenewal();

  const auto after = Stand(B(), Superseding("e", "host-7"));

  EXPECT_EQ(after.elected().term(), 2u);
  EXPECT_NE(IdOf(after), IdOf(before));
  const auto lost = stream.WaitForLoss("e");
  EXPECT_EQ(lost.term(), 1u);
  EXPECT_EQ(lost.cause(), v1::CAUSE_SUPERSEDED);
  EXPECT_EQ(Renew(A(), IdOf(before)).ended(), v1::CAUSE_SUPERSEDED);
  EXPECT_THAT(EventsOf(B(), "e"),
              ElementsAre("ELECTED host-7 1", "VACATED host-7 1 SUPERSEDED", "ELECTED host-7 2"));
}

TEST_P(TakeoverTest, AnOlderSessionLosesItsOtherSeatsToo) {
  const auto before = Stand(A(), {"e", "host-7"});
  Stand(A(), {"f", "host-7", IdOf(before)});
  const auto waiter = Stand(A(), {"f", "waiter"});
  WaitingCampaign waiting(A(), {"f", "", IdOf(waiter)});

  Stand(B(), Superseding("e", "host-7"));

  EXPECT_EQ(waiting.Response().elected().term(), 2u);
  EXPECT_EQ(Leader(B(), "e").leader().candidate(), "host-7");
}

TEST_P(TakeoverTest, ARestartedWaiterKeepsTheBestOfItsPlaces) {
  Stand(A(), {"e", "leader"});
  const auto before = Stand(A(), {"e", "host-7"});
  Stand(A(), {"e", "behind"});
  WaitingCampaign waiting(A(), {"e", "", IdOf(before)});

  const auto after = Stand(B(), Superseding("e", "host-7"));

  EXPECT_EQ(after.standing().position(), 1u);
  EXPECT_EQ(ReasonOf(waiting.Status()), "SESSION_ENDED");
  EXPECT_EQ(InfoOf(waiting.Status()).metadata().at("cause"), "SUPERSEDED");
  EXPECT_EQ(Describe(A(), "e").election().candidates(), 2u);
}

// --- after_term ---

TEST_P(TakeoverTest, AHolderThatWasCutOffKeepsItsSeatInTheNextTerm) {
  const auto before = Stand(A(), {"e", "host-7", "", "old"});
  Stand(A(), {"e", "waiter"});
  KeepAliveStream stream(A(), {IdOf(before)});
  stream.WaitForRenewal();
  const CampaignArguments next = {
      .election = "e", .session_id = IdOf(before), .value = "new", .after_term = 1};

  const auto after = Stand(B(), next);
  const auto repeated = Stand(A(), next);

  EXPECT_EQ(after.elected().term(), 2u);
  EXPECT_EQ(after.elected().value(), "new");
  EXPECT_EQ(repeated.elected().term(), 2u);
  EXPECT_EQ(IdOf(after), IdOf(before));
  const auto lost = stream.WaitForLoss("e");
  EXPECT_EQ(lost.term(), 1u);
  EXPECT_EQ(lost.cause(), v1::CAUSE_RESIGNED);
  EXPECT_THAT(EventsOf(B(), "e"),
              ElementsAre("ELECTED host-7 1", "VACATED host-7 1 RESIGNED", "ELECTED host-7 2"));
}

TEST_P(TakeoverTest, AHolderThatWasCutOffMakesWayForAnAppointedCandidate) {
  const auto before = Stand(A(), {"e", "host-7"});
  Stand(A(), {"e", "waiter"});
  Stand(A(), {"e", "host-8"});
  Appoint(A(), {"e", 1, "host-8"});
  const CampaignArguments next = {.election = "e", .session_id = IdOf(before), .after_term = 1};

  const auto after = Stand(B(), next);

  EXPECT_EQ(after.standing().position(), 2u);
  EXPECT_EQ(after.standing().leader().candidate(), "host-8");
}

TEST_P(TakeoverTest, OtherCandidatesAreNotSuperseded) {
  Stand(A(), {"e", "host-7"});

  EXPECT_TRUE(Stand(B(), Superseding("e", "host-8")).has_standing());

  EXPECT_EQ(Leader(A(), "e").leader().candidate(), "host-7");
}

TEST_P(TakeoverTest, ARepeatedSupersedingCallKeepsItsOwnSeat) {
  Stand(A(), {"e", "host-7"});
  CampaignArguments arguments = Superseding("e", "host-7");
  arguments.request_id = "sixteen bytes or";

  const auto first = Stand(A(), arguments);
  const auto repeated = Stand(B(), arguments);

  EXPECT_EQ(repeated.elected().term(), first.elected().term());
  EXPECT_EQ(IdOf(repeated), IdOf(first));
}

TEST_P(TakeoverTest, ALeaderOfAPausedElectionIsNotSuperseded) {
  Stand(A(), {"e", "host-7"});
  Pause(B(), "e");

  EXPECT_TRUE(Stand(B(), Superseding("e", "host-7")).has_standing());

  EXPECT_EQ(Leader(A(), "e").term(), 1u);
  EXPECT_TRUE(Leader(A(), "e").has_leader());
}

TEST_P(TakeoverTest, ANegativePriorityLeadsOnlyByAppointment) {
  const auto reserve = Stand(A(), {"e", "reserve", "", "", 0ms, 30s, -1});
  EXPECT_EQ(reserve.standing().position(), 1u);
  EXPECT_FALSE(Leader(B(), "e").has_leader());
  const auto leader = Stand(B(), {"e", "ordinary"});
  EXPECT_EQ(leader.elected().term(), 1u);
  Resign(A(), IdOf(leader));
  EXPECT_FALSE(Leader(B(), "e").has_leader());

  const auto appointed = Appoint(B(), {"e", 1, "reserve"});

  EXPECT_EQ(appointed.outcome(), v1::AppointResponse::OUTCOME_LEADS);
  EXPECT_EQ(Leader(A(), "e").leader().candidate(), "reserve");
}

TEST_P(TakeoverTest, ALiveCandidateThatExpiredGetsALongerLease) {
  const std::string lost = ExpiredLeader(A(), 1s);
  EXPECT_EQ(PrematureExpirations(), 0);
  CampaignArguments again{"e", "a", "", "", 0ms, 1s};
  again.previous_session_id = lost;

  const auto longer = Stand(B(), again);

  EXPECT_EQ(Milliseconds(longer.session().lease_ttl()), 2000);
  EXPECT_EQ(longer.session().heartbeat_interval().nanos(), 666'666'000);
  const auto renewal = Renew(A(), IdOf(longer));
  EXPECT_EQ(Milliseconds(renewal.lease_ttl()), 2000);
  EXPECT_EQ(renewal.heartbeat_interval().nanos(), 666'666'000);
  EXPECT_EQ(PrematureExpirations(), 1);
}

TEST_P(TakeoverTest, ALeaseGrowsUpToEightfoldWithinTheElectionsMaximum) {
  Update(A(), {.election = "e", .max_lease_ttl = 3s, .allow_missing = true});
  std::string lost = ExpiredLeader(A(), 1s);
  CampaignArguments again{"e", "a", "", "", 0ms, 1s};
  std::vector<int64_t> leases;
  for (int i = 0; i < 2; ++i) {
    again.previous_session_id = lost;
    const auto next = Stand(B(), again);
    leases.push_back(Milliseconds(next.session().lease_ttl()));
    lost = IdOf(next);
    EXPECT_TRUE(Eventually([&] { return !Leader(A(), "e").has_leader(); }));
  }

  EXPECT_THAT(leases, ElementsAre(2000, 3000));
}

TEST_P(TakeoverTest, AResignedOrForeignSessionDoesNotGrowALease) {
  const auto resigned = Stand(A(), {"e", "a", "", "", 0ms, 1s});
  Resign(A(), IdOf(resigned));
  CampaignArguments again{"e", "a", "", "", 0ms, 1s};
  again.previous_session_id = IdOf(resigned);
  const auto after_resigning = Stand(B(), again);
  EXPECT_EQ(Milliseconds(after_resigning.session().lease_ttl()), 1000);
  EXPECT_TRUE(Eventually([&] { return !Leader(A(), "e").has_leader(); }));

  again.candidate = "b";
  again.previous_session_id = IdOf(after_resigning);

  EXPECT_EQ(Milliseconds(Stand(B(), again).session().lease_ttl()), 1000);
  EXPECT_EQ(PrematureExpirations(), 0);
}

TEST(AdaptiveLeasesTest, AFlagTurnsThemOffButStillCounts) {
  Tenured server("sqlite::memory:", {"--no-adaptive-leases"});
  const auto first = Campaign(server, {"e", "a", "", "", 0ms, 1s});
  ASSERT_TRUE(Eventually([&] { return !Leader(server, "e").has_leader(); }));
  CampaignArguments again{"e", "a", "", "", 0ms, 1s};
  again.previous_session_id = first.session().session_id();

  const auto second = Campaign(server, again);

  EXPECT_EQ(Milliseconds(second.session().lease_ttl()), 1000);
  EXPECT_THAT(server.Get("/metrics").second, HasSubstr("\ntenure_premature_expirations_total 1"));
}

}  // namespace
}  // namespace tenure::testing
