// Each database is one service: a replica on another database elects no second leader.

#include "tenure/leader_cache.h"
#include "tenure/observer.h"
#include "tests/client/elector_fixture.h"
#include "tests/rpc/tool.h"
#include "tests/support/relay.h"

namespace tenure::testing {
namespace {

using ::testing::HasSubstr;

std::string ServiceOf(Tenured& server) {
  v1::IdentifyResponse response;
  grpc::ClientContext context;
  EXPECT_TRUE(server.stub().Identify(&context, {}, &response).ok());
  return response.service_id();
}

// Two replicas on one database, and a third one on another database of the same server.
class WrongDatabaseTest : public ElectorTest {
 protected:
  void SetUp() override {
    ElectorTest::SetUp();
    wrong_ = std::make_unique<Tenured>(Database().FreshDatabase("other"));
  }
  [[nodiscard]] std::string AllEndpoints() { return wrong_->endpoint() + "," + BothEndpoints(); }
  std::unique_ptr<Process> Start(const std::string& endpoints, std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"--endpoint", endpoints});
    return std::make_unique<Process>(ToolCommand(std::move(arguments)));
  }
  Finished Run(const std::string& endpoints, std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"--endpoint", endpoints});
    return RunToEnd(ToolCommand(std::move(arguments)));
  }
  // The warning about the third replica.
  [[nodiscard]] std::string Warning() {
    return wrong_->endpoint() + " belongs to service " + ServiceOf(*wrong_) + ", not to " +
           ServiceOf(A()) + ": its replica works on another database; it is not used";
  }

  std::unique_ptr<Tenured> wrong_;
};

INSTANTIATE_TEST_SUITE_P(Stores, WrongDatabaseTest, ::testing::Values(StoreKind::kMariaDb),
                         StoreKindName);

TEST_P(WrongDatabaseTest, SixCampaignsHaveOneLeader) {
  std::vector<std::unique_ptr<Process>> campaigns;
  for (int i = 0; i < 6; ++i) {
    campaigns.push_back(
        Start(AllEndpoints(), {"campaign", "e", "--ttl", "30s", "--candidate", std::to_string(i)}));
  }

  int leaders = 0;
  for (const auto& campaign : campaigns) {
    if (campaign->Line(1).starts_with("elected: ")) ++leaders;
    EXPECT_TRUE(Eventually([&] { return campaign->Errors() == "tenure: " + Warning() + "\n"; }))
        << campaign->Errors();
  }

  EXPECT_EQ(leaders, 1);
  EXPECT_EQ(Describe(A(), "e").queue_size(), 5);
  EXPECT_EQ(Leader(*wrong_, "e").term(), 0u) << "nobody has campaigned there";
}

TEST_P(WrongDatabaseTest, AnObserverNeverMixesTwoServices) {
  Campaign(A(), {"e", "a"});
  Campaign(*wrong_, {"e", "b"});

  for (int i = 0; i < 6; ++i) {  // each begins with a random endpoint
    EXPECT_THAT(Run(AllEndpoints(), {"observe", "e", "--count", "1"}).output,
                HasSubstr("a leads in term 1"));
  }
}

// Most endpoints have agreed before it answers.
TEST_P(WrongDatabaseTest, ASlowReplicaIsNamedOnce) {
  Relay slow(wrong_->endpoint(), 20ms);
  const std::string endpoints = slow.endpoint() + "," + BothEndpoints();
  const std::string warning = slow.endpoint() + " belongs to service " + ServiceOf(*wrong_) +
                              ", not to " + ServiceOf(A()) +
                              ": its replica works on another database; it is not used";
  Diary of_client;
  Diary of_observer;
  const Client client({.endpoints = endpoints, .candidate = "a", .log = [&](const LogEntry& it) {
                         of_client.Write(it.message);
                       }});
  const Elector elector(client, {.election = "e"});
  const tenure::Observer observer(
      {.endpoints = endpoints,
       .log = [&](const LogEntry& it) { of_observer.Write(it.message); },
       .names = {"e"}});

  of_client.WaitFor(warning);
  of_observer.WaitFor(warning);

  EXPECT_TRUE(Eventually([&] { return elector.IsLeader(); }));
  EXPECT_EQ(std::ranges::count(of_client.Lines(), warning), 1);
  EXPECT_EQ(std::ranges::count(of_observer.Lines(), warning), 1);
}

