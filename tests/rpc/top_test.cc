// `tenure top` as an operator sees it, at a terminal of its own.
#include <gmock/gmock.h>
#include <grpcpp/generic/async_generic_service.h>

#include <csignal>

#include "tests/rpc/tool.h"
#include "tests/support/pseudo_terminal.h"

namespace tenure::testing {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

constexpr char kEscape[] = "\x1b";

class TopTest : public ::testing::Test {
 protected:
  PseudoTerminal Start(std::vector<std::string> arguments = {}, size_t columns = 80,
                       size_t rows = 24) {
    arguments.insert(arguments.begin(), "top");
    return {ToolCommand(std::move(arguments)), ToolEnvironment(server_), columns, rows};
  }

  // The terminal is as it was before.
  static void ExpectGivenBack(PseudoTerminal& terminal) {
    EXPECT_TRUE(Eventually([&] { return !terminal.Screen().alternate(); }));
    EXPECT_TRUE(terminal.Screen().cursor_visible());
    EXPECT_TRUE(terminal.Modes().c_lflag & ICANON);
    EXPECT_TRUE(terminal.Modes().c_lflag & ECHO);
    EXPECT_TRUE(terminal.Modes().c_lflag & ISIG);
    EXPECT_THAT(terminal.Screen().unknown(), IsEmpty());
  }

  TempDir folder_;
  Tenured server_{"sqlite:" + (folder_.path() / "tenure.db").string()};
};

TEST_F(TopTest, ElectionsAndTheirChangesAreShown) {
  const auto leader = Campaign(server_, {"orders", "alice"}).session().session_id();
  PseudoTerminal terminal = Start();
  ASSERT_TRUE(terminal.Shows("1 election: 1 led, 0 vacant"));
  EXPECT_TRUE(terminal.Shows("orders    alice      1"));
  ASSERT_TRUE(terminal.Shows("none so far"));  // it observes: no change is missed from now on

  Resign(server_, leader, "orders");
  EXPECT_TRUE(terminal.Shows("orders  VACATED alice, term 1: RESIGNED"));
  EXPECT_TRUE(terminal.Shows("orders    -          1"));

  Campaign(server_, {"orders", "bob"});
  EXPECT_TRUE(terminal.Shows("orders  ELECTED bob, term 2"));
  EXPECT_TRUE(terminal.Shows("orders    bob        2"));
}

TEST_F(TopTest, AnythingUnusualIsShown) {
  Campaign(server_, {"orders", "alice"});
  Campaign(server_, {"orders", "bob"});
  PseudoTerminal terminal = Start();
  ASSERT_TRUE(terminal.Shows("1 candidate waiting"));
  ASSERT_TRUE(terminal.Shows("none so far"));

  ASSERT_EQ(RunTool(server_, {"pause", "orders"}).exit_code, 0);
  EXPECT_TRUE(terminal.Shows("1 paused"));

  ASSERT_EQ(RunTool(server_, {"appoint", "orders", "bob"}).exit_code, 0);
  EXPECT_TRUE(terminal.Shows("paused, handover to bob"));
  EXPECT_TRUE(terminal.Shows("HANDOVER_ASKED alice, term 1: for bob"));
}

TEST_F(TopTest, OnlyElectionsOfAPrefixAreShown) {
  Campaign(server_, {"jobs/a", "x"});
  Campaign(server_, {"other", "x"});

  PseudoTerminal terminal = Start({"jobs/"});

  EXPECT_TRUE(terminal.Shows("1 election: 1 led"));
  EXPECT_THAT(terminal.Screen().Rows(), Not(Contains(StartsWith("other"))));
}

TEST_F(TopTest, QRestoresTheTerminal) {
  PseudoTerminal terminal = Start();
  ASSERT_TRUE(terminal.Shows("no elections"));
  ASSERT_TRUE(terminal.Screen().alternate());
  ASSERT_FALSE(terminal.Modes().c_lflag & ICANON);

  terminal.Type("q");

  EXPECT_EQ(terminal.process().Wait(), 0);
  ExpectGivenBack(terminal);
}

TEST_F(TopTest, CtrlCRestoresTheTerminal) {
  PseudoTerminal terminal = Start();
  ASSERT_TRUE(terminal.Shows("no elections"));

  terminal.Type("\x03");

  EXPECT_EQ(terminal.process().Wait(), 0);
  ExpectGivenBack(terminal);
}

TEST_F(TopTest, ASignalRestoresTheTerminal) {
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) {
    PseudoTerminal terminal = Start();
    ASSERT_TRUE(terminal.Shows("no elections"));

    terminal.process().Signal(number);

    EXPECT_EQ(terminal.process().Wait(), 0);
    ExpectGivenBack(terminal);
  }
}

