// The C++ library's elector, against running servers.
#include <future>
#include <stdexcept>

#include "client/cpp/io/connection.h"
#include "tests/client/elector_fixture.h"
#include "tests/support/administration.h"
#include "tests/support/relay.h"

namespace tenure::testing {
namespace {

using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

INSTANTIATE_TEST_SUITE_P(Stores, ElectorTest,
                         ::testing::Values(StoreKind::kSqlite, StoreKind::kMariaDb), StoreKindName);

TEST_P(ElectorTest, TheElectorLeadsAndSaysSo) {
  Diary diary;
  Elector elector(NewClient("a"), diary.Options("e"));

  diary.WaitFor("elected 1");

  EXPECT_TRUE(elector.IsLeader());
  EXPECT_EQ(elector.term(), 1);
  EXPECT_EQ(LeaderOf("e"), "a");
}

TEST_P(ElectorTest, TheSecondElectorLeadsWhenTheFirstIsDestroyed) {
  Diary diary_a, diary_b;
  auto a = std::make_unique<Elector>(NewClient("a"), diary_a.Options("e"));
  diary_a.WaitFor("elected 1");
  Elector b(NewClient("b"), diary_b.Options("e"));
  EXPECT_TRUE(Eventually([&] { return Describe(A(), "e").queue_size() == 1; }));
  EXPECT_FALSE(b.IsLeader());

  a.reset();

  diary_b.WaitFor("elected 2");
  EXPECT_TRUE(b.IsLeader());
  EXPECT_THAT(diary_a.Lines(), ElementsAre("elected 1"));
}

TEST_P(ElectorTest, ManyElectorsShareOneSession) {
  std::vector<Diary> diaries(100);
  std::vector<std::unique_ptr<Elector>> electors;
  const Client client = NewClient("a");
  for (size_t i = 0; i < diaries.size(); ++i) {
    electors.push_back(
        std::make_unique<Elector>(client, diaries[i].Options("e" + std::to_string(i))));
  }

  for (Diary& diary : diaries) diary.WaitFor("elected 1");

  v1::ListSessionsRequest request;
  v1::ListSessionsResponse sessions;
  grpc::ClientContext context;
  ASSERT_TRUE(A().admin().ListSessions(&context, request, &sessions).ok());
  ASSERT_EQ(sessions.sessions_size(), 1);
  EXPECT_EQ(sessions.sessions(0).leads_size(), 100);
}

TEST_P(ElectorTest, TheSeatIsGivenUpOnlyWhenTheWorkHasEnded) {
  Diary diary;
  std::promise<void> may_end;
  auto options = diary.Options("e");
  options.lead = [&](const v1::Leadership&, const std::stop_token& stop) {
    Diary::WaitForStop(stop);
    diary.Write("asked to stop");
    may_end.get_future().wait();
  };
  Elector elector(NewClient("a"), std::move(options));
  diary.WaitFor("elected 1");

  elector.Resign();
  diary.WaitFor("asked to stop");
  EXPECT_EQ(LeaderOf("e"), "a");
  EXPECT_TRUE(elector.IsLeader());
  may_end.set_value();

  diary.WaitFor("lost 1 RESIGNED");
  EXPECT_FALSE(elector.IsLeader());
  EXPECT_TRUE(Eventually([&] { return LeaderOf("e").empty(); }));
}

TEST_P(ElectorTest, WorkThatEndsByItselfGivesUpTheSeatAndStandsAgain) {
  Diary diary;
  auto options = diary.Options("e");
  options.lead = [](const v1::Leadership&, const std::stop_token&) {};
  const Elector elector(NewClient("a", 1s), std::move(options));

  diary.WaitFor("lost 1 RESIGNED");
  diary.WaitFor("elected 2");
}

TEST_P(ElectorTest, ADeposedLeaderStopsAndStandsAgain) {
  Diary diary;
  Elector elector(NewClient("a", 3s), diary.WorkingOptions("e"));
  diary.WaitFor("works 1");

  // The second renewal is sent once the first is answered: the stream is open, and carries the
  // cause.
  WaitForRenewals(2);
  v1::DeposeRequest request;
  request.set_election("e");
  request.set_term(1);
  v1::DeposeResponse response;
  grpc::ClientContext context;
  ASSERT_TRUE(B().admin().Depose(&context, request, &response).ok());

  diary.WaitFor("lost 1 DEPOSED");
  diary.WaitFor("stopped 1");
  diary.WaitFor("works 2");
}

TEST_P(ElectorTest, ALeaderAskedToMakeWayStopsItsWorkThenTheSuccessorLeads) {
  Diary diary_a, diary_b;
  Elector a(NewClient("a"), diary_a.WorkingOptions("e"));
  diary_a.WaitFor("works 1");
  Elector b(NewClient("b"), diary_b.WorkingOptions("e"));
  EXPECT_TRUE(Eventually([&] { return Describe(A(), "e").queue_size() == 1; }));

  v1::AppointRequest request;
  request.set_election("e");
  request.set_term(1);
  request.set_candidate("b");
  v1::AppointResponse response;
  grpc::ClientContext context;
  ASSERT_TRUE(B().admin().Appoint(&context, request, &response).ok());

  diary_b.WaitFor("works 2");
  EXPECT_THAT(diary_a.Lines(), ElementsAre("elected 1", "works 1", "stopped 1", "lost 1 RESIGNED"));
}

TEST_P(ElectorTest, TheValueAndItsNextVersionArePublished) {
  Diary diary;
  auto options = diary.Options("e");
  options.value = "one";
  Elector elector(NewClient("a"), std::move(options));
  diary.WaitFor("elected 1");
  EXPECT_EQ(Leader(A(), "e").leader().value(), "one");

  elector.Proclaim("two");

  EXPECT_TRUE(Eventually([&] { return Leader(B(), "e").leader().value() == "two"; }));
  EXPECT_EQ(elector.term(), 1);
}

TEST_P(ElectorTest, OtherLeadersAreReported) {
  Diary diary;
  auto options = diary.Options("e");
  options.on_leader_changed = [&](const std::optional<v1::Leadership>& leader) {
    diary.Write(leader ? leader->candidate() + " leads in " + std::to_string(leader->term())
                       : "nobody leads");
  };
  const auto other = Campaign(A(), {"e", "other"});
  const Elector elector(NewClient("a"), std::move(options));

  diary.WaitFor("other leads in 1");
  Resign(A(), other.session().session_id());

  diary.WaitFor("nobody leads");
  diary.WaitFor("a leads in 2");
}

TEST_P(ElectorTest, ARequestTheServiceDoesNotAllowIsRefused) {
  Diary diary;
  const Elector elector(NewClient("a", std::chrono::hours(48)), diary.Options("e"));

  diary.WaitFor("refused INVALID_LEASE_TTL");
}

TEST_P(ElectorTest, ASupersededElectorIsNotifiedAndDoesNotComeBack) {
  Diary diary;
  Elector elector(NewClient("a"), diary.Options("e"));
  diary.WaitFor("elected 1");
  Diary diary_after;

  const Elector restarted(
      Client({.endpoints = BothEndpoints(), .candidate = "a", .supersede = true}),
      diary_after.Options("e"));

  diary_after.WaitFor("elected 2");
  diary.WaitFor("refused code 10: superseded by a newer session of a");
  // The cause is missing if a list of seats without this one arrives before the notice of its end.
  EXPECT_THAT(diary.Lines(), Contains(AnyOf("lost 1 SUPERSEDED", "lost 1 UNSPECIFIED")));
}

TEST_P(ElectorTest, TheElectorStandsAgainInADeletedElection) {
  Diary diary;
  const Elector elector(NewClient("a", 3s), diary.Options("e"));
  diary.WaitFor("elected 1");

  // The second renewal is sent once the first is answered: the stream is open, and carries the
  // cause.
  WaitForRenewals(2);
  v1::DeleteElectionRequest request;
  request.set_election("e");
  request.set_term(1);
  ASSERT_TRUE(TryCall(B(), &AdminStub::DeleteElection, request).ok());

  diary.WaitFor("lost 1 DELETED");
  diary.WaitFor("elected 2");
}

// Scenario 15.
TEST_P(ElectorTest, AnElectorStartedBeforeTheServiceWinsWhenItComesUp) {
  for (auto& server : servers_) server->Kill();
  Diary diary;
  const Elector elector(NewClient("a"), diary.Options("e"));

  for (auto& server : servers_) server->Start();

  diary.WaitFor("elected 1");
}

// Scenario 12.
TEST_P(ElectorTest, ALostAnswerIsFoundAtAnotherReplicaWithTheSameTerm) {
  Relay relay(A().endpoint());
  relay.LoseAnswers();
  Diary diary;
  const Elector elector(NewClient("a", 30s, relay.endpoint() + "," + B().endpoint()),
                        diary.Options("e"));

  diary.WaitFor("elected 1");

  EXPECT_THAT(Describe(B(), "e").queue(), IsEmpty());
  EXPECT_EQ(Leader(B(), "e").term(), 1);
}

TEST_P(ElectorTest, TheSeatIsKeptWhenTheOnlyConnectionFallsSilent) {
  Relay relay(A().endpoint());
  Diary diary;
  const Elector elector(NewClient("a", 6s, relay.endpoint()), diary.Options("e"));
  diary.WaitFor("elected 1");

  relay.SilenceOpenConnections();
  WaitForRenewals(3);

  EXPECT_TRUE(elector.IsLeader());
  // The second try of a renewal comes when it is overdue, or just before.
  EXPECT_THAT(diary.Lines(), Each(AnyOf("elected 1", "suspended", "resumed")));
}

TEST_P(ElectorTest, TheSeatIsKeptWhenEveryReplicaIsKilledAndRestarted) {
  Diary diary;
  const Elector elector(NewClient("a", 6s), diary.Options("e"));
  diary.WaitFor("elected 1");

  for (auto& server : servers_) server->Kill();
  EXPECT_TRUE(elector.IsLeader());
  for (auto& server : servers_) server->Start();
  WaitForRenewals(1);

  EXPECT_TRUE(elector.IsLeader());
  EXPECT_THAT(diary.Lines(), ElementsAre("elected 1"));
}

using ElectorOfTwoReplicasTest = ElectorTest;
INSTANTIATE_TEST_SUITE_P(Stores, ElectorOfTwoReplicasTest, ::testing::Values(StoreKind::kMariaDb),
                         StoreKindName);

TEST_P(ElectorOfTwoReplicasTest, TheSeatIsKeptWhenTheReplicaHangs) {
  Diary diary;
  // A replica that hangs in a transaction holds the session's lock for 5 s: the lease is longer.
  const Elector elector(NewClient("a", 12s), diary.Options("e"));
  diary.WaitFor("elected 1");

  // Whichever replica it uses, only the other one is there for longer than the lease.
  for (Tenured* hanging : {&A(), &B()}) {
    hanging->process().Signal(SIGSTOP);
    WaitForRenewals({hanging == &A() ? &B() : &A()}, 4);
    hanging->process().Signal(SIGCONT);
    hanging->WaitUntilReady();
  }

  EXPECT_TRUE(elector.IsLeader());
  EXPECT_EQ(elector.term(), 1);
}

// Long before its lease is in danger.
TEST_P(ElectorTest, TheLossOfAReplicaIsReportedAtOnce) {
  Diary diary;
  const auto log = [&](const LogEntry& entry) {
    if (entry.event == LogEvent::kTrouble) diary.Write("trouble with " + entry.endpoint);
  };
  const Client client(
      {.endpoints = A().endpoint(), .candidate = "a", .lease_ttl = 10min, .log = log});
  const Elector elector(client, diary.Options("e"));
  diary.WaitFor("elected 1");

  A().Kill();

  diary.WaitFor("trouble with " + A().endpoint());
}

TEST_P(ElectorTest, AnElectorThatCannotRenewStopsBeforeItsLeaseEnds) {
  Diary diary;
  Elector elector(NewClient("a", 2s), diary.WorkingOptions("e"));
  diary.WaitFor("works 1");

  for (auto& server : servers_) server->Kill();

  diary.WaitFor("lost 1 RESIGNED");
  EXPECT_FALSE(elector.IsLeader());
  EXPECT_THAT(diary.Lines(),
              ElementsAre("elected 1", "works 1", "suspended", "stopped 1", "lost 1 RESIGNED"));
  for (auto& server : servers_) server->Start();
  diary.WaitFor("works 2");
}

TEST_P(ElectorTest, WorkThatIsAskedToStopBeforeItsTurnNeverBegins) {
  Diary diary;
  std::promise<void> may_go_on;
  auto options = diary.WorkingOptions("e");
  options.on_elected = [&](const v1::Leadership&) {
    diary.Write("elected");
    may_go_on.get_future().wait();
  };
  options.one_term = true;
  const Elector elector(NewClient("a", 3s), std::move(options));
  diary.WaitFor("elected");
  Campaign(B(), {"e", "b"});

  Appoint(B(), {.election = "e", .term = 1, .candidate = "b"});

  EXPECT_TRUE(Eventually([&] { return LeaderOf("e") == "b"; }));  // nobody waited for the callback
  may_go_on.set_value();
  diary.WaitFor("lost 1 RESIGNED");
  EXPECT_THAT(diary.Lines(), ElementsAre("elected", "lost 1 RESIGNED"));
}

TEST_P(ElectorTest, AClientIsClosedWhenTheWorkHasEnded) {
  Diary diary;
  const Client client = NewClient("a", 3s);
  std::promise<void> may_end;
  auto options = diary.Options("e");
  options.lead = [&](const v1::Leadership&, const std::stop_token& stop) {
    Diary::WaitForStop(stop);
    diary.Write("asked to stop");
    may_end.get_future().wait();
  };
  auto elector = std::make_unique<Elector>(client, std::move(options));
  diary.WaitFor("elected 1");

  const auto close = [client = client]() mutable { return client.Close(60s); };
  auto closed = std::async(std::launch::async, close);
  auto closed_by_another = std::async(std::launch::async, close);
  diary.WaitFor("asked to stop");
  WaitForRenewals(2);
  EXPECT_EQ(LeaderOf("e"), "a");
  may_end.set_value();

  EXPECT_TRUE(closed.get().ok());
  EXPECT_TRUE(closed_by_another.get().ok());
  EXPECT_EQ(LeaderOf("e"), "");
  elector.reset();
}

TEST_P(ElectorTest, AClientIsClosedAlthoughTheWorkDoesNotEnd) {
  Diary diary;
  Client client = NewClient("a");
  std::promise<void> closed;
  auto options = diary.Options("e");
  options.lead = [&](const v1::Leadership&, const std::stop_token&) { closed.get_future().wait(); };
  const Elector elector(client, std::move(options));
  diary.WaitFor("elected 1");

  EXPECT_TRUE(client.Close(4s).ok());  // the work has half of that, and then the session is ended

  EXPECT_EQ(LeaderOf("e"), "");
  closed.set_value();
}

TEST_P(ElectorTest, AClientIsClosedInTimeAlthoughItsConnectionFallsSilent) {
  Relay relay(A().endpoint());
  Diary diary;
  Client client = NewClient("a", 10min, relay.endpoint());
  auto elector = std::make_unique<Elector>(client, diary.Options("e"));
  diary.WaitFor("elected 1");

  relay.SilenceOpenConnections();
  elector.reset();  // the seat is given up by a call that nobody answers

  EXPECT_TRUE(client.Close(3s).ok());
  EXPECT_EQ(LeaderOf("e"), "");
}

// Whatever ends it.
TEST_P(ElectorTest, NobodyBelievesInATermWhoseEndIsReported) {
  Diary diary;
  std::unique_ptr<Elector> elector;
  auto options = diary.Options("e");
  options.on_lost = [&](const v1::Leadership& seat, v1::Cause) {
    diary.Write("lost " + std::to_string(seat.term()) +
                (elector->IsLeader() || elector->term() == seat.term() ? ", and leads" : ""));
  };
  elector = std::make_unique<Elector>(NewClient("a", 3s), std::move(options));
  diary.WaitFor("elected 1");

  v1::DeposeRequest request;
  request.set_election("e");
  request.set_term(1);
  v1::DeposeResponse response;
  grpc::ClientContext context;
  ASSERT_TRUE(B().admin().Depose(&context, request, &response).ok());
  diary.WaitFor("lost 1");
  diary.WaitFor("elected 2");
  for (auto& server : servers_) server->Kill();
  diary.WaitFor("lost 2");
  for (auto& server : servers_) server->Start();
  diary.WaitFor("elected 3");
  elector->Resign();
  diary.WaitFor("lost 3");
}

TEST_P(ElectorTest, TheWatchdogFiresWhenTheWorkDoesNotStop) {
  Diary diary;
  std::promise<void> barked;
  auto options = diary.Options("e");
  options.lead = [&](const v1::Leadership&, const std::stop_token&) { barked.get_future().wait(); };
  options.on_overrun = [&](const v1::Leadership& seat) {
    diary.Write("overrun " + std::to_string(seat.term()));
    barked.set_value();
  };
  auto elector = std::make_unique<Elector>(NewClient("a", 2s), std::move(options));
  diary.WaitFor("elected 1");

  elector->Resign();

  diary.WaitFor("overrun 1");
  diary.WaitFor("lost 1 RESIGNED");
}

TEST_P(ElectorTest, AnElectorMayBeDestroyedFromAnyOfItsCallbacks) {
  for (const std::string where : {"on_elected", "lead", "on_lost", "on_leader_changed"}) {
    Diary diary;
    std::unique_ptr<Elector> elector;
    std::promise<void> made;
    const auto ready = made.get_future().share();
    const auto destroy = [&, ready] {
      ready.wait();
      elector.reset();
      diary.Write("destroyed");
    };
    auto options = diary.Options(where);
    if (where == "on_elected") options.on_elected = [=](const v1::Leadership&) { destroy(); };
    if (where == "on_lost") {
      options.on_lost = [=](const v1::Leadership&, v1::Cause) { destroy(); };
    }
    if (where == "on_leader_changed") {
      options.on_leader_changed = [=](const std::optional<v1::Leadership>&) { destroy(); };
    } else {
      options.lead = [=](const v1::Leadership&, const std::stop_token&) {
        if (where == "lead") destroy();
      };
    }
    elector = std::make_unique<Elector>(NewClient("a"), std::move(options));
    made.set_value();

    diary.WaitFor("destroyed");

    EXPECT_TRUE(Eventually([&] { return LeaderOf(where).empty(); })) << where;
  }
}

TEST_P(ElectorTest, AnElectorMayBeDestroyedByItsWatchdog) {
  Diary diary;
  std::unique_ptr<Elector> elector;
  std::promise<void> made, working, may_end;
  auto options = diary.Options("e");
  options.lead = [&](const v1::Leadership&, const std::stop_token&) {
    working.set_value();
    may_end.get_future().wait();
  };
  options.on_overrun = [&](const v1::Leadership&) {
    may_end.set_value();
    made.get_future().wait();
    elector.reset();
    diary.Write("destroyed");
  };
  elector = std::make_unique<Elector>(NewClient("a", 1s), std::move(options));
  working.get_future().wait();
  elector->Resign();
  made.set_value();

  diary.WaitFor("destroyed");

  EXPECT_TRUE(Eventually([&] { return LeaderOf("e").empty(); }));
}

TEST_P(ElectorTest, AnElectorMayBeDestroyedAtAnyMoment) {
  for (int i = 0; i < 50; ++i) {
    Diary diary;
    Elector a(NewClient("a"), diary.WorkingOptions("e"));
    const Elector b(NewClient("b"), diary.Options("e"));
    if (i % 3 == 1) std::this_thread::yield();
    if (i % 3 == 2) a.Resign();
  }

  EXPECT_TRUE(Eventually([&] { return LeaderOf("e").empty(); }));
  EXPECT_THAT(Describe(A(), "e").queue(), IsEmpty());
}

TEST_P(ElectorTest, AnElectorIsDestroyedPromptlyEvenIfTheServiceHangs) {
  Diary diary;
  auto elector = std::make_unique<Elector>(NewClient("a"), diary.Options("e"));
  diary.WaitFor("elected 1");

  for (auto& server : servers_) server->process().Signal(SIGSTOP);
  elector.reset();

  for (auto& server : servers_) server->process().Signal(SIGCONT);
}

TEST_P(ElectorTest, AConnectionOnWhichPingsAreNotAnsweredIsGivenUp) {
  Connection connection(A().endpoint());
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + 30s);
  v1::ObserveRequest request;
  request.add_selectors()->set_prefix("");
  const auto stream = connection.stub()->Observe(&context, request);
  v1::ObserveResponse response;
  ASSERT_TRUE(stream->Read(&response));
  A().process().Signal(SIGSTOP);

