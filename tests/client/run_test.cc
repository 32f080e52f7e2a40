// Scenario 21: `tenure run` starts a command only while it leads, and ends it before anybody else
// is elected.
#include <csignal>
#include <fstream>

#include "tests/client/elector_fixture.h"
#include "tests/rpc/tool.h"

namespace tenure::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// Writes the time in ns, again and again.
constexpr char kClock[] = "while :; do date +%s%N; sleep 0.02; done";
constexpr char kStubbornClock[] = "trap '' TERM; while :; do date +%s%N; sleep 0.02; done";

class RunTest : public ElectorTest {
 protected:
  std::unique_ptr<Process> Start(Tenured& server, const std::string& candidate,
                                 std::vector<std::string> flags, const std::string& script) {
    std::vector<std::string> arguments = {"run", "e", "--candidate", candidate};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    arguments.insert(arguments.end(), {"--", "sh", "-c", script});
    return StartTool(server, std::move(arguments));
  }
  void WaitUntilOneWaits() {
    EXPECT_TRUE(Eventually([&] { return Describe(B(), "e").queue_size() == 1; }));
  }
  // Whichever leads: a slow machine may be in its second term.
  void DeposeLeader() {
    v1::DeposeRequest request;
    request.set_election("e");
    request.set_term(Leader(B(), "e").term());
    v1::DeposeResponse response;
    grpc::ClientContext context;
    EXPECT_TRUE(B().admin().Depose(&context, request, &response).ok());
  }
  static bool Lives(const std::string& pid) { return kill(std::stoi(pid), 0) == 0; }
  static bool Stopped(pid_t pid) {
    std::string text;
    std::getline(std::ifstream("/proc/" + std::to_string(pid) + "/stat"), text);
    return text.find(") T ") != std::string::npos;
  }
  static int64_t LastTime(const Process& process) { return std::stoll(process.Lines().back()); }
};

INSTANTIATE_TEST_SUITE_P(Stores, RunTest,
                         ::testing::Values(StoreKind::kSqlite, StoreKind::kMariaDb), StoreKindName);

TEST_P(RunTest, TheCommandKnowsItsTermAndItsExitCodeIsReturned) {
  const auto run =
      Start(A(), "a", {}, "echo $TENURE_ELECTION $TENURE_TERM $TENURE_CANDIDATE; exit 5");

  EXPECT_EQ(run->Wait(), 5);

  EXPECT_THAT(run->Lines(), ElementsAre("e 1 a"));
  EXPECT_TRUE(Eventually([&] { return LeaderOf("e").empty(); }));
}

TEST_P(RunTest, TheSecondCandidateRunsWhenTheFirstHasEnded) {
  const auto first = Start(A(), "a", {}, "echo begins; sleep 1000");
  first->Line(1);
  const auto second = Start(B(), "b", {}, "echo $TENURE_TERM");
  WaitUntilOneWaits();
  EXPECT_THAT(second->Lines(), IsEmpty());

  first->Signal(SIGTERM);

  EXPECT_EQ(first->Wait(), 128 + SIGTERM);
  EXPECT_EQ(second->Wait(), 0);
  EXPECT_THAT(second->Lines(), ElementsAre("2"));
}

TEST_P(RunTest, AGraceThatTheLeaseDoesNotAllowIsReported) {
  const auto cut = Start(A(), "a", {"--ttl", "10s", "--grace", "8s"}, "true");
  EXPECT_EQ(cut->Wait(), 0);
  const auto allowed = Start(A(), "a", {"--ttl", "10s", "--grace", "5s"}, "true");
  EXPECT_EQ(allowed->Wait(), 0);

  EXPECT_THAT(cut->Errors(),
              HasSubstr("tenure: --grace is 5s instead of 8s: the maximum is half of "
                        "the lease, which is 10s\n"));
  EXPECT_THAT(allowed->Errors(), Not(HasSubstr("--grace")));
}

TEST_P(RunTest, SignalsAreForwarded) {
  const auto run =
      Start(A(), "a", {},
            "trap 'echo usr1' USR1; trap 'echo usr2' USR2; trap 'echo term; exit 7' TERM;"
            "echo ready; while :; do sleep 0.02; done");
  run->Line(1);

  run->Signal(SIGUSR1);
  EXPECT_EQ(run->Line(2), "usr1");
  run->Signal(SIGUSR2);
  EXPECT_EQ(run->Line(3), "usr2");
  run->Signal(SIGTERM);

  EXPECT_EQ(run->Wait(), 7);
  EXPECT_EQ(run->Line(4), "term");
}

TEST_P(RunTest, ADeposedLeaderEndsItsCommandAndSaysSo) {
  const auto run = Start(A(), "a", {"--ttl", "3s"},
                         "trap 'echo term; exit 7' TERM; echo ready; while :; do sleep 0.02; done");
  run->Line(1);
  // The second renewal is sent once the first is answered: the stream is open, and carries the
  // cause.
  WaitForRenewals(2);

  DeposeLeader();

  EXPECT_EQ(run->Wait(), 4);
  EXPECT_THAT(run->Lines(), ElementsAre("ready", "term"));
  EXPECT_THAT(run->Errors(), HasSubstr("DEPOSED"));
}