TEST_P(WrongDatabaseTest, TheReplicaIsNamedWhenItIsTheOnlyOneLeft) {
  const auto campaign = Start(AllEndpoints(), {"campaign", "e", "--ttl", "5s", "--candidate", "a"});
  campaign->Line(1);

  A().Kill();
  B().Kill();

  EXPECT_EQ(campaign->Wait(), 4);
  EXPECT_THAT(campaign->Errors(), HasSubstr(Leader(*wrong_, "e").term() == 0
                                                ? wrong_->endpoint() + " belongs to service " +
                                                      ServiceOf(*wrong_) + ", not to "
                                                : "nobody campaigns there"));
}

TEST_P(WrongDatabaseTest, AClientThatBeganWithTheWrongReplicaFollowsTheMajority) {
  A().Kill();
  B().Kill();
  Diary diary;
  Diary of_observer;
  const auto write = [&](const LogEntry& entry) { diary.Write(entry.message); };
  const Client client(
      {.endpoints = AllEndpoints(), .candidate = "a", .lease_ttl = 1h, .log = write});
  const Elector elector(client, diary.Options("e"));
  const tenure::Observer observer(
      {.endpoints = AllEndpoints(), .log = nullptr, .names = {"e"}, .on_service_replaced = [&] {
         of_observer.Write("replaced");
       }});
  diary.WaitFor("elected 1");
  EXPECT_EQ(Leader(*wrong_, "e").leader().candidate(), "a");

  A().Start();
  B().Start();

  diary.WaitFor("most endpoints belong to service " + ServiceOf(A()) + " now, not to " +
                ServiceOf(*wrong_) + ": the service was replaced");
  diary.WaitFor("lost 1 EXPIRED");
  EXPECT_TRUE(Eventually([&] { return elector.IsLeader(); }));
  EXPECT_EQ(Leader(A(), "e").leader().candidate(), "a");
  EXPECT_THAT(diary.Lines(), ::testing::Contains(Warning()));
  of_observer.WaitFor("replaced");
}

TEST_P(WrongDatabaseTest, AServerThatIsNotTenureEndsNothing) {
  int port = 0;
  grpc::CallbackGenericService without_methods;
  grpc::ServerBuilder builder;
  builder.RegisterCallbackGenericService(&without_methods);
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
  const auto stranger = builder.BuildAndStart();
  Relay relay("127.0.0.1:" + std::to_string(port));
  const std::string warning =
      "cannot use " + relay.endpoint() +
      ": it speaks gRPC, but does not know this call; is it Tenure, and new enough?; still trying";
  Diary diary;
  Diary of_observer;
  const Client client({.endpoints = relay.endpoint(),
                       .candidate = "a",
                       .log = [&](const LogEntry& entry) { diary.Write(entry.message); }});
  const Elector elector(client, diary.Options("e"));
  const tenure::Observer observer(
      {.endpoints = relay.endpoint(),
       .log = [&](const LogEntry& entry) { of_observer.Write(entry.message); },
       .names = {"e"},
       .on_snapshot = [&](const v1::Snapshot&) { of_observer.Write("snapshot"); }});
  diary.WaitFor(warning);
  of_observer.WaitFor(warning);

  relay.BreakAndLeadTo(A().endpoint());

  diary.WaitFor("elected 1");
  of_observer.WaitFor("snapshot");
}

TEST_P(WrongDatabaseTest, EndpointsThatDisagreeAreNotUsed) {
  const std::string two = A().endpoint() + "," + wrong_->endpoint();

  const auto tried = Run(two, {"campaign", "e", "--try"});

  EXPECT_EQ(tried.exit_code, 7);
  EXPECT_EQ(tried.errors, "tenure: the endpoints belong to different services: " + A().endpoint() +
                              " to " + ServiceOf(A()) + ", " + wrong_->endpoint() + " to " +
                              ServiceOf(*wrong_) + "; set service_id to the right one\n");
  EXPECT_EQ(Leader(A(), "e").term() + Leader(*wrong_, "e").term(), 0u);
}

TEST_P(WrongDatabaseTest, TheServiceCanBePinned) {
  const std::string two = A().endpoint() + "," + wrong_->endpoint();
  const std::string pinned = ServiceOf(*wrong_);

  const auto campaign = Start(two, {"campaign", "e", "--candidate", "a", "--service-id", pinned});

  EXPECT_EQ(campaign->Line(1), "elected: a leads e in term 1");
  EXPECT_EQ(Leader(*wrong_, "e").leader().candidate(), "a");
  EXPECT_EQ(Leader(A(), "e").term(), 0u);
}