TEST_F(TopTest, AnErrorIsReadableAfterTheTerminalIsRestored) {
  // A server of gRPC, but not of Tenure.
  const std::string endpoint = "127.0.0.1:" + std::to_string(FreePort());
  grpc::CallbackGenericService refuses_all;
  grpc::ServerBuilder builder;
  builder.AddListeningPort(endpoint, grpc::InsecureServerCredentials());
  builder.RegisterCallbackGenericService(&refuses_all);
  const auto other = builder.BuildAndStart();

  PseudoTerminal terminal = Start({"--endpoint", endpoint});

  EXPECT_EQ(terminal.process().Wait(), 7);
  ExpectGivenBack(terminal);
  EXPECT_TRUE(terminal.Shows("tenure: " + endpoint + ": it speaks gRPC, but does not know"));
}

TEST_F(TopTest, TheScreenSurvivesARestartOfTheServer) {
  const auto alice = Campaign(server_, {"orders", "alice"});
  PseudoTerminal terminal = Start();
  ASSERT_TRUE(terminal.Shows("orders    alice"));

  server_.Kill();
  EXPECT_TRUE(terminal.Shows("DISCONNECTED for"));
  EXPECT_TRUE(terminal.Shows("orders    alice"));

  server_.Start();
  EXPECT_TRUE(terminal.Hides("DISCONNECTED"));
  Campaign(server_, {"payments", "bob"});
  EXPECT_TRUE(terminal.Shows("payments  bob"));
  Resign(server_, alice.session().session_id(), "orders");
  EXPECT_TRUE(terminal.Shows("orders  VACATED alice, term 1: RESIGNED"));
}

TEST_F(TopTest, TheScreenFillsATerminalOfAnySize) {
  for (int i = 0; i < 50; ++i) Campaign(server_, {"e" + std::to_string(100 + i), "x"});
  PseudoTerminal terminal = Start();
  ASSERT_TRUE(terminal.Shows("1-14 of 50"));

  terminal.Resize(140, 40);
  EXPECT_TRUE(terminal.Shows("1-26 of 50"));
  EXPECT_THAT(terminal.Screen().Rows().back(), SizeIs(140));

  terminal.Resize(30, 8);
  EXPECT_TRUE(Eventually([&] { return terminal.Screen().Rows()[3].starts_with("e100"); }));
}

TEST_F(TopTest, TheListCanBeScrolledAndFiltered) {
  for (int i = 0; i < 50; ++i) Campaign(server_, {"e" + std::to_string(100 + i), "x"});
  PseudoTerminal terminal = Start();
  ASSERT_TRUE(terminal.Shows("1-14 of 50"));

  terminal.Type("\x1b[6~j");
  EXPECT_TRUE(terminal.Shows("16-29 of 50"));

  terminal.Type("/E13");
  EXPECT_TRUE(terminal.Shows("10 elections: 10 led"));
  EXPECT_TRUE(terminal.Shows("/E13_"));

  terminal.Type(kEscape);
  EXPECT_TRUE(terminal.Shows("50 elections"));
}

TEST_F(TopTest, WithoutATerminalOneTableIsPrinted) {
  Campaign(server_, {"orders", "alice"});

  const auto piped = RunTool(server_, {"top"});

  EXPECT_EQ(piped.exit_code, 0);
  EXPECT_THAT(piped.output, StartsWith("ELECTION  LEADER"));
  EXPECT_THAT(piped.output, HasSubstr("orders    alice      1"));
  EXPECT_THAT(piped.output, Not(HasSubstr(kEscape)));
  EXPECT_THAT(RunTool(server_, {"top", "--json"}).output, StartsWith(R"({"election":"orders")"));
}

}  // namespace
}  // namespace tenure::testing
