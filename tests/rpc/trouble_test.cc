// What goes wrong around a service: processes are killed, restarted and drained, the database goes
// away, calls pile up.
#include <algorithm>
#include <csignal>
#include <fstream>
#include <future>
#include <nlohmann/json.hpp>

#include "tests/contract/raw_sql.h"
#include "tests/rpc/service_fixture.h"

namespace tenure::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using Json = nlohmann::json;

class TroubleTest : public ServiceTest {
 protected:
  std::string Endpoints() {
    return A().endpoint() == B().endpoint() ? A().endpoint()
                                            : A().endpoint() + "," + B().endpoint();
  }

  std::unique_ptr<Process> Tool(std::vector<std::string> arguments) {
    std::vector<std::string> command = {Program("tenure"), "--json", "--endpoint", Endpoints()};
    command.insert(command.end(), arguments.begin(), arguments.end());
    return std::make_unique<Process>(std::move(command));
  }

  // A holder, a waiter and an observer, each a process. After `trouble`, the holder still holds its
  // seat, the waiter its place, and nobody has missed anything.
  void HoldThrough(const std::function<void()>& trouble) {
    const auto observer = Tool({"observe", "e", "--from-revision", "1"});
    const auto holder = Tool({"campaign", "e", "--candidate", "holder", "--ttl", "20s"});
    ASSERT_THAT(holder->Line(1), HasSubstr(R"("event":"elected")"));
    const auto waiter = Tool({"campaign", "e", "--candidate", "waiter", "--ttl", "20s"});
    ASSERT_THAT(waiter->Line(1), HasSubstr(R"("event":"standing")"));
    observer->Line(1);

    trouble();

    const auto leader = Leader(A(), "e");
    EXPECT_EQ(leader.leader().candidate(), "holder");
    EXPECT_EQ(leader.term(), 1u);
    EXPECT_EQ(leader.revision(), 1u);
    EXPECT_TRUE(holder->Running());
    EXPECT_THAT(holder->Lines(), SizeIs(1));
    holder->Signal(SIGTERM);
    EXPECT_EQ(holder->Wait(), 0) << holder->Errors();
    EXPECT_EQ(Json::parse(waiter->Line(2)).at("term"), 2);
    waiter->Signal(SIGTERM);
    EXPECT_EQ(waiter->Wait(), 0) << waiter->Errors();
    const std::vector<std::string> expected = {"ELECTED holder 1", "VACATED holder 1 RESIGNED",
                                               "ELECTED waiter 2", "VACATED waiter 2 RESIGNED"};
    for (size_t i = 0; i < expected.size(); ++i) {
      const Json line = Json::parse(observer->Line(i + 1));
      EXPECT_EQ(line.at("revision"), i + 1);
      std::string text = line.at("type").get<std::string>() + " " +
                         line.at("leader").get<std::string>() + " " +
                         std::to_string(line.at("term").get<int>());
      if (!line.at("cause").is_null()) text += " " + line.at("cause").get<std::string>();
      EXPECT_EQ(text, expected[i]);
    }
    EXPECT_THAT(observer->Lines(), SizeIs(expected.size()));
  }
};

INSTANTIATE_TEST_SUITE_P(Stores, TroubleTest,
                         ::testing::Values(StoreKind::kSqlite, StoreKind::kMariaDb), StoreKindName);

TEST_P(TroubleTest, AKilledServerLosesNothing) {
  HoldThrough([&] {
    for (const auto& server : servers_) server->Kill();
    for (const auto& server : servers_) server->Start();
  });
}

TEST_P(TroubleTest, ARestartedServerLosesNothing) {
  HoldThrough([&] {
    for (const auto& server : servers_) {
      EXPECT_EQ(server->Terminate(), 0);
      server->Start();
    }
  });
}

TEST_P(TroubleTest, AKilledDatabaseLosesNothing) {
  if (GetParam() == StoreKind::kSqlite) GTEST_SKIP() << "its database is the server";
  HoldThrough([&] {
    Database().Kill();
    EXPECT_TRUE(Eventually([&] { return A().Get("/readyz").first == 503; }));
    Database().Start();
    A().WaitUntilReady();
    B().WaitUntilReady();
  });
}