  while (stream->Read(&response)) continue;
  const grpc::Status status = stream->Finish();
  A().process().Signal(SIGCONT);

  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE) << "and not DEADLINE_EXCEEDED";
}

TEST_P(ElectorTest, AnUnhealthyReplicaIsNotUsed) {
  Tenured without_store("mysql://nobody@127.0.0.1:" + std::to_string(FreePort()) + "/none", {},
                        false);
  const auto connects = [](const std::string& endpoint) {
    Connection connection(endpoint, grpc::InsecureChannelCredentials(), HealthCheck::kOn);
    return connection.Connect();
  };
  EXPECT_TRUE(Eventually([&] { return Connection(without_store.endpoint()).Connect(); }));

  EXPECT_TRUE(Eventually([&] { return connects(A().endpoint()); }));
  EXPECT_FALSE(connects(without_store.endpoint()));
  Diary diary;
  const Elector elector(NewClient("a", 30s, without_store.endpoint() + "," + A().endpoint()),
                        diary.Options("e"));

  diary.WaitFor("elected 1");
}

TEST_P(ElectorTest, MalformedOptionsAreAnErrorAtOnce) {
  const Client client = NewClient("a");

  EXPECT_THROW(Client({.candidate = ""}), std::invalid_argument);
  EXPECT_THROW(Client({.endpoints = ",", .candidate = "a"}), std::invalid_argument);
  EXPECT_THROW(Client({.endpoints = "localhost", .candidate = "a"}), std::invalid_argument);
  EXPECT_THROW(Client({.candidate = "a", .service_id = "1F"}), std::invalid_argument);
  EXPECT_THROW(Client({.candidate = "a", .lease_ttl = -1s}), std::invalid_argument);
  EXPECT_THROW(Elector(client, {.election = ""}), std::invalid_argument);
  EXPECT_THROW(Elector(client, {.election = "e", .value = std::string(4097, 'x')}),
               std::invalid_argument);
  EXPECT_THROW(Elector(client, {.election = "e", .stop_grace = -1ms}), std::invalid_argument);
  Elector elector(client, {.election = "e"});
  EXPECT_THROW(elector.Proclaim(std::string(4097, 'x')), std::invalid_argument);
  EXPECT_THROW(Elector(client, {.election = "e"}), std::invalid_argument);
}

