// What a running server logs: one line for each change of leadership, and never a secret.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/rpc/service_fixture.h"

namespace tenure::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

constexpr char kTrace[] = "4bf92f3577b34da6a3ce929d0e0e4736";

class LogTest : public ::testing::Test {
 protected:
  // All lines, each of which has to be an object.
  [[nodiscard]] std::vector<Json> Lines() const {
    std::vector<Json> lines;
    std::istringstream text(server_.process().Errors());
    for (std::string line; std::getline(text, line);) lines.push_back(Json::parse(line));
    return lines;
  }
  // "FROM>TO TERM CAUSE" of each change of leadership.
  [[nodiscard]] std::vector<std::string> Changes() const {
    std::vector<std::string> changes;
    for (const Json& line : Lines()) {
      if (line.at("message") != "leader changed") continue;
      changes.push_back(line.value("from", "") + ">" + line.value("to", "") + " " +
                        std::to_string(line.at("term").get<int>()) + " " +
                        line.value("cause", "-"));
    }
    return changes;
  }

  mutable Tenured server_{"sqlite::memory:", {"--log-format", "json"}};
};

TEST_F(LogTest, EachChangeOfLeadershipIsOneLine) {
  const auto first = Campaign(server_, {.election = "e", .candidate = "a"});
  const auto second = Campaign(server_, {.election = "e", .candidate = "b"});
  Resign(server_, first.session().session_id(), "e");
  Resign(server_, second.session().session_id(), "e");

  EXPECT_TRUE(Eventually([&] { return Changes().size() == 3; }));
  EXPECT_THAT(Changes(), ElementsAre(">a 1 -", "a>b 2 RESIGNED", "b> 2 RESIGNED"));
}

TEST_F(LogTest, AChangeHasTheTraceOfTheCallThatMadeIt) {
  const auto leader = Campaign(server_, {.election = "e", .candidate = "a"});
  grpc::ClientContext context;
  context.AddMetadata("traceparent", std::string("00-") + kTrace + "-00f067aa0ba902b7-01");
  v1::ResignRequest request;
  request.set_session_id(leader.session().session_id());
  v1::ResignResponse response;

  ASSERT_TRUE(server_.stub().Resign(&context, request, &response).ok());

  EXPECT_TRUE(Eventually([&] { return Changes().size() == 2; }));
  const auto lines = Lines();
  EXPECT_FALSE(lines[lines.size() - 2].contains("trace"));
  EXPECT_EQ(lines.back().at("trace"), kTrace);
}

TEST_F(LogTest, TheLogHoldsNoSecret) {
  const std::string request_id = "a secret request id";
  const auto leader = Campaign(
      server_,
      {.election = "e", .candidate = "a", .value = "a secret value", .request_id = request_id});
  Proclaim(server_, leader.session().session_id(), "e", 1, "another secret value");
  Resign(server_, leader.session().session_id());

  EXPECT_TRUE(Eventually([&] { return Changes().size() == 2; }));
  EXPECT_THAT(server_.process().Errors(), Not(HasSubstr("secret")));
  EXPECT_THAT(server_.process().Errors(), Not(HasSubstr(leader.session().session_id())));
}

TEST(LogLevelTest, LowerLevelsAreNotLogged) {
  Tenured server("sqlite::memory:", {"--log-level", "warning"});

  EXPECT_EQ(server.Terminate(), 0);

  EXPECT_EQ(server.process().Errors(), "");
}

// Standard error is a full pipe that nobody reads, as of `tenured 2>&1 | less` while the pager
// waits for a key.
class LogPipeTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
    pipe_ = open(path_.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
    ASSERT_GE(pipe_, 0);
    while (write(pipe_, "x", 1) == 1) continue;
  }
  void TearDown() override { close(pipe_); }

  [[nodiscard]] Host Unread() const {
    return {.enter = {"sh", "-c", "exec \"$@\" 2>\"$0\"", path_}};
  }

  const TempDir folder_;
  const std::string path_ = folder_.path() / "log";
  int pipe_ = -1;
};

TEST_F(LogPipeTest, AReplicaServesAndStops) {
  Tenured server("sqlite::memory:", {}, true, Unread());

  EXPECT_EQ(Campaign(server, {.election = "e", .candidate = "a"}).elected().term(), 1U);
  EXPECT_EQ(server.Terminate(), 0);
}

TEST_F(LogPipeTest, AReplicaThatCannotServeEnds) {
  Process server(
      Unread().CommandLine({Program("tenured"), "--store", "sqlite:/no/such/folder/db"}));

  EXPECT_EQ(server.Wait(), 1);
}

TEST_F(LogPipeTest, TenureRunRunsItsCommand) {
  const Tenured server("sqlite::memory:");
  Process run(Unread().CommandLine(
      {Program("tenure"), "--endpoint", server.endpoint(), "run", "e", "--", "echo", "it runs"}));

  EXPECT_EQ(run.Wait(), 0);
  EXPECT_EQ(run.Output(), "it runs\n");
}

TEST_F(LogPipeTest, ACommandPrintsItsResult) {
  Process migrate(Unread().CommandLine(
      {Program("tenured"), "migrate", "--store", "sqlite:" + (folder_.path() / "db").string()}));

  EXPECT_EQ(migrate.Wait(), 0);
  EXPECT_THAT(migrate.Output(), HasSubstr("is up to date"));
}

}  // namespace
}  // namespace tenure::testing