// Managed databases are read-only for some seconds when they fail over.
TEST_P(TroubleTest, AReadOnlyDatabaseIsNotStormed) {
  if (GetParam() == StoreKind::kSqlite) GTEST_SKIP() << "SQLite has no such mode";
  for (int i = 0; i < 10; ++i) {
    const std::string election = "e" + std::to_string(i);
    Campaign(A(), {.election = election, .candidate = "lapses", .lease_ttl = 1s});
    ASSERT_TRUE(Campaign(B(), {.election = election, .candidate = "next"}).has_standing());
  }
  const auto logged = [&](const std::string& text) {
    return (A().process().Errors() + B().process().Errors()).find(text) != std::string::npos;
  };
  const auto ready = [&](Tenured& server) { return server.Get("/readyz").first == 200; };
  const auto connections = [] {
    return std::stoi(
        Database().Ask("SELECT variable_value FROM information_schema.global_status"
                       " WHERE variable_name = 'connections'"));
  };

  Database().Ask("SET GLOBAL read_only = ON");
  const int before = connections();
  EXPECT_TRUE(Eventually([&] { return !ready(A()) && !ready(B()); }));
  Database().Ask("SELECT SLEEP(3)");
  EXPECT_LT(connections() - before, 100);
  EXPECT_FALSE(logged("the store answers again"));
  Database().Ask("SET GLOBAL read_only = OFF");

  EXPECT_TRUE(Eventually([&] { return ready(A()) && ready(B()); }));
  EXPECT_TRUE(Eventually([&] { return logged("the store answers again"); }));
  EXPECT_TRUE(Eventually([&] { return Leader(A(), "e9").leader().candidate() == "next"; }));
}

TEST_P(TroubleTest, TermsDoNotRepeatAcrossRestarts) {
  for (uint64_t term = 1; term <= 3; ++term) {
    const auto leader = Campaign(A(), {"e", "c"});
    EXPECT_EQ(leader.elected().term(), term);
    Resign(A(), leader.session().session_id());
    for (const auto& server : servers_) server->Kill();
    for (const auto& server : servers_) server->Start();
  }
  Observer observer(B(), Election("e", 1));
  EXPECT_THAT(observer.WaitForEvents(6), SizeIs(6));
}

TEST_P(TroubleTest, DrainingSendsWaitingCallsToAnotherReplica) {
  const auto leader = Campaign(A(), {"e", "leader"});
  const auto waiter = Campaign(A(), {"e", "waiter"});
  WaitingCampaign waiting(A(), {"e", "waiter", waiter.session().session_id()});
  Observer observer(A(), Election("e"));
  observer.WaitUntilOpen();
  ASSERT_TRUE(Eventually(
      [&] { return A().Get("/metrics").second.find("tenure_watchers 2") != std::string::npos; }));

  A().process().Signal(SIGTERM);

  EXPECT_EQ(waiting.Status().error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(ReasonOf(waiting.Status()), "DRAINING");
  EXPECT_EQ(ReasonOf(observer.Status()), "DRAINING");
  EXPECT_EQ(A().process().Wait(), 0);
  A().Start();
  EXPECT_EQ(Leader(B(), "e").leader().candidate(), "leader");
  EXPECT_EQ(Campaign(B(), {"e", "", waiter.session().session_id()}).standing().position(), 1u);
}

// 17
TEST_P(TroubleTest, AWipedDatabaseIsUsedAgain) {
  if (GetParam() == StoreKind::kSqlite) GTEST_SKIP() << "its database is the server";
  const auto holder = Tool({"campaign", "e", "--candidate", "holder"});
  holder->Line(1);
  const auto waiter = Tool({"campaign", "e", "--candidate", "waiter"});
  waiter->Line(1);
  Observer observer(A(), Election("e"));
  observer.WaitUntilOpen();

  Database().FreshDatabase("tenure");

  EXPECT_EQ(holder->Wait(), 4);
  EXPECT_EQ(Json::parse(waiter->Line(2)).at("event"), "elected");
  B().WaitUntilReady();
  EXPECT_EQ(Leader(B(), "e").leader().candidate(), "waiter");
  EXPECT_TRUE(Eventually([&] {
    return std::ranges::any_of(observer.Messages(), [](const auto& message) {
      return message.snapshot().reason() == v1::Snapshot::REASON_RESYNC;
    });
  })) << A().process().Errors();
}

TEST_P(TroubleTest, AnObserverOfAPrefixLearnsTheElectionsOfTheNewDatabase) {
  if (GetParam() == StoreKind::kSqlite) GTEST_SKIP() << "its database is the server";
  const auto backup = folder_.path() / "backup";
  Campaign(A(), {.election = "jobs/other", .candidate = "other", .lease_ttl = 1s});
  Database().Dump("tenure", backup);
  const auto service_of = [](Tenured& server) {
    v1::IdentifyResponse response;
    grpc::ClientContext context;
    (void)server.stub().Identify(&context, {}, &response);
    return response.service_id();
  };
  const std::string before = service_of(A());
  Database().FreshDatabase("tenure");
  for (const auto& server : servers_) {
    ASSERT_TRUE(Eventually([&] { return service_of(*server) != before; }));
    server->WaitUntilReady();
  }
  const auto session = Campaign(A(), {.election = "jobs/a", .candidate = "a", .lease_ttl = 1s})
                           .session()
                           .session_id();
  Proclaim(A(), session, "jobs/a", Leader(A(), "jobs/a").term(),
           "so that its lane is further than in the backup");
  Observer observer(B(), Prefix("jobs/"));
  observer.WaitUntilOpen();

  Database().Restore("tenure", backup);

  EXPECT_TRUE(Eventually([&] {
    return std::ranges::any_of(observer.Messages(), [](const auto& message) {
      return message.snapshot().election() == "jobs/other";
    });
  }));
}

TEST_P(TroubleTest, AReplacedDatabaseMakesClientsAskAgainForTheirSeats) {
  if (GetParam() == StoreKind::kSqlite) GTEST_SKIP() << "its database is the server";
  const auto leader = Campaign(A(), {.election = "e", .candidate = "leader", .lease_ttl = 1s});
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + kPatience);
  const auto stream = A().stub().KeepAlive(&context);
  v1::KeepAliveRequest request;
  request.add_session_ids(leader.session().session_id());
  stream->Write(request);
  v1::KeepAliveResponse response;
  ASSERT_TRUE(stream->Read(&response));

  Database().FreshDatabase("tenure");

  while (stream->Read(&response)) continue;
  EXPECT_EQ(ReasonOf(stream->Finish()), "STORE_UNAVAILABLE");
}