TEST_P(RunTest, TheFirstProcessOfAContainerReapsOrphans) {
  // The first line comes when no zombie is left of twenty orphans.
  const std::string script =
      "for i in 1 2 3 4 5 6 7 8 9 10; do sh -c 'sh -c \"exit 0\" & sleep 0.01 & exit 0'; done;"
      "while grep -qs '^State:.Z' /proc/[0-9]*/status; do sleep 0.02; done; echo clean; exit 7";
  Process run({"unshare", "--pid", "--fork", "--mount-proc", Program("tenure"), "--endpoint",
               A().endpoint(), "run", "e", "--", "sh", "-c", script});

  EXPECT_EQ(run.Line(1), "clean");
  EXPECT_EQ(run.Wait(), 7);
}

TEST_P(RunTest, WithRestartItStandsAgain) {
  const auto run = Start(A(), "a", {"--restart", "--ttl", "1s"}, "echo $TENURE_TERM");

  EXPECT_EQ(run->Line(1), "1");
  EXPECT_EQ(run->Line(2), "2");
  run->Signal(SIGTERM);

  (void)run->Wait();
  EXPECT_TRUE(Eventually([&] { return LeaderOf("e").empty(); }));
}

TEST_P(RunTest, ADeposedLeadersCommandIsKilledIfItIgnoresSigterm) {
  const auto first = Start(A(), "a", {"--ttl", "2s"}, kStubbornClock);
  first->Line(1);

  DeposeLeader();

  EXPECT_EQ(first->Wait(), 4);
}

TEST_P(RunTest, TheHooksRunBeforeTheCommandAndAfterTheTerm) {
  const auto run = Start(A(), "a",
                         {"--on-elected", "echo before $TENURE_TERM", "--on-lost",
                          "echo after $TENURE_TERM $TENURE_CAUSE"},
                         "echo during");

  EXPECT_EQ(run->Wait(), 0);

  EXPECT_THAT(run->Lines(), ElementsAre("before 1", "during", "after 1 RESIGNED"));
}

TEST_P(RunTest, ACommandIsNotRunIfItsHookFails) {
  const auto run = Start(A(), "a", {"--on-elected", "exit 9"}, "echo during");

  EXPECT_EQ(run->Wait(), 9);

  EXPECT_THAT(run->Lines(), IsEmpty());
}

TEST_P(RunTest, ASignalDuringTheHookCountsAsEndingTheCommand) {
  const auto run = Start(
      A(), "a", {"--on-elected", "trap 'exit 0' TERM; echo hook; while :; do sleep 0.05; done"},
      "echo command");
  run->Line(1);

  run->Signal(SIGTERM);

  EXPECT_EQ(run->Wait(), 128 + SIGTERM);
  EXPECT_THAT(run->Lines(), ElementsAre("hook"));
}

TEST_P(RunTest, ASignalIgnoredFromTheStartStaysIgnored) {
  Process run({"sh", "-c", "trap '' HUP; exec \"$0\" --endpoint \"$1\" run e -- sh -c \"$2\"",
               Program("tenure"), A().endpoint(),
               "trap 'echo usr1' USR1; echo begins; while :; do sleep 0.05; done"});
  run.Line(1);

  run.Signal(SIGHUP);
  run.Signal(SIGUSR1);

  EXPECT_EQ(run.Line(2), "usr1");
  run.Signal(SIGTERM);
  EXPECT_EQ(run.Wait(), 128 + SIGTERM);
}

TEST_P(RunTest, TheToolIsSuspendedAndContinuedWithItsCommand) {
  const auto run = Start(A(), "a", {}, "echo $$; while :; do sleep 0.05; done");
  const pid_t command = std::stoi(run->Line(1));

  kill(command, SIGTSTP);
  EXPECT_TRUE(Eventually([&] { return Stopped(run->pid()); }));
  run->Signal(SIGCONT);

  EXPECT_TRUE(Eventually([&] { return !Stopped(run->pid()) && !Stopped(command); }));
  run->Signal(SIGTERM);
  EXPECT_EQ(run->Wait(), 128 + SIGTERM);
}

TEST_P(RunTest, ATryEndsIfAnotherLeads) {
  Campaign(A(), {"e", "other"});

  const auto tries = Start(A(), "a", {"--try"}, "echo during");
  const auto waits = Start(B(), "b", {"--wait", "100ms"}, "echo during");

  EXPECT_EQ(tries->Wait(), 3);
  EXPECT_EQ(waits->Wait(), 3);
  EXPECT_THAT(tries->Lines(), IsEmpty());
  EXPECT_THAT(waits->Lines(), IsEmpty());
  EXPECT_TRUE(Eventually([&] { return Describe(A(), "e").queue_size() == 0; }));
}

