// What operators see and set: every call as its comment in admin.proto promises, on two replicas.
// appointment_test.cc has the calls that decide who leads next.
#include "tests/rpc/admin_fixture.h"

namespace tenure::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Gt;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Le;
using ::testing::Not;
using ::testing::Property;
using ::testing::SizeIs;
using ::testing::StartsWith;

class AdministrationTest : public AdminTest {
 protected:
  static std::vector<std::string> NamesOf(const std::vector<v1::Election>& elections) {
    std::vector<std::string> names;
    for (const auto& election : elections) names.push_back(election.name());
    return names;
  }

  static std::vector<std::string> PlacesOf(const std::vector<v1::Candidate>& queue) {
    std::vector<std::string> places;
    for (const auto& candidate : queue) {
      places.push_back(std::to_string(candidate.position()) + " " + candidate.candidate());
    }
    return places;
  }

  static int64_t Milliseconds(const google::protobuf::Duration& duration) {
    return google::protobuf::util::TimeUtil::DurationToMilliseconds(duration);
  }
};

INSTANTIATE_TEST_SUITE_P(Stores, AdministrationTest,
                         ::testing::Values(StoreKind::kSqlite, StoreKind::kMariaDb), StoreKindName);

TEST_P(AdministrationTest, ElectionsAreListedByNameWithPrefixAndPages) {
  for (const std::string name : {"job/b", "job/a", "job", "jobs", "Job", "z%", "job/c"}) {
    Stand(A(), {name, "leader"});
  }
  Stand(A(), {"job/a", "waiter"});

  EXPECT_THAT(NamesOf(ListElections(B())),
              ElementsAre("Job", "job", "job/a", "job/b", "job/c", "jobs", "z%"));
  EXPECT_EQ(NamesOf(ListElections(B(), "", 2)), NamesOf(ListElections(A())));
  EXPECT_THAT(NamesOf(ListElections(B(), "job/")), ElementsAre("job/a", "job/b", "job/c"));
  EXPECT_THAT(NamesOf(ListElections(B(), "job/", 1)), ElementsAre("job/a", "job/b", "job/c"));
  EXPECT_THAT(ListElections(B(), "%"), IsEmpty());
  const auto elections = ListElections(B(), "job/a");
  ASSERT_THAT(elections, SizeIs(1));
  EXPECT_EQ(elections[0].leader().candidate(), "leader");
  EXPECT_EQ(elections[0].candidates(), 1u);
  EXPECT_EQ(elections[0].term(), 1u);
  EXPECT_EQ(elections[0].revision(), 1u);
}

TEST_P(AdministrationTest, DeletedElectionsAreNotListed) {
  for (const std::string name : {"a", "b", "c"}) Stand(A(), {name, "leader"});

  EXPECT_TRUE(Delete(B(), "b", 1).deleted());

  EXPECT_THAT(NamesOf(ListElections(A())), ElementsAre("a", "c"));
  EXPECT_THAT(NamesOf(ListElections(A(), "", 1)), ElementsAre("a", "c"));
  v1::DescribeElectionRequest request;
  request.set_election("b");
  EXPECT_EQ(ReasonOf(TryCall(B(), &AdminStub::DescribeElection, request)), "ELECTION_NOT_FOUND");
}