// 15
TEST_P(TroubleTest, AClientStartedBeforeTheServiceWinsWhenItComesUp) {
  for (const auto& server : servers_) server->Kill();
  const auto campaign = Tool({"campaign", "e", "--candidate", "early"});
  const auto observer = Tool({"observe", "e"});
  const auto leader = Tool({"leader", "e"});
  EXPECT_TRUE(campaign->Running());

  for (const auto& server : servers_) server->Start();

  EXPECT_THAT(campaign->Line(1), HasSubstr(R"("event":"elected")"));
  EXPECT_THAT(observer->Line(1), HasSubstr("\"election\":\"e\""));
  EXPECT_EQ(leader->Wait(), 0) << leader->Errors();
  campaign->Signal(SIGTERM);
  EXPECT_EQ(campaign->Wait(), 0) << campaign->Errors();
}

TEST_P(TroubleTest, WaitingCallsTakeNoThreadsAndNoConnections) {
  constexpr int kCalls = 1000;  // of each kind
  const auto connections = [] {
    return std::stoi(Database()
                         .Query("SELECT COUNT(*) FROM information_schema.processlist"
                                " WHERE db = 'tenure'")
                         .output);
  };
  Campaign(A(), {"e", "leader"});
  std::vector<std::unique_ptr<WaitingCampaign>> campaigns;
  std::vector<std::unique_ptr<grpc::ClientContext>> contexts;
  std::vector<std::unique_ptr<grpc::ClientReader<v1::ObserveResponse>>> observers;
  const auto park = [&](int count) {
    for (int i = 0; i < count; ++i) {
      campaigns.push_back(std::make_unique<WaitingCampaign>(
          A(), CampaignArguments{"e", "c" + std::to_string(campaigns.size())}));
      contexts.push_back(std::make_unique<grpc::ClientContext>());
      observers.push_back(A().stub().Observe(contexts.back().get(), Election("e")));
    }
    const std::string watchers = "tenure_watchers " + std::to_string(2 * campaigns.size()) + "\n";
    ASSERT_TRUE(Eventually([&] {
      return A().Get("/metrics").second.find(watchers) != std::string::npos;
    })) << A().Get("/metrics").second;
    for (const auto& observer : observers) {
      v1::ObserveResponse response;
      if (&observer >= &observers[observers.size() - static_cast<size_t>(count)]) {
        ASSERT_TRUE(observer->Read(&response));
      }
    }
  };
  park(50);  // gRPC starts its own threads with the first load
  const int threads_before = A().threads();

  park(kCalls - 50);

  const int threads_of_grpc = 4;  // its timers and its executor come and go, whatever the calls
  EXPECT_LE(A().threads(), threads_before + threads_of_grpc);
  RecordProperty("threads_before", threads_before);
  RecordProperty("threads_after", A().threads());
  if (GetParam() == StoreKind::kMariaDb) {
    EXPECT_LE(connections(), 2 * 9);
  }
  for (const auto& campaign : campaigns) EXPECT_FALSE(campaign->Done());
  for (const auto& context : contexts) context->TryCancel();
  for (const auto& observer : observers) (void)observer->Finish();
}