TEST_P(RunTest, ATryEndsIfItIsRefused) {
  Campaign(A(), {"e", "other"});
  Campaign(A(), {"e", "waiting"});
  ASSERT_EQ(RunTool(A(), {"configure", "e", "--max-candidates", "1"}).exit_code, 0);

  const auto tries = Start(A(), "a", {"--try"}, "echo during");
  const auto waits = Start(B(), "b", {"--wait", "100ms"}, "echo during");

  EXPECT_EQ(tries->Wait(), 6);
  EXPECT_EQ(waits->Wait(), 6);
  EXPECT_THAT(tries->Errors(), HasSubstr("QUEUE_FULL"));
  EXPECT_THAT(waits->Errors(), Not(HasSubstr("no replica")));
}

TEST_P(RunTest, ATryRunsIfNobodyLeads) {
  const auto run = Start(A(), "a", {"--try"}, "echo during");

  EXPECT_EQ(run->Wait(), 0);
  EXPECT_THAT(run->Lines(), ElementsAre("during"));
}

TEST_P(RunTest, AWaiterLeavesTheQueueAfterASignal) {
  Campaign(A(), {"e", "other"});
  const auto run = Start(A(), "a", {}, "echo during");
  WaitUntilOneWaits();

  run->Signal(SIGTERM);

  EXPECT_EQ(run->Wait(), 3);
  EXPECT_TRUE(Eventually([&] { return Describe(A(), "e").queue_size() == 0; }));
}

TEST_P(RunTest, ACommandThatCannotBeRunIsAnErrorAndTheSeatIsFree) {
  EXPECT_EQ(RunTool(A(), {"run", "e", "--", "no-such-command"}).exit_code, 127);
  EXPECT_EQ(RunTool(A(), {"run", "e", "--", "/etc/passwd"}).exit_code, 126);
  EXPECT_TRUE(Eventually([&] { return LeaderOf("e").empty(); }));
}

TEST_P(RunTest, WrongUsageIsAnError) {
  EXPECT_EQ(RunTool(A(), {"run", "e"}).exit_code, 2);
  EXPECT_EQ(RunTool(A(), {"run", "", "--", "true"}).exit_code, 2);
  EXPECT_EQ(RunTool(A(), {"run", "e", "--ttl", "nonsense", "--", "true"}).exit_code, 2);
}

TEST_P(RunTest, NoPartOfTheCommandOutlivesTheTool) {
  const auto run = Start(A(), "a", {}, "sleep 1000 & echo $$; echo $!; wait");
  const std::string child = run->Line(1);
  const std::string grandchild = run->Line(2);

  run->Signal(SIGKILL);

  EXPECT_TRUE(Eventually([&] { return !Lives(child) && !Lives(grandchild); }));
}

TEST_P(RunTest, ProcessesLeftByTheCommandEndWithIt) {
  const auto run = Start(A(), "a", {}, "sleep 1000 & echo $!");
  const std::string left = run->Line(1);

  EXPECT_EQ(run->Wait(), 0);

  EXPECT_TRUE(Eventually([&] { return !Lives(left); }));
}

TEST_P(RunTest, TheCommandIsEndedEvenWhileTheToolIsStopped) {
  const auto first = Start(A(), "a", {"--ttl", "2s"}, kStubbornClock);
  first->Line(1);
  const auto second = Start(B(), "b", {"--ttl", "2s"}, kClock);
  WaitUntilOneWaits();

  first->Signal(SIGSTOP);
  const int64_t second_began = std::stoll(second->Line(1));
  EXPECT_LT(LastTime(*first), second_began);
  first->Signal(SIGCONT);

  EXPECT_EQ(first->Wait(), 4);
  EXPECT_LT(LastTime(*first), second_began);
}

using RunOnTwoReplicasTest = RunTest;
INSTANTIATE_TEST_SUITE_P(Stores, RunOnTwoReplicasTest, ::testing::Values(StoreKind::kMariaDb),
                         StoreKindName);

TEST_P(RunOnTwoReplicasTest, ACommandThatIgnoresSigtermIsKilledBeforeTheLeaseEnds) {
  const auto first = Start(A(), "a", {"--ttl", "2s"}, kStubbornClock);
  first->Line(1);
  const auto second = Start(B(), "b", {"--ttl", "2s"}, kClock);
  WaitUntilOneWaits();

  A().Kill();

  const int64_t second_began = std::stoll(second->Line(1));
  EXPECT_EQ(first->Wait(), 4);
  EXPECT_LT(LastTime(*first), second_began);
}

TEST_P(RunOnTwoReplicasTest, TheCommandContinuesWhenTheReplicaIsKilled) {
  const auto run = std::make_unique<Process>(
      ToolCommand({"run", "e", "--ttl", "3s", "--", "sh", "-c", kClock}),
      std::map<std::string, std::string>{{"TENURE_ENDPOINTS", BothEndpoints()}});
  run->Line(1);

  for (Tenured* killed : {&A(), &B()}) {
    killed->Kill();
    WaitForRenewals({killed == &A() ? &B() : &A()}, 4);
    killed->Start();
  }

  EXPECT_TRUE(run->Running());
  EXPECT_EQ(Leader(A(), "e").term(), 1);
}

}  // namespace
}  // namespace tenure::testing