TEST_P(ElectorTest, WorkThatThrowsEndsItsTermAndIsReported) {
  Diary diary;
  const Client client({.endpoints = BothEndpoints(),
                       .candidate = "a",
                       .lease_ttl = 30s,
                       .log = [&](const LogEntry& entry) { diary.Write(entry.message); }});
  auto options = diary.Options("e");
  options.one_term = true;
  options.lead = [](const v1::Leadership&, const std::stop_token&) {
    throw std::runtime_error("out of orders");
  };
  const Elector elector(client, options);

  diary.WaitFor("the work for e in term 1 failed: out of orders; the seat is resigned");
  diary.WaitFor("lost 1 RESIGNED");
  EXPECT_TRUE(Eventually([&] { return LeaderOf("e").empty(); }));
}

TEST_P(ElectorTest, AnElectorOfAClientThatIsClosingNeverStands) {
  Client client = NewClient("a");
  Diary diary;
  std::promise<void> released;
  auto options = diary.Options("e");
  options.lead = [&](const v1::Leadership&, const std::stop_token& stop) {
    Diary::WaitForStop(stop);
    diary.Write("asked to stop");
    released.get_future().wait();
  };
  const Elector elector(client, options);
  diary.WaitFor("elected 1");
  auto closed = std::async(std::launch::async, [&] { return client.Close(kPatience); });
  diary.WaitFor("asked to stop");

  const Elector late(client, diary.Options("late"));
  released.set_value();

  // Close waits for every call that was made before it.
  EXPECT_TRUE(closed.get().ok());
  EXPECT_EQ(Leader(B(), "late").term(), 0u);
}

TEST_P(ElectorTest, WorkThatHangsWhileItsElectorIsDestroyedIsReported) {
  Diary diary;
  std::promise<void> overrun;
  auto options = diary.Options("e");
  options.lead = [&](const v1::Leadership&, const std::stop_token&) {
    diary.Write("works");
    const auto met = overrun.get_future().wait_for(kPatience);
    EXPECT_EQ(met, std::future_status::ready) << "the hanging work was not reported";
  };
  options.on_overrun = [&](const v1::Leadership&) { overrun.set_value(); };
  auto elector = std::make_unique<Elector>(NewClient("a", 2s), options);
  diary.WaitFor("works");

  elector.reset();
}

TEST_P(ElectorTest, AnElectorMayFollowAnotherOfTheSameElection) {
  const Client client = NewClient("a");
  Diary first, second;
  auto elector = std::make_unique<Elector>(client, first.WorkingOptions("e"));
  first.WaitFor("works 1");

  elector.reset();
  const Elector next(client, second.Options("e"));

  second.WaitFor("elected 2");
}

}  // namespace
}  // namespace tenure::testing
