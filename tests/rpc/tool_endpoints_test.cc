// What the tool says about endpoints that cannot be used: one line, with the endpoint and the
// cause.
#include <gmock/gmock.h>

#include <fstream>

#include "tests/rpc/service_fixture.h"
#include "tests/rpc/tool.h"
#include "tests/support/certificates.h"
#include "tests/support/loopback.h"

namespace tenure::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::StartsWith;

constexpr char kNobody[] = "127.0.0.1:1";

struct WrongEndpoint {
  std::string endpoint;
  std::vector<std::string> flags;
  std::string cause;  // a part of it
};

// Each case takes seconds, so they run side by side.
class WrongEndpointsTest : public ::testing::Test {
 protected:
  std::string Write(const std::string& name, const std::string& content) {
    const auto path = folder_.path() / name;
    std::ofstream(path) << content;
    return path;
  }

  // A server with a certificate for these names, and flags besides.
  Tenured& ServerWith(const std::string& name, const std::string& san,
                      std::chrono::seconds valid_for = 1h, std::vector<std::string> flags = {}) {
    const KeyPair pair = authority_.Issue(name, san, valid_for);
    flags.insert(flags.end(), {"--tls-cert", Write(name + ".pem", pair.certificate), "--tls-key",
                               Write(name + ".key", pair.key)});
    return *servers_.emplace_back(std::make_unique<Tenured>("sqlite::memory:", flags));
  }

  std::unique_ptr<Process> Start(const WrongEndpoint& wrong, std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"--endpoint", wrong.endpoint});
    arguments.insert(arguments.begin(), wrong.flags.begin(), wrong.flags.end());
    return std::make_unique<Process>(ToolCommand(std::move(arguments)));
  }

  using Command = std::vector<std::string>;

  // Runs each command with each wrong endpoint, and expects one line that names the endpoint and
  // the cause.
  void ExpectOneLine(const std::vector<WrongEndpoint>& cases,
                     const std::vector<Command>& commands) {
    struct Run {
      WrongEndpoint wrong;
      Command command;
      std::unique_ptr<Process> process;
    };
    std::vector<Run> runs;
    for (const WrongEndpoint& wrong : cases) {
      for (const Command& command : commands)
        runs.push_back({wrong, command, Start(wrong, command)});
    }
    for (const Run& run : runs) {
      SCOPED_TRACE(run.wrong.cause + " " + ::testing::PrintToString(run.command));
      EXPECT_EQ(run.process->Wait(), 7);
      EXPECT_THAT(run.process->Errors(),
                  AllOf(StartsWith("tenure: cannot use " + run.wrong.endpoint + ": "),
                        HasSubstr(run.wrong.cause), MatchesRegex("[^\n]*\n")));
      EXPECT_THAT(run.process->Lines(), IsEmpty());
    }
  }

  TempDir folder_;
  CertificateAuthority authority_{"good"};
  std::string ca_ = Write("ca.pem", authority_.certificate());
  std::string other_ca_ = Write("other-ca.pem", CertificateAuthority("other").certificate());
  std::vector<std::unique_ptr<Tenured>> servers_;
};

TEST_F(WrongEndpointsTest, TheToolNamesTheEndpointAndTheCauseInOneLine) {
  Tenured plain("sqlite::memory:");
  const std::string tls = ServerWith("right", "IP:127.0.0.1").endpoint();
  const std::string wrong_name = ServerWith("elsewhere", "DNS:elsewhere").endpoint();
  const std::string expired = ServerWith("expired", "IP:127.0.0.1", -1h).endpoint();
  const std::string strict = ServerWith("strict", "IP:127.0.0.1", 1h,
                                        {"--tls-client-ca", ca_, "--tls-client-certs", "required"})
                                 .endpoint();
  const DatabaseServer database;
  const int silent = loopback::Listen();

  ExpectOneLine({{kNobody, {}, "connection refused"},
                 {"nobody.invalid:7070", {}, "no such host"},
                 {plain.http_endpoint(), {}, "HTTP, not gRPC"},
                 {database.address(), {}, "it does not speak gRPC; is it a database's port?"},
                 {"127.0.0.1:" + std::to_string(loopback::PortOf(silent)), {}, "no answer"},
                 {tls, {}, "it closed the connection at once; does it want TLS?"},
                 {plain.endpoint(), {"--tls"}, "it does not speak TLS"},
                 {plain.endpoint(), {"--tls-ca", ca_}, "it does not speak TLS"},
                 {expired, {"--tls-ca", ca_}, "its certificate expired on "},
                 {tls, {"--tls-ca", other_ca_}, "its certificate is not signed by a trusted CA"},
                 {wrong_name, {"--tls-ca", ca_}, "its certificate is for another host name"},
                 {strict, {"--tls-ca", ca_}, "does it ask for a client certificate?"}},
                {{"leader", "e"}});
  close(silent);
}

TEST_F(WrongEndpointsTest, ATlsFileThatCannotBeUsedIsWrongUsage) {
  const std::string key = Write("right.key", authority_.Issue("right", "IP:127.0.0.1").key);
  for (const auto& [flags, fault] : std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"--tls-ca", "/nowhere"}, "cannot read /nowhere"},
           {{"--tls-ca", "/dev/null"}, "/dev/null holds no certificate"},
           {{"--tls-ca", "/"}, "/ holds no certificate"},
           {{"--tls-cert", "/dev/null", "--tls-key", key}, "/dev/null holds no certificate"},
           {{"--tls-cert", ca_, "--tls-key", "/dev/null"}, "/dev/null holds no private key"}}) {
    for (const std::vector<std::string>& command :
         {std::vector<std::string>{"leader", "e"}, {"run", "e", "--", "true"}, {"status"}}) {
      const auto process = Start({kNobody, flags, fault}, command);

      EXPECT_EQ(process->Wait(), 2);
      EXPECT_THAT(process->Errors(), StartsWith("tenure: " + fault));
      EXPECT_THAT(process->Errors(), MatchesRegex("[^\n]*\n"));
    }
  }
}