class LonelyTest : public ::testing::Test {
 protected:
  Finished RunTenured(std::vector<std::string> arguments,
                      std::map<std::string, std::string> environment = {}) {
    std::vector<std::string> command = {Program("tenured"), "--listen",
                                        "127.0.0.1:" + std::to_string(FreePort()), "--http-listen",
                                        "127.0.0.1:" + std::to_string(FreePort())};
    command.insert(command.end(), arguments.begin(), arguments.end());
    return RunToEnd(std::move(command), std::move(environment));
  }

  void ExpectOneLine(const Finished& finished, const std::string& what, int exit_code = 1) {
    EXPECT_EQ(finished.exit_code, exit_code);
    EXPECT_THAT(finished.errors, HasSubstr(what));
    std::string complaint;
    std::istringstream lines(finished.errors);
    int complaints = 0;
    while (std::getline(lines, complaint)) complaints += complaint.starts_with("tenured: ");
    EXPECT_EQ(complaints, 1) << finished.errors;
  }

  TempDir folder_;
};

TEST_F(LonelyTest, AnUnavailableDatabaseIsAwaitedAtTheStart) {
  DatabaseServer database;
  const std::string url = database.FreshDatabase("tenure");
  database.Stop();
  Tenured server(url, {}, false);
  ASSERT_TRUE(Eventually([&] { return server.Get("/readyz").first == 503; }));
  EXPECT_EQ(server.Get("/healthz").first, 200);
  ASSERT_TRUE(Eventually([&] {
    return server.process().Errors().find("the store cannot be used yet") != std::string::npos;
  }));

  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + 10s);
  v1::CampaignResponse response;
  const auto status = server.stub().Campaign(&context, ToRequest({"e", "c"}), &response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(ReasonOf(status), "STORE_UNAVAILABLE");

  database.Start();
  server.WaitUntilReady();
  EXPECT_TRUE(Campaign(server, {"e", "c"}).has_elected());
}

TEST_F(LonelyTest, ASignalEndsAServerThatWaitsForItsDatabase) {
  Tenured server("mysql://root@127.0.0.1:" + std::to_string(FreePort()) + "/tenure", {}, false);
  ASSERT_TRUE(Eventually([&] { return server.Get("/healthz").first == 200; }));

  EXPECT_EQ(server.Terminate(), 0);

  EXPECT_THAT(server.process().Errors(), HasSubstr("stopped"));
}

TEST_F(LonelyTest, ASlowReadAtTheEndOfAWaitKeepsThePlace) {
  DatabaseServer database;
  Tenured server(database.FreshDatabase("tenure"));
  Campaign(server, {"e", "leader"});
  const auto waiter = Campaign(server, {"e", "waiter"});
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + 1s);
  auto request = ToRequest({"e", "", waiter.session().session_id()});
  request.clear_wait();
  v1::CampaignResponse response;
  std::promise<grpc::Status> promise;
  server.stub().async()->Campaign(&context, &request, &response,
                                  [&](const grpc::Status& status) { promise.set_value(status); });
  ASSERT_TRUE(Eventually([&] {
    return server.Get("/metrics").second.find("tenure_watchers 1") != std::string::npos;
  }));

  database.process().Signal(SIGSTOP);
  const grpc::Status status = promise.get_future().get();
  database.process().Signal(SIGCONT);

  EXPECT_FALSE(status.ok());
  const auto after = Campaign(server, {"e", "", waiter.session().session_id()});
  EXPECT_EQ(after.standing().position(), 1u);
  const auto behind = Campaign(server, {"e", "behind"});
  EXPECT_EQ(behind.standing().position(), 2u);
}