TEST_P(AdministrationTest, AnElectionIsDescribedWithItsQueueInOrder) {
  Stand(A(), {"e", "leader", "", "value", 0ms, 20s});
  const auto first = Stand(B(), {"e", "first", "", "of first"});
  Stand(A(), {"e", "reserve", "", "", 0ms, 30s, -1});
  Stand(A(), {"e", "second"});
  Stand(A(), {"e", "urgent", "", "", 0ms, 30s, 7});

  const auto description = Describe(B(), "e");

  EXPECT_EQ(description.election().leader().candidate(), "leader");
  EXPECT_EQ(description.election().leader().value(), "value");
  EXPECT_THAT(Milliseconds(description.election().lease_left()), AllOf(Gt(0), Le(20'000)));
  EXPECT_EQ(description.election().candidates(), 4u);
  EXPECT_TRUE(description.election().has_settings());
  EXPECT_FALSE(description.election().paused());
  EXPECT_FALSE(description.election().has_vacant_until());
  EXPECT_FALSE(description.election().has_appointment());
  const std::vector<v1::Candidate> queue(description.queue().begin(), description.queue().end());
  EXPECT_THAT(PlacesOf(queue), ElementsAre("1 urgent", "2 first", "3 second", "4 reserve"));
  EXPECT_EQ(queue[0].priority(), 7);
  EXPECT_EQ(queue[1].value(), "of first");
  EXPECT_EQ(queue[1].session_handle(), HandleOf(first));
  EXPECT_EQ(queue[3].priority(), -1);
  EXPECT_THAT(Milliseconds(queue[3].lease_left()), AllOf(Gt(0), Le(30'000)));
  EXPECT_EQ(PlacesOf(ListQueue(A(), "e", 1)), PlacesOf(queue));
  EXPECT_EQ(PlacesOf(ListQueue(A(), "e", 3)), PlacesOf(queue));
}

TEST_P(AdministrationTest, TermsAreListedLatestFirst) {
  for (int term = 1; term < 5; ++term) {
    const auto leader = Stand(term % 2 ? A() : B(), {"e", "c" + std::to_string(term)});
    if (term % 2) {
      Resign(B(), IdOf(leader), "e");
    } else {
      Resign(A(), IdOf(leader));
    }
  }
  Stand(A(), {"e", "last"});

  const std::vector<std::string> expected = {"5 last", "4 c4 SESSION_CLOSED", "3 c3 RESIGNED",
                                             "2 c2 SESSION_CLOSED", "1 c1 RESIGNED"};
  const auto terms = ListTerms(B(), "e");
  EXPECT_EQ(Texts(terms), expected);
  EXPECT_EQ(Texts(ListTerms(A(), "e", 2)), expected);
  for (const auto& term : terms) EXPECT_TRUE(term.has_start_time());
  EXPECT_THAT(ListTerms(A(), "nowhere"), IsEmpty());
}

TEST_P(AdministrationTest, ChangesAreListedWithWhoMadeThemAndWhy) {
  const auto leader = Stand(A(), {"e", "a"});
  Stand(A(), {"other", "a", IdOf(leader)});
  Pause(A(), "e", "the night");
  Pause(B(), "other");
  Resume(B(), "e", "the morning");
  Depose(A(), {"e", 1, 1h, "too slow"});
  Update(B(), {.election = "e", .lock_delay = 2s, .max_candidates = 9});
  EndSession(A(), HandleOf(leader), "gone");
  Delete(A(), "e", 1, "done");

  const std::string ended = "SESSION_ENDED  0 session " + HandleOf(leader) + " of 'a': gone";
  const std::vector<std::string> of_election = {
      "DELETED e 1: done", "CONFIGURED e 1 lock_delay 2s, queue_max 9",
      "DEPOSED e 1 'a', kept out for 1h: too slow", "RESUMED e 1: the morning",
      "PAUSED e 1: the night"};
  EXPECT_EQ(Texts(ListChanges(B(), "e")), of_election);
  EXPECT_EQ(Texts(ListChanges(A(), "e", 2)), of_election);
  const auto all = ListChanges(B());
  ASSERT_THAT(all, SizeIs(7));
  EXPECT_EQ(Texts(ListChanges(A(), "", 3)), Texts(all));
  EXPECT_EQ(Text(all[1]), ended);
  EXPECT_EQ(Text(all[5]), "PAUSED other 1");
  for (const auto& change : all) {
    EXPECT_THAT(change.identity(), StartsWith("ipv4:127.0.0.1:"));
    EXPECT_TRUE(change.has_time());
  }
}

TEST_P(AdministrationTest, LiveSessionsAreListedWithTheirElections) {
  const auto one = Stand(A(), {"e", "worker-1", "", "", 0ms, 20s});
  const auto two = Stand(B(), {"e", "worker-2"});
  Stand(A(), {"f", "worker-2", IdOf(two)});
  Stand(A(), {"g", "worker-2", IdOf(two)});
  const auto gone = Stand(A(), {"e", "worker-3"});
  Stand(A(), {"e", "other"});
  Resign(A(), IdOf(gone));

  const auto sessions = ListSessions(B(), "worker-");

  ASSERT_THAT(sessions, SizeIs(2));
  EXPECT_LT(sessions[0].handle(), sessions[1].handle());
  const auto& first = sessions[0].candidate() == "worker-1" ? sessions[0] : sessions[1];
  const auto& second = sessions[0].candidate() == "worker-1" ? sessions[1] : sessions[0];
  EXPECT_EQ(first.handle(), HandleOf(one));
  EXPECT_EQ(Milliseconds(first.lease_ttl()), 20'000);
  EXPECT_THAT(Milliseconds(first.lease_left()), AllOf(Gt(0), Le(20'000)));
  EXPECT_TRUE(first.has_open_time());
  EXPECT_THAT(first.leads(), ElementsAre("e"));
  EXPECT_THAT(first.waits(), IsEmpty());
  EXPECT_THAT(second.leads(), ElementsAre("f", "g"));
  EXPECT_THAT(second.waits(), ElementsAre("e"));
  EXPECT_THAT(ListSessions(A()), SizeIs(3));
  EXPECT_THAT(ListSessions(A(), "", 1), SizeIs(3));
}

TEST_P(AdministrationTest, NoResponseHoldsASecret) {
  const auto leader = Stand(A(), {"e", "leader"});
  const auto waiter = Stand(B(), {"e", "waiter"});
  std::string told;
  const auto tell = [&](const auto& answer) { told += answer.SerializeAsString(); };

  v1::ListSessionsRequest one_session;
  one_session.set_page_size(1);
  tell(Ask(A(), &AdminStub::ListSessions, one_session));
  tell(Ask(A(), &AdminStub::ListElections, {}));
  tell(Describe(A(), "e"));
  tell(Ask(A(), &AdminStub::ListTerms, [] {
    v1::ListTermsRequest request;
    request.set_election("e");
    return request;
  }()));
  tell(Pause(A(), "e"));
  tell(Resume(A(), "e"));
  tell(Update(A(), {.election = "e", .min_hold = 1ms}));
  tell(Appoint(A(), {"e", 1, "waiter"}));
  tell(Depose(B(), {"e", 1}));
  tell(EndSession(A(), HandleOf(waiter)));
  tell(Delete(A(), "e", 2));
  tell(Ask(A(), &AdminStub::ListChanges, {}));

  for (const auto& secret : {SecretOf(leader), SecretOf(waiter)}) {
    EXPECT_THAT(told, Not(HasSubstr(secret)));
    std::string bytes;
    for (size_t i = 0; i < secret.size(); i += 2) {
      bytes += static_cast<char>(std::stoi(secret.substr(i, 2), nullptr, 16));
    }
    EXPECT_THAT(told, Not(HasSubstr(bytes)));
  }
  EXPECT_THAT(told, HasSubstr(HandleOf(waiter)));
}

TEST_P(AdministrationTest, SettingsThatAreNotGivenStayAsTheyAre) {
  const auto created = Update(A(), {.election = "e",
                                    .lock_delay = 3s,
                                    .default_lease_ttl = 5s,
                                    .max_lease_ttl = 7s,
                                    .max_candidates = 1,
                                    .allow_missing = true});
  EXPECT_EQ(created.term(), 0u);
  EXPECT_THAT(NamesOf(ListElections(B())), ElementsAre("e"));

  const auto changed = Update(B(), {.election = "e", .lock_delay = 0s, .min_hold = 4s});

  EXPECT_EQ(Milliseconds(changed.settings().lock_delay()), 0);
  EXPECT_EQ(Milliseconds(changed.settings().min_hold()), 4000);
  EXPECT_EQ(Milliseconds(changed.settings().default_lease_ttl()), 5000);
  EXPECT_EQ(Milliseconds(changed.settings().max_lease_ttl()), 7000);
  EXPECT_EQ(changed.settings().max_candidates(), 1u);
  EXPECT_EQ(Describe(A(), "e").election().settings().ShortDebugString(),
            changed.settings().ShortDebugString());
  EXPECT_THAT(ListChanges(A(), "e"), SizeIs(2));
}

TEST_P(AdministrationTest, AnElectionCanBeCreatedWithoutAnySetting) {
  Update(A(), {.election = "e", .allow_missing = true});

  EXPECT_THAT(NamesOf(ListElections(B())), ElementsAre("e"));
  EXPECT_TRUE(Pause(B(), "e").paused());
}

TEST_P(AdministrationTest, SettingsLimitLeasesAndTheQueue) {
  Update(A(), {.election = "e",
               .default_lease_ttl = 5s,
               .max_lease_ttl = 7s,
               .max_candidates = 1,
               .allow_missing = true});
  auto of_default = ToRequest(CampaignArguments{"e", "leader"});
  of_default.clear_lease_ttl();
  grpc::ClientContext first;
  grpc::ClientContext second;
  grpc::ClientContext third;
  v1::CampaignResponse response;

  EXPECT_TRUE(B().stub().Campaign(&first, of_default, &response).ok());
  EXPECT_EQ(Milliseconds(response.session().lease_ttl()), 5000);
  const auto too_long = B().stub().Campaign(
      &second, ToRequest(CampaignArguments{"e", "a", "", "", 0ms, 8s}), &response);
  EXPECT_EQ(ReasonOf(too_long), "INVALID_LEASE_TTL");
  EXPECT_EQ(InfoOf(too_long).metadata().at("max_ms"), "7000");
  EXPECT_TRUE(Stand(B(), {"e", "waiter", "", "", 0ms, 7s}).has_standing());
  const auto late = A().stub().Campaign(
      &third, ToRequest(CampaignArguments{"e", "b", "", "", 0ms, 7s}), &response);
  EXPECT_EQ(ReasonOf(late), "QUEUE_FULL");
  EXPECT_EQ(InfoOf(late).metadata().at("limit"), "1");
}

TEST_P(AdministrationTest, DuringAPauseALeaderStaysAndItsExpiryLeavesTheSeatEmpty) {
  Observer observer(B(), Election("e", 1));
  const auto leader = Stand(A(), {"e", "leader", "", "", 0ms, 2s});
  const auto waiter = Stand(A(), {"e", "waiter"});

  EXPECT_TRUE(Pause(B(), "e").paused());

  EXPECT_EQ(Leader(A(), "e").leader().candidate(), "leader");
  EXPECT_TRUE(Renew(A(), IdOf(leader)).has_lease_ttl());
  EXPECT_EQ(Proclaim(A(), IdOf(leader), "e", 1, "still here").value(), "still here");
  EXPECT_THAT(Texts(observer.WaitForEvents(3)),
              ElementsAre("ELECTED leader 1", "PROCLAIMED leader 1", "VACATED leader 1 EXPIRED"));
  EXPECT_TRUE(Campaign(B(), {"e", "", IdOf(waiter)}).has_standing());
  EXPECT_TRUE(Campaign(A(), {"e", "late"}).has_standing());
  EXPECT_FALSE(Leader(B(), "e").has_leader());

  const auto resumed = Resume(A(), "e");

  EXPECT_EQ(resumed.leader().candidate(), "waiter");
  EXPECT_EQ(resumed.term(), 2u);
  EXPECT_EQ(Text(observer.WaitForEvents(4)[3]), "ELECTED waiter 2");
}

TEST_P(AdministrationTest, PausingAndResumingTwiceIsRecordedOnce) {
  Stand(A(), {"e", "leader"});

  EXPECT_TRUE(Pause(A(), "e").paused());
  EXPECT_TRUE(Pause(B(), "e").paused());
  EXPECT_FALSE(Resume(A(), "e").paused());
  EXPECT_FALSE(Resume(B(), "e").paused());

  EXPECT_THAT(Texts(ListChanges(B(), "e")), ElementsAre("RESUMED e 1", "PAUSED e 1"));
}

TEST_P(AdministrationTest, ADeletedElectionContinuesInAHigherTerm) {
  Observer observer(B(), Election("e"));
  observer.WaitUntilOpen();
  const auto leader = Stand(A(), {"e", "leader"});
  const auto waiter = Stand(B(), {"e", "waiter", "", "", 0ms, 3s});
  WaitingCampaign waiting(B(), {"e", "", IdOf(waiter)});
  WaitingCampaign also_waiting(A(), {"e", "impatient", "", "", 0ms, 3s});
  ASSERT_TRUE(Eventually([&] { return Describe(A(), "e").election().candidates() == 2; }));
  KeepAliveStream stream(B(), {IdOf(leader)});
  stream.WaitForRenewal();

  const auto deleted = Delete(A(), "e", 1);

  EXPECT_TRUE(deleted.deleted());
  EXPECT_EQ(deleted.term(), 1u);
  EXPECT_EQ(ReasonOf(waiting.Status()), "CANDIDACY_WITHDRAWN");
  EXPECT_EQ(ReasonOf(also_waiting.Status()), "CANDIDACY_WITHDRAWN");
  EXPECT_EQ(stream.WaitForLoss("e").cause(), v1::CAUSE_DELETED);
  EXPECT_THAT(Texts(observer.WaitForEvents(2)),
              ElementsAre("ELECTED leader 1", "VACATED leader 1 DELETED"));
  EXPECT_FALSE(Leader(B(), "e").has_leader());
  EXPECT_EQ(Leader(B(), "e").term(), 1u);
  EXPECT_TRUE(Renew(B(), IdOf(leader)).has_lease_ttl());

  EXPECT_EQ(Stand(B(), {"e", "new"}).elected().term(), 2u);

  EXPECT_EQ(Text(observer.WaitForEvents(3)[2]), "ELECTED new 2");
  EXPECT_EQ(observer.Events()[2].revision(), 3u);
  EXPECT_THAT(ListQueue(A(), "e"), IsEmpty());
}

TEST_P(AdministrationTest, DeletedEventsAreNotReportedAgain) {
  const auto first = Stand(A(), {"e", "first"});
  Resign(A(), IdOf(first));
  Stand(A(), {"e", "second"});
  Delete(B(), "e", 2);
  Stand(A(), {"e", "third"});

  Observer from_the_old_life(B(), Election("e", 3));
  from_the_old_life.WaitUntilOpen();

  const auto messages = from_the_old_life.Messages();
  ASSERT_THAT(messages, Not(IsEmpty()));
  EXPECT_EQ(messages[0].snapshot().reason(), v1::Snapshot::REASON_RESYNC);
  EXPECT_EQ(messages[0].snapshot().leader().candidate(), "third");
  EXPECT_EQ(messages[0].snapshot().term(), 3u);
  EXPECT_THAT(from_the_old_life.Events(), IsEmpty());
  EXPECT_THAT(Texts(ListTerms(A(), "e")), ElementsAre("3 third", "2 second DELETED"));
}

TEST_P(AdministrationTest, DeletingTwiceSucceedsAndALateDeleteHitsNoSuccessor) {
  Update(A(), {.election = "e", .lock_delay = 1h, .allow_missing = true});
  Stand(A(), {"e", "leader"});

  EXPECT_TRUE(Delete(A(), "e", 1).deleted());
  EXPECT_FALSE(Delete(B(), "e", 1).deleted());
  EXPECT_EQ(Stand(B(), {"e", "new"}).elected().term(), 2u);

  auto again = For<v1::DeleteElectionRequest>("e");
  again.set_term(1);
  const auto late = TryCall(A(), &AdminStub::DeleteElection, again);
  EXPECT_EQ(ReasonOf(late), "STALE_TERM");
  EXPECT_EQ(InfoOf(late).metadata().at("current_term"), "2");
  EXPECT_EQ(Leader(B(), "e").leader().candidate(), "new");
  EXPECT_EQ(Milliseconds(Describe(B(), "e").election().settings().lock_delay()), 0);
}

TEST_P(AdministrationTest, EndingALeadersSessionEndsAllItsSeatsAndPlaces) {
  const auto leader = Stand(A(), {"e", "leader"});
  Stand(B(), {"f", "leader", IdOf(leader)});
  const auto next = Stand(A(), {"e", "next"});
  Stand(A(), {"g", "next", IdOf(next)});
  Stand(A(), {"g", "leader", IdOf(leader)});
  KeepAliveStream stream(B(), {IdOf(leader)});
  stream.WaitForRenewal();

  const auto ended = EndSession(A(), HandleOf(leader));

  EXPECT_TRUE(ended.ended());
  EXPECT_EQ(ended.cause(), v1::CAUSE_DEPOSED);
  EXPECT_EQ(stream.WaitForLoss("e").cause(), v1::CAUSE_DEPOSED);
  EXPECT_EQ(stream.WaitForLoss("f").cause(), v1::CAUSE_DEPOSED);
  EXPECT_EQ(Renew(B(), IdOf(leader)).ended(), v1::CAUSE_DEPOSED);
  EXPECT_EQ(Leader(B(), "e").leader().candidate(), "next");
  EXPECT_FALSE(Leader(B(), "f").has_leader());
  EXPECT_THAT(ListQueue(B(), "g"), IsEmpty());
  EXPECT_THAT(EventsOf(B(), "e"),
              ElementsAre("ELECTED leader 1", "VACATED leader 1 DEPOSED", "ELECTED next 2"));
  const auto again = EndSession(B(), HandleOf(leader));
  EXPECT_FALSE(again.ended());
  EXPECT_EQ(again.cause(), v1::CAUSE_DEPOSED);
  EXPECT_THAT(ListChanges(A()), SizeIs(1));
}

TEST_P(AdministrationTest, AWaiterLearnsThatAnOperatorEndedItsSession) {
  Stand(A(), {"e", "leader"});
  const auto waiter = Stand(A(), {"e", "waiter"});
  WaitingCampaign waiting(A(), {"e", "", IdOf(waiter)});
  KeepAliveStream stream(A(), {IdOf(waiter)});
  stream.WaitForRenewal();

  EndSession(A(), HandleOf(waiter));

  EXPECT_EQ(ReasonOf(waiting.Status()), "SESSION_ENDED");
  EXPECT_EQ(InfoOf(waiting.Status()).metadata().at("cause"), "DEPOSED");
  EXPECT_EQ(stream.WaitForSessionEnded().cause(), v1::CAUSE_DEPOSED);
  EXPECT_THAT(ListQueue(B(), "e"), IsEmpty());
}

}  // namespace
}  // namespace tenure::testing