TEST_F(WrongEndpointsTest, EveryCommandHasOneExitCodeForUnavailable) {
  ExpectOneLine({{kNobody, {}, "connection refused"}},
                {{"list"},
                 {"describe", "e"},
                 {"history", "e"},
                 {"sessions"},
                 {"depose", "e"},
                 {"pause", "e"},
                 {"end-session", "0123456789abcdef"},
                 {"purge", "--unused-for", "24h"},
                 {"campaign", "e", "--try"},
                 {"campaign", "e", "f", "--try"},
                 {"campaign", "e", "--wait", "1s"},
                 {"run", "e", "--try", "--", "true"},
                 {"run", "e", "--wait", "1s", "--", "true"}});
}

// gRPC itself would end the process, though the certificate's authority is trusted.
TEST_F(WrongEndpointsTest, AServerWhoseCertificateIsFaultyIsRefused) {
  const KeyPair pair = authority_.Issue("faulty", "DER:30:07:87:05:01:02:03:04:05");
  const std::string port = std::to_string(FreePort());
  Process impostor({"openssl", "s_server", "-www", "-accept", port, "-alpn", "h2", "-cert",
                    Write("faulty.pem", pair.certificate), "-key", Write("faulty.key", pair.key)});
  ASSERT_TRUE(Eventually([&] { return impostor.Output().find("ACCEPT") != std::string::npos; }));

  ExpectOneLine({{"127.0.0.1:" + port,
                  {"--tls-ca", ca_},
                  "its certificate cannot be used: it has an IP address of 5 bytes"}},
                {{"leader", "e"}});
}

TEST_F(WrongEndpointsTest, WaitingCommandsDiagnoseTheCertificate) {
  const std::string expired = ServerWith("expired", "IP:127.0.0.1", -1h).endpoint();

  ExpectOneLine({{expired, {"--tls-ca", ca_}, "its certificate expired on "}},
                {{"campaign", "e", "--wait", "1s"}});
}

TEST_F(WrongEndpointsTest, EachEndpointHasItsOwnCause) {
  const auto finished =
      RunToEnd(ToolCommand({"leader", "e", "--endpoint", "127.0.0.1:1,nobody.invalid:7070"}));

  EXPECT_EQ(finished.exit_code, 7);
  EXPECT_EQ(finished.errors,
            "tenure: cannot use 127.0.0.1:1: connection refused; nobody.invalid:7070: no such "
            "host; see `tenure status`\n");
}

TEST_F(WrongEndpointsTest, AProxyForTheWebIsNotUsed) {
  Tenured server("sqlite::memory:");

  const auto finished = RunToEnd(ToolCommand({"leader", "e", "--endpoint", server.endpoint()}),
                                 {{"http_proxy", "http://127.0.0.1:1"},
                                  {"https_proxy", "http://127.0.0.1:1"},
                                  {"grpc_proxy", "http://127.0.0.1:1"}});

  EXPECT_EQ(finished.exit_code, 0) << finished.errors;
}

TEST_F(WrongEndpointsTest, WaitingCommandsReportTroubleOnceAndItsEndOnce) {
  Tenured server("sqlite::memory:");
  server.Kill();
  const std::string endpoint = server.endpoint();
  const std::string trouble =
      "tenure: cannot use " + endpoint + ": connection refused; still trying\n";
  Process campaign(ToolCommand({"campaign", "e", "--candidate", "a", "--endpoint", endpoint}));
  Process observer(ToolCommand({"observe", "e", "--endpoint", endpoint}));
  for (const Process* process : {&campaign, &observer}) {
    EXPECT_TRUE(Eventually([&] { return process->Errors() == trouble; })) << process->Errors();
  }

  server.Start();

  for (Process* process : {&campaign, &observer}) {
    process->Line(1);
    EXPECT_TRUE(Eventually([&] { return process->Errors().ends_with("s\n"); }));
    EXPECT_THAT(process->Errors(), StartsWith(trouble + "tenure: " + endpoint + " answers after "));
  }
  EXPECT_EQ(campaign.Line(1), "elected: a leads e in term 1");
}

TEST_F(WrongEndpointsTest, ADatabaseThatIsAwayIsNamedWithTheCause) {
  DatabaseServer database;
  Tenured cut_off(database.FreshDatabase("tenure"));
  database.Kill();
  Tenured waiting("mysql://root@" + database.address() + "/tenure", {}, false);
  // Both have noticed.
  ASSERT_TRUE(Eventually([&] { return cut_off.Get("/readyz").first == 503; }));
  ASSERT_TRUE(Eventually([&] {
    return waiting.process().Errors().find("the store cannot be used yet") != std::string::npos;
  }));
  const std::string cause =
      "the service runs, but cannot reach its database: " + database.address() +
      ": connection refused, or no route to the host (error 2002)";

  ExpectOneLine(
      {{cut_off.endpoint(), {}, cause}, {waiting.endpoint(), {}, cause}},
      {{"leader", "e"}, {"campaign", "e", "--try"}, {"run", "e", "--wait", "1s", "--", "true"}});
}

}  // namespace
}  // namespace tenure::testing