TEST_P(WrongDatabaseTest, EveryCommandIsRefusedByAnotherServiceThanThePinnedOne) {
  Campaign(A(), {"e", "a"});
  const std::string pinned = ServiceOf(*wrong_);
  for (std::vector<std::string> command : std::vector<std::vector<std::string>>{
           {"leader", "e"}, {"list"}, {"depose", "e"}, {"campaign", "e", "--try"}}) {
    command.insert(command.end(), {"--service-id", pinned});

    const auto finished = Run(A().endpoint(), command);

    EXPECT_EQ(finished.exit_code, 7) << command.front();
    EXPECT_THAT(finished.errors, HasSubstr(ServiceOf(A()))) << command.front();
  }
  EXPECT_EQ(Leader(A(), "e").leader().candidate(), "a");
}

// A service whose database is replaced under a live client.
class ReplacedServiceTest : public ::testing::Test {
 protected:
  void Replace() {
    server_.Kill();
    for (const char* suffix : {"", "-wal", "-shm"}) {
      std::filesystem::remove(folder_.path() / (std::string("tenure.db") + suffix));
    }
    server_.Start();
  }

  TempDir folder_;
  Tenured server_{"sqlite:" + (folder_.path() / "tenure.db").string()};
};

TEST_F(ReplacedServiceTest, ALeaderStepsDownAndStandsAgainLongBeforeItsLeaseExpires) {
  Diary diary;
  const Client client({.endpoints = server_.endpoint(),
                       .candidate = "a",
                       .lease_ttl = 1h,
                       .log = [&](const LogEntry& entry) { diary.Write(entry.message); }});
  const Elector elector(client, diary.Options("e"));
  diary.WaitFor("elected 1");
  const std::string before = ServiceOf(server_);

  Replace();

  diary.WaitFor("most endpoints belong to service " + ServiceOf(server_) + " now, not to " +
                before + ": the service was replaced");
  diary.WaitFor("lost 1 EXPIRED");
  EXPECT_TRUE(Eventually([&] { return elector.IsLeader(); }));
  EXPECT_EQ(Leader(server_, "e").leader().candidate(), "a");
}

TEST_F(ReplacedServiceTest, APinnedClientStaysAway) {
  Diary diary;
  const std::string before = ServiceOf(server_);
  const Client client({.endpoints = server_.endpoint(),
                       .candidate = "a",
                       .lease_ttl = 1s,
                       .log = [&](const LogEntry& entry) { diary.Write(entry.message); },
                       .service_id = before});
  const Elector elector(client, diary.Options("e"));
  diary.WaitFor("elected 1");

  Replace();

  diary.WaitFor("no endpoint belongs to service " + before + ": " + server_.endpoint() + " to " +
                ServiceOf(server_) + "; correct the endpoints or service_id; still trying");
  EXPECT_EQ(Leader(server_, "e").term(), 0u);
}

TEST_F(ReplacedServiceTest, AnObserverStartsAgainWithSnapshots) {
  const auto session = Campaign(server_, {"e", "a"}).session().session_id();
  Proclaim(server_, session, "e", 1, "v");
  Diary diary;
  const tenure::Observer observer(
      {.endpoints = server_.endpoint(),
       .log = nullptr,
       .names = {"e"},
       .from_revisions = {{"e", 2}},
       .on_snapshot =
           [&](const v1::Snapshot& it) { diary.Write("snapshot " + it.leader().candidate()); },
       .on_event = [&](const v1::Event& it) { diary.Write(std::to_string(it.revision())); },
       .on_service_replaced = [&] { diary.Write("replaced"); }});
  diary.WaitFor("2");

  Replace();
  Campaign(server_, {"e", "b"});

  diary.WaitFor("replaced");
  EXPECT_TRUE(Eventually([&] {
    const std::string line = diary.Lines().back();
    return line == "snapshot b" || line == "1";
  })) << ::testing::PrintToString(diary.Lines());
}

TEST_F(ReplacedServiceTest, ACacheStartsAgain) {
  Campaign(server_, {"e", "a"});
  Campaign(server_, {"gone", "a"});
  const LeaderCache cache({.endpoints = server_.endpoint(), .names = {""}, .prefix = true});
  ASSERT_TRUE(cache.WaitUntilReady(kPatience));
  ASSERT_TRUE(cache.Get("gone").leader);

  Replace();
  Campaign(server_, {"e", "b"});

  EXPECT_TRUE(Eventually([&] {
    const auto seat = cache.Get("e");
    return seat.leader && seat.leader->candidate() == "b";
  }));
  EXPECT_FALSE(cache.Get("gone").leader);
}

}  // namespace
}  // namespace tenure::testing