TEST_F(LonelyTest, AHangingDatabaseIsAnErrorWithinTheDeadline) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the first answer of this kind takes longer than a replica keeps for it";
#endif
  DatabaseServer database;
  Tenured server(database.FreshDatabase("tenure"));
  Campaign(server, {"e", "c"});
  database.process().Signal(SIGSTOP);

  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + 3s);
  v1::LeaderRequest request;
  request.set_election("e");
  v1::LeaderResponse response;
  const auto status = server.stub().Leader(&context, request, &response);

  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(ReasonOf(status), "STORE_UNAVAILABLE");
  EXPECT_TRUE(Eventually([&] { return server.Get("/readyz").first == 503; }));
  database.process().Signal(SIGCONT);
  server.WaitUntilReady();
  EXPECT_EQ(Leader(server, "e").leader().candidate(), "c");
}

TEST_F(LonelyTest, ATooNewOrTooOldSchemaIsRefused) {
  DatabaseServer database;
  const std::string url = database.FreshDatabase("tenure");

  const auto too_old = RunTenured({"--store", url, "--no-migrate"});
  ExpectOneLine(too_old, "tenured migrate --store " + url);
  const auto migrated = RunToEnd({Program("tenured"), "migrate", "--store", url});
  EXPECT_EQ(migrated.exit_code, 0) << migrated.errors;
  EXPECT_TRUE(Campaign(*std::make_unique<Tenured>(url, std::vector<std::string>{"--no-migrate"}),
                       {"e", "c"})
                  .has_elected());
  database.Query("UPDATE tenure.schema_version SET version = 1000");
  ExpectOneLine(RunTenured({"--store", url}), "newer than this program");
  ExpectOneLine(RunToEnd({Program("tenured"), "migrate", "--store", url}),
                "newer than this program");
}

TEST_F(LonelyTest, ADatabaseOfAnotherApplicationIsLeftAloneUnlessItMayBeShared) {
  DatabaseServer database;
  const std::string url = database.FreshDatabase("shop");
  database.Query("CREATE TABLE shop.customers (id INT); CREATE TABLE shop.orders (id INT)");

  for (const auto& how : {std::vector<std::string>{"migrate"}, {}, {"--no-migrate"}}) {
    std::vector<std::string> arguments = how;
    arguments.insert(arguments.end(), {"--store", url});
    ExpectOneLine(RunTenured(arguments),
                  url +
                      " holds tables of another application (customers, orders), so nothing was "
                      "created in it; use an empty database, or allow this one with "
                      "--share-database");
  }
  EXPECT_EQ(database.Ask("SELECT COUNT(*) FROM information_schema.tables"
                         " WHERE table_schema = 'shop'"),
            "2");

  EXPECT_TRUE(
      Campaign(*std::make_unique<Tenured>(url, std::vector<std::string>{"--share-database"}),
               {"e", "c"})
          .has_elected());
  EXPECT_TRUE(Campaign(*std::make_unique<Tenured>(url), {"f", "c"}).has_elected());
}

