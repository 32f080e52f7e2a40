// The image at work: unprivileged, read-only, on a real database.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>

#include <csignal>

#include "tests/image/podman.h"
#include "tests/support/database_server.h"

namespace tenure::testing {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using Json = nlohmann::json;

class ImageRunTest : public ::testing::Test {
 protected:
  // A tenured on the embedded store in memory, or on another one.
  std::unique_ptr<Container> Serve(const std::string& store = "sqlite::memory:",
                                   std::vector<std::string> options = {}) {
    for (const std::string& option : Listening()) options.push_back(option);
    auto server = std::make_unique<Container>(options, std::vector{"--store=" + store});
    EXPECT_TRUE(Eventually([&] { return Get("/readyz") == 200; })) << server->process().Errors();
    return server;
  }
  // The image's own command line tool, in a container beside it.
  std::vector<std::string> ToolOptions() const {
    return {"--entrypoint=tenure", "--env=TENURE_ENDPOINTS=127.0.0.1:" + std::to_string(port_)};
  }
  // Where the server listens; also for what asks it.
  std::vector<std::string> Listening() const {
    return {"--env=TENURE_LISTEN=127.0.0.1:" + std::to_string(port_),
            "--env=TENURE_HTTP_LISTEN=127.0.0.1:" + std::to_string(http_port_)};
  }
  // The status of a page; 0 if there was no answer.
  int Get(const std::string& path) const {
    httplib::Client client("127.0.0.1", http_port_);
    const auto response = client.Get(path);
    return response ? response->status : 0;
  }

  const int port_ = FreePort();
  const int http_port_ = FreePort();
};

TEST_F(ImageRunTest, TheImageElectsALeaderOnMariaDB) {
  DatabaseServer database;
  const auto server = Serve(database.FreshDatabase("tenure"));

  Container alice(ToolOptions(), {"--json", "campaign", "orders", "--candidate", "alice"});
  const Json elected = Json::parse(alice.process().Line(1));
  const Finished led = RunContainer(ToolOptions(), {"--json", "leader", "orders"});
  alice.process().Signal(SIGTERM);
  const int resigned = alice.process().Wait();
  const Finished vacant = RunContainer(ToolOptions(), {"--json", "leader", "orders"});

  EXPECT_EQ(elected.at("event"), "elected");
  EXPECT_EQ(Json::parse(led.output).at("leader"), "alice") << led.errors;
  EXPECT_EQ(resigned, 0) << alice.process().Errors();
  EXPECT_EQ(Json::parse(vacant.output).at("leader"), Json()) << vacant.errors;
  EXPECT_EQ(database.Query("SELECT candidate FROM tenure.terms").output, "alice\n");
}

TEST_F(ImageRunTest, TheToolRunsACommandWhileItLeads) {
  const auto server = Serve();

  const Finished ran = RunContainer(ToolOptions(), {"run", "--wait", "30s", "orders", "--",
                                                    "tenure", "--json", "leader", "orders"});

  EXPECT_EQ(ran.exit_code, 0) << ran.errors;
  EXPECT_THAT(ran.output, HasSubstr(R"("term":1)"));
}

TEST_F(ImageRunTest, TheContainerIsUnprivilegedAndItsRootIsReadOnly) {
  const auto server = Serve();

  const std::string status = server->Proc("status");
  const std::string mounts = server->Proc("mounts");

  EXPECT_THAT(status, HasSubstr("\nUid:\t65532\t65532\t65532\t65532\n"));
  EXPECT_THAT(status, HasSubstr("\nGid:\t65532\t65532\t65532\t65532\n"));
  EXPECT_THAT(status, HasSubstr("\nCapPrm:\t0000000000000000\n"));
  EXPECT_THAT(status, HasSubstr("\nNoNewPrivs:\t1\n"));
  EXPECT_THAT(mounts, ContainsRegex("(^|\n)[^ ]+ / [^ ]+ ro,"));
}

TEST_F(ImageRunTest, TheLibrariesAreComplete) {
  for (const char* program : {"tenured", "tenure"}) {
    const Finished finished =
        RunContainer({"--env=LD_BIND_NOW=1", std::string("--entrypoint=") + program}, {"--help"});
    EXPECT_EQ(finished.exit_code, 0) << finished.errors;
    EXPECT_EQ(finished.errors, "");
  }
}

TEST_F(ImageRunTest, TheServerHasGrpcWithOurPatches) {
  const Finished printed = RunContainer({}, {"--version"});

  EXPECT_THAT(printed.output, EndsWith("\ngRPC 1.56.2 (patched)\n"));
}

TEST_F(ImageRunTest, TheHealthCheckSeesWhetherTheServerServes) {
  const auto server = Serve();
  const int while_it_serves = server->CheckHealth();
  server->process().Signal(SIGTERM);
  server->process().Wait();

  const Finished afterwards = RunContainer(Listening(), {"healthcheck"});

  EXPECT_EQ(while_it_serves, 0);
  EXPECT_EQ(afterwards.exit_code, 1);
  EXPECT_THAT(afterwards.errors, HasSubstr("does not answer"));
}

TEST_F(ImageRunTest, AServerThatHangsIsNotHealthy) {
  const auto server = Serve();

  server->SignalProgram(SIGSTOP);

  EXPECT_EQ(server->CheckHealth(), 1);
}

TEST_F(ImageRunTest, ASignalDrainsTheServer) {
  const auto server = Serve();

  server->process().Signal(SIGTERM);

  EXPECT_EQ(server->process().Wait(), 0);
  EXPECT_THAT(server->process().Errors(), AllOf(HasSubstr("draining"), HasSubstr("stopped")));
}

TEST_F(ImageRunTest, TheEmbeddedStoreOnlyNeedsAVolume) {
  const std::string volume = "tenure-test-" + std::to_string(port_);
  std::vector<std::string> on_a_volume = Listening();
  on_a_volume.push_back("--volume=" + volume + ":/var/lib/tenure");

  const auto refused = RunContainer(Listening(), {});
  {
    Container server(on_a_volume, {});
    EXPECT_TRUE(Eventually([&] { return Get("/readyz") == 200; })) << server.process().Errors();
  }
  Podman({"volume", "rm", volume});

  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.errors, HasSubstr("tenure.db"));
}

}  // namespace
}  // namespace tenure::testing