TEST_F(LonelyTest, ASqliteFileOfAnotherApplicationStaysAsItIs) {
  const TempDir folder;
  const std::string path = folder.path() / "shop.db";
  QueryRows("sqlite:" + path, "CREATE TABLE customers (id INTEGER)");
  const auto content = [&] {
    std::ifstream file(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  const std::string before = content();

  ExpectOneLine(RunTenured({"--store", "sqlite:" + path}),
                "holds tables of another application (customers)");
  ExpectOneLine(RunTenured({"migrate", "--store", "sqlite:" + path}),
                "holds tables of another application (customers)");
  EXPECT_EQ(content(), before);

  const auto migrated = RunTenured({"migrate", "--share-database", "--store", "sqlite:" + path});
  EXPECT_EQ(migrated.exit_code, 0) << migrated.errors;
}

TEST_F(LonelyTest, APortInUseIsAnErrorOfOneLine) {
  Tenured server("sqlite::memory:");
  const std::string free = "127.0.0.1:" + std::to_string(FreePort());

  ExpectOneLine(RunToEnd({Program("tenured"), "--store", "sqlite::memory:", "--http-listen", free,
                          "--listen", server.endpoint()}),
                "cannot listen on " + server.endpoint());
  ExpectOneLine(RunToEnd({Program("tenured"), "--store", "sqlite::memory:", "--listen", free,
                          "--http-listen", server.endpoint()}),
                "cannot listen on " + server.endpoint());
}

TEST_F(LonelyTest, WrongUsageIsOneLineAndExitCode2) {
  const auto expect = [&](const std::vector<std::string>& arguments, const std::string& what) {
    ExpectOneLine(RunTenured(arguments), what, 2);
  };
  expect({"--store", "postgres://x"}, "--store: 'postgres://x' is not a store");
  expect({"--store", "mysql://host/db"}, "the user is missing");
  expect({"--store="}, "--store needs a value that is not empty");
  expect({"--store", "mysql://u@h/d", "--store-password-file", "/nowhere"},
         "--store-password-file: cannot read '/nowhere'");
  expect({"--lease-ttl-min", "soon"}, "'soon' is not a duration");
  expect({"--no-such-flag"}, "unknown flag '--no-such-flag'");
  expect({"--listen", "127.0.0.1:1"}, "--listen is given twice");
  expect({"serve"}, "unknown command 'serve'");
  expect({"--tls-cert", "/nowhere"}, "--tls-cert and --tls-key need each other");
  expect({"--tls-client-ca", "/nowhere"}, "--tls-client-ca needs --tls-cert");
  expect({"--tls-client-certs", "required"}, "needs --tls-client-ca");
  expect({"--tls-client-certs", "7"}, "--tls-client-certs");
  expect({"--log-format", "xml"}, "--log-format");
}

TEST_F(LonelyTest, AFileThatCannotBeOpenedIsAnErrorOfOneLine) {
  ExpectOneLine(RunTenured({"--store", "sqlite:/nowhere/at/all.db"}), "/nowhere/at/all.db");
  ExpectOneLine(
      RunTenured({"--store", "sqlite::memory:", "--tls-cert", "/nowhere", "--tls-key", "/nowhere"}),
      "cannot read /nowhere");
  ExpectOneLine(RunTenured({"--store", "sqlite::memory:", "--policy", "/nowhere"}),
                "cannot read /nowhere");
  ExpectOneLine(
      RunToEnd({Program("tenured"), "--store", "sqlite::memory:", "--http-listen", "nonsense"}),
      "--http-listen: 'nonsense' is not an address; write HOST:PORT, such as 127.0.0.1:7071", 2);
}

TEST_F(LonelyTest, APasswordInTheUrlIsRefusedAndNotRepeated) {
  const auto refused = RunTenured({"--store", "mysql://root:sesame@127.0.0.1/tenure"});

  ExpectOneLine(refused, "TENURE_STORE_PASSWORD", 2);
  EXPECT_EQ(refused.errors.find("sesame"), std::string::npos);
}

TEST_F(LonelyTest, PasswordsComeFromTheEnvironmentOrAFile) {
  DatabaseServer database;
  std::string url = database.FreshDatabase("tenure");
  database.Query(
      "CREATE USER 'tenure'@'%' IDENTIFIED BY 'sesame'; GRANT ALL ON tenure.* TO 'tenure'@'%'");
  url.replace(url.find("root@"), 5, "tenure@");
  const std::string file = (folder_.path() / "password").string();
  ASSERT_EQ(RunToEnd({"sh", "-c", "echo sesame > " + file}).exit_code, 0);

  const auto by_environment = RunToEnd({Program("tenured"), "migrate", "--store", url},
                                       {{"TENURE_STORE_PASSWORD", "sesame"}});
  const auto by_file =
      RunToEnd({Program("tenured"), "migrate", "--store", url, "--store-password-file", file});
  const auto without = RunToEnd({Program("tenured"), "migrate", "--store", url});

  EXPECT_EQ(by_environment.exit_code, 0) << by_environment.errors;
  EXPECT_EQ(by_file.exit_code, 0) << by_file.errors;
  EXPECT_EQ(without.exit_code, 1);
  EXPECT_THAT(without.errors, HasSubstr("1045"));
}

TEST(DrainTest, AReplicaThatNeverReachedItsDatabaseEndsAtOnce) {
  Tenured server("mysql://t@127.0.0.1:" + std::to_string(FreePort()) + "/tenure",
                 {"--drain-timeout", "1h"}, false);
  ASSERT_TRUE(Eventually([&] {
    return server.process().Errors().find("the store cannot be used yet") != std::string::npos;
  }));

  EXPECT_EQ(server.Terminate(), 0);
}

}  // namespace
}  // namespace tenure::testing
