// The command line tool as people and scripts use it.
#include <csignal>
#include <nlohmann/json.hpp>

#include "tests/rpc/service_fixture.h"
#include "tests/rpc/tool.h"
#include "tests/support/relay.h"

namespace tenure::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using Json = nlohmann::json;

class ToolTest : public ::testing::Test {
 protected:
  Finished Run(std::vector<std::string> arguments) {
    return RunTool(server_, std::move(arguments));
  }

  std::unique_ptr<Process> Start(std::vector<std::string> arguments) {
    return StartTool(server_, std::move(arguments));
  }

  Tenured server_{"sqlite::memory:"};
};

TEST_F(ToolTest, LeaderShowsWhoLeadsOrThatNobodyDoes) {
  const auto vacant = Run({"leader", "e", "--json"});
  EXPECT_EQ(vacant.exit_code, 0);
  EXPECT_EQ(Json::parse(vacant.output),
            Json::parse(R"({"election":"e","leader":null,"term":0,"value":null})"));

  Campaign(server_, {"e", "a", "", "v"});

  const auto led = Run({"--json", "leader", "e"});
  EXPECT_EQ(Json::parse(led.output),
            Json::parse(R"({"election":"e","leader":"a","term":1,"value":"v"})"));
  EXPECT_EQ(Run({"leader", "e"}).output, "e: a leads in term 1\n");
}

TEST_F(ToolTest, TextFromOthersIsHarmlessForATerminal) {
  Campaign(server_, {"e", "a\u202Eb", "", "\u009b2J\u2028\x7f"});

  const auto json = Run({"leader", "e", "--json"}).output;
  const auto text = Run({"leader", "e"}).output;
  const auto described = Run({"describe", "e", "--json"}).output;

  EXPECT_EQ(json, R"({"election":"e","leader":"a\u202eb","term":1,"value":"\u009b2J\u2028\u007f"})"
                  "\n");
  EXPECT_EQ(Json::parse(json).at("leader"), "a\u202Eb");
  EXPECT_EQ(text, R"(e: a\xe2\x80\xaeb leads in term 1)"
                  "\n");
  EXPECT_THAT(described, AllOf(HasSubstr(R"("a\u202eb")"), Not(HasSubstr("\u202E"))));
}

TEST_F(ToolTest, ANameThatIsNotUtf8IsRefusedByTheService) {
  const auto refused = Run({"leader", "\xff"});

  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.errors, HasSubstr("is not UTF-8 (MALFORMED_REQUEST)"));
}

TEST_F(ToolTest, OptionsAreAcceptedBeforeAndAfterTheSubcommand) {
  const std::string nowhere = "127.0.0.1:1";

  EXPECT_EQ(Run({"leader", "e", "--endpoint", server_.endpoint()}).exit_code, 0);
  EXPECT_EQ(Run({"--endpoint", server_.endpoint(), "leader", "e"}).exit_code, 0);
  EXPECT_EQ(Run({"leader", "e", "--endpoint", nowhere + "," + server_.endpoint()}).exit_code, 0);
  EXPECT_EQ(Run({"leader", "e", "--endpoint", nowhere}).exit_code, 7);
}

TEST_F(ToolTest, ADistantServerIsReached) {
  const Relay far_away(server_.endpoint(), 300ms);

  EXPECT_EQ(Run({"leader", "e", "--endpoint", far_away.endpoint()}).exit_code, 0);
}

TEST_F(ToolTest, WrongUsageIsOneLineAndExitCode2) {
  struct Usage {
    std::vector<std::string> arguments;
    std::string mistake;
  };
  const std::string empty = " needs a value that is not empty; see tenure ";
  for (const Usage& usage : std::vector<Usage>{
           {{}, "a command is required; see tenure --help"},
           {{"--json"}, "a command is required; see tenure --help"},
           {{"campain", "e"}, "unknown command 'campain'; see tenure --help"},
           {{"--foo", "leader", "e"}, "unknown flag '--foo'; see tenure --help"},
           {{"leader", "e", "--foo=1"}, "unknown flag '--foo'; see tenure leader --help"},
           {{"leader", "e", "--ttl", "1s"}, "unknown flag '--ttl'; see tenure leader --help"},
           {{"run", "e", "ls", "-l"}, "unknown flag '-l'; see tenure run --help"},
           {{"leader", "e", "f"}, "unexpected argument 'f'; see tenure leader --help"},
           {{"leader"}, "ELECTION is required; see tenure leader --help"},
           {{"campaign"}, "ELECTION is required; see tenure campaign --help"},
           {{"appoint", "e"}, "CANDIDATE is required; see tenure appoint --help"},
           {{"end-session"}, "SESSION is required; see tenure end-session --help"},
           {{"leader", "e", "--json", "--json"}, "--json is given twice"},
           {{"--endpoint", "a:1", "leader", "e", "--endpoint=b:1"}, "--endpoint is given twice"},
           {{"campaign", "e", "--candidate"},
            "--candidate needs a value; see tenure campaign --help"},
           {{"campaign", "e", "--candidate", "--try"},
            "--candidate needs a value; see tenure campaign --help"},
           {{"campaign", "e", "--candidate=", "--try"}, "--candidate" + empty + "campaign --help"},
           {{"campaign", "e", "--ttl", ""}, "--ttl" + empty + "campaign --help"},
           {{"leader", "e", "--endpoint", ""}, "--endpoint" + empty + "leader --help"},
           {{"leader", "e", "--endpoint", ","},
            "--endpoint: ',' names no replica; write HOST:PORT[,HOST:PORT...]"},
           {{"leader", "e", "--endpoint", "a:1, localhost"},
            "--endpoint: 'localhost' has no port; write HOST:PORT[,HOST:PORT...]"},
           {{"leader", "e", "--endpoint", "http://a:7070"},
            "--endpoint: 'http://a:7070' is a URL; write HOST:PORT[,HOST:PORT...]"},
           {{"leader", "e", "--service-id", "1F"},
            "--service-id: '1F' is not 32 lower-case hexadecimal digits"},
           {{"campaign", "e", "--ttl", "soon"},
            "--ttl: 'soon' is not a duration; write it like 500ms, 10s or 2m"},
           {{"campaign", "e", "--wait", "-1s"}, "--wait: '-1s' is too short; the minimum is 0ms"},
           {{"appoint", "e", "c", "--reserve-for", "0s"},
            "--reserve-for: '0s' is too short; the minimum is 1ms"},
           {{"depose", "e", "--cool-down", "-1s"},
            "--cool-down: '-1s' is too short; the minimum is 0ms"},
           {{"configure", "e", "--lock-delay", "10"},
            "--lock-delay: '10' is not a duration; write it like 500ms, 10s or 2m"},
           {{"campaign", "e", "--priority", "high"},
            "--priority: 'high' is not a whole number from -2147483648 to 2147483647"},
           {{"campaign", "e", "--priority", "2147483648"},
            "--priority: '2147483648' is not a whole number from -2147483648 to 2147483647"},
           {{"list", "--limit", "some"}, "--limit: 'some' is not a whole number of at least 0"},
           {{"depose", "e", "--term", "-1"}, "--term: '-1' is not a whole number of at least 0"},
           {{"observe", "e", "--count", "0"}, "--count: '0' is not a whole number of at least 1"},
           {{"observe", "e", "--from-revision", "0"},
            "--from-revision: '0' is not a whole number of at least 1"},
           {{"campaign", "e", "--try", "--wait", "1s"}, "--try excludes --wait"},
           {{"campaign", "e", "--supersede"}, "--supersede requires --candidate"},
           {{"campaign", "e", "f", "--priority", "1"},
            "campaign: --priority and --supersede work with one election only"},
           {{"campaign", "e", "f", "--candidate", "a", "--supersede"},
            "campaign: --priority and --supersede work with one election only"},
           {{"configure", "e", "--reason", "none"},
            "configure: needs at least one setting, such as --lock-delay 10s"}}) {
    const auto finished = Run(usage.arguments);
    EXPECT_EQ(finished.exit_code, 2);
    EXPECT_EQ(finished.errors, "tenure: " + usage.mistake + "\n");
    EXPECT_EQ(finished.output, "");
  }
}

TEST_F(ToolTest, HelpIsExitCode0) {
  EXPECT_EQ(Run({"--help"}).exit_code, 0);
  EXPECT_THAT(Run({"campaign", "--help"}).output, HasSubstr("--supersede"));
}

TEST_F(ToolTest, AnEmptyValueMayBePublished) {
  const auto campaign = Start({"campaign", "e", "--value=", "--candidate", "a"});

  EXPECT_THAT(campaign->Line(1), HasSubstr("a leads e in term 1"));
  EXPECT_EQ(Leader(server_, "e").leader().value(), "");
}

TEST_F(ToolTest, AnEmptyVariableCountsAsNotSet) {
  const auto finished = RunToEnd(ToolCommand({"leader", "e", "--endpoint", server_.endpoint()}),
                                 {{"TENURE_CLIENT_TLS_CA", ""}, {"TENURE_CLIENT_TLS", ""}});

  EXPECT_EQ(finished.exit_code, 0) << finished.errors;
}

TEST_F(ToolTest, InputThatTheServiceRefusesIsWrongUsage) {
  const auto finished = Run({"campaign", "e", "--ttl", "10ms"});

  EXPECT_EQ(finished.exit_code, 2);
  EXPECT_THAT(finished.errors, HasSubstr("INVALID_LEASE_TTL"));
  EXPECT_EQ(Run({"leader", ""}).exit_code, 2);
  EXPECT_EQ(Run({"run", "a\nb", "--", "true"}).exit_code, 2);
}

TEST_F(ToolTest, ACampaignHoldsUntilASignalAndResigns) {
  const auto campaign = Start({"campaign", "e", "--candidate", "a", "--value", "v", "--json"});
  EXPECT_EQ(Json::parse(campaign->Line(1)),
            Json::parse(R"({"event":"elected","election":"e","term":1,"candidate":"a"})"));

  campaign->Signal(SIGTERM);

  EXPECT_EQ(campaign->Wait(), 0);
  EXPECT_FALSE(Leader(server_, "e").has_leader());
  Observer observer(server_, Election("e", 1));
  EXPECT_EQ(Texts(observer.WaitForEvents(2)).at(1), "VACATED a 1 RESIGNED");
}

TEST_F(ToolTest, TheDefaultCandidateIsHostAndProcess) {
  const auto campaign = Start({"campaign", "e", "--json"});

  const std::string candidate = Json::parse(campaign->Line(1)).at("candidate");

  EXPECT_THAT(candidate, ::testing::EndsWith(":" + std::to_string(campaign->pid())));
}

TEST_F(ToolTest, ATryOnAHeldSeatIsExitCode3AndLeavesNoPlace) {
  Campaign(server_, {"e", "leader"});

  const auto tried = Run({"campaign", "e", "--try", "--candidate", "b", "--json"});

  EXPECT_EQ(tried.exit_code, 3);
  const Json standing = Json::parse(tried.output);
  EXPECT_EQ(standing.at("event"), "standing");
  EXPECT_EQ(standing.at("position"), 1);
  EXPECT_EQ(standing.at("leader"), "leader");
  EXPECT_EQ(Campaign(server_, {"e", "c"}).standing().position(), 1u);
}

TEST_F(ToolTest, AnEndedWaitIsExitCode3) {
  Campaign(server_, {"e", "leader"});

  EXPECT_EQ(Run({"campaign", "e", "--wait", "300ms"}).exit_code, 3);

  EXPECT_EQ(Campaign(server_, {"e", "c"}).standing().position(), 1u);
}

TEST_F(ToolTest, AStoppedWaiterLeavesTheQueue) {
  Campaign(server_, {"e", "leader"});
  const auto waiter = Start({"campaign", "e", "--json"});
  waiter->Line(1);

  waiter->Signal(SIGINT);

  EXPECT_EQ(waiter->Wait(), 3);
  EXPECT_EQ(Campaign(server_, {"e", "c"}).standing().position(), 1u);
}

TEST_F(ToolTest, ALostSeatIsExitCode4) {
  const auto campaign = Start({"campaign", "e", "--candidate", "a", "--ttl", "1s", "--json"});
  campaign->Line(1);
  campaign->Signal(SIGSTOP);
  WaitingCampaign successor(server_, {"e", "b"});
  ASSERT_EQ(successor.Response().elected().term(), 2u);

  campaign->Signal(SIGCONT);

  EXPECT_EQ(campaign->Wait(), 4);
  EXPECT_EQ(Json::parse(campaign->Line(2)).at("event"), "lost");
  EXPECT_EQ(Json::parse(campaign->Line(2)).at("cause"), "EXPIRED");
}

TEST_F(ToolTest, ADeposedHolderIsExitCode4AndLeavesNoSession) {
  const auto campaign = Start({"campaign", "e", "--candidate", "a", "--json"});
  campaign->Line(1);

  ASSERT_EQ(Run({"depose", "e"}).exit_code, 0);

  EXPECT_EQ(campaign->Wait(), 4);
  EXPECT_EQ(Json::parse(campaign->Line(2)).at("cause"), "DEPOSED");
  EXPECT_EQ(Run({"sessions"}).output, "no sessions\n");
  EXPECT_EQ(Leader(server_, "e").revision(), 2u) << "elected once, and deposed";
}

TEST_F(ToolTest, AHolderWithoutAServerLosesTheSeatByItsOwnClock) {
  const auto campaign = Start({"campaign", "e", "--candidate", "a", "--ttl", "1s", "--json"});
  campaign->Line(1);

  server_.Kill();

  EXPECT_EQ(campaign->Wait(), 4);
  EXPECT_EQ(Json::parse(campaign->Line(2)).at("cause"), "EXPIRED");
}

TEST_F(ToolTest, ObservePrintsASnapshotAndThenEveryChange) {
  const auto leader = Campaign(server_, {"e", "a", "", "v"});
  const auto observer = Start({"observe", "e", "--json", "--count", "3"});
  EXPECT_EQ(Json::parse(observer->Line(1)).at("type"), "SNAPSHOT");
  EXPECT_EQ(Json::parse(observer->Line(1)).at("leader"), "a");

  Proclaim(server_, leader.session().session_id(), "e", 1, "w");
  Resign(server_, leader.session().session_id(), "e");

  EXPECT_EQ(observer->Wait(), 0);
  ASSERT_THAT(observer->Lines(), SizeIs(3));
  EXPECT_EQ(Json::parse(observer->Line(2)).at("type"), "PROCLAIMED");
  EXPECT_EQ(Json::parse(observer->Line(2)).at("value"), "w");
  const Json vacated = Json::parse(observer->Line(3));
  EXPECT_EQ(vacated.at("type"), "VACATED");
  EXPECT_EQ(vacated.at("cause"), "RESIGNED");
  EXPECT_EQ(vacated.at("revision"), 3);
  EXPECT_EQ(vacated.at("term"), 1);
}

TEST_F(ToolTest, ObserveFollowsAPrefixAndSeveralElections) {
  Campaign(server_, {"jobs/a", "x"});
  Campaign(server_, {"jobs/b", "y"});
  Campaign(server_, {"other", "z"});

  EXPECT_THAT(Run({"observe", "jobs/", "--prefix", "--from-revision", "1", "--count", "2"}).output,
              HasSubstr("jobs/b #1 ELECTED y term 1"));
  EXPECT_THAT(Run({"observe", "jobs/a", "other", "--count", "2"}).output,
              HasSubstr("other #1 SNAPSHOT z leads in term 1"));
}

TEST_F(ToolTest, ObserveEndsCleanlyOnASignal) {
  const auto observer = Start({"observe", "e"});
  observer->Line(1);

  observer->Signal(SIGINT);

  EXPECT_EQ(observer->Wait(), 0);
}

TEST_F(ToolTest, ARefusedObserveIsWrongUsage) {
  const auto finished = Run({"observe", "a\nb"});

  EXPECT_EQ(finished.exit_code, 2);
  EXPECT_THAT(finished.errors, HasSubstr("INVALID_ELECTION_NAME"));
}

TEST_F(ToolTest, ObserveOfManyElectionsResumesAfterARestart) {
  TempDir folder;
  Tenured server("sqlite:" + (folder.path() / "tenure.db").string());
  std::vector<std::string> command = {Program("tenure"), "--endpoint", server.endpoint(),
                                      "observe"};
  constexpr size_t kElections = 600;
  for (size_t i = 0; i < kElections; ++i) command.push_back("e" + std::to_string(i));
  Process observer(command);
  observer.Line(kElections);

  server.Kill();
  server.Start();
  Campaign(server, {"e7", "a"});

  EXPECT_THAT(observer.Line(kElections + 1), HasSubstr("e7 #1 ELECTED a"));
}

// --- Several elections ---

Json Elected(const std::string& election, uint64_t term, const std::string& candidate) {
  return {{"event", "elected"}, {"election", election}, {"term", term}, {"candidate", candidate}};
}

TEST_F(ToolTest, SeveralElectionsAreHeldTogetherAndResigned) {
  const auto campaign = Start({"campaign", "b", "a", "--candidate", "x", "--json"});
  EXPECT_EQ(Json::parse(campaign->Line(1)), Elected("b", 1, "x"));
  EXPECT_EQ(Json::parse(campaign->Line(2)), Elected("a", 1, "x"));
  EXPECT_EQ(Leader(server_, "a").leader().candidate(), "x");

  campaign->Signal(SIGTERM);

  EXPECT_EQ(campaign->Wait(), 0);
  EXPECT_FALSE(Leader(server_, "a").has_leader());
  EXPECT_FALSE(Leader(server_, "b").has_leader());
}

TEST_F(ToolTest, SeveralElectionsAreTakenTogetherOrNotAtAll) {
  const auto holder = Campaign(server_, {"b", "holder"}).session().session_id();
  const auto campaign = Start({"campaign", "a", "b", "--candidate", "x", "--json"});
  EXPECT_EQ(Json::parse(campaign->Line(1)),
            Json::parse(R"({"event":"blocked","candidate":"x","elections":["b"]})"));
  EXPECT_FALSE(Leader(server_, "a").has_leader());

  Resign(server_, holder, "b");

  EXPECT_EQ(Json::parse(campaign->Line(2)), Elected("a", 1, "x"));
  EXPECT_EQ(Json::parse(campaign->Line(3)), Elected("b", 2, "x"));
}

TEST_F(ToolTest, ATryOnSeveralBlockedElectionsIsExitCode3) {
  Campaign(server_, {"b", "holder"});

  EXPECT_EQ(Run({"campaign", "a", "b", "--try"}).exit_code, 3);
}

TEST_F(ToolTest, LosingOneOfSeveralSeatsGivesUpAll) {
  const auto campaign = Start({"campaign", "a", "b", "--candidate", "x", "--json"});
  campaign->Line(2);

  ASSERT_EQ(Run({"depose", "a"}).exit_code, 0);

  EXPECT_EQ(campaign->Wait(), 4);
  EXPECT_EQ(
      Json::parse(campaign->Line(3)),
      Json::parse(R"({"event":"lost","election":"a","term":1,"candidate":"x","cause":"DEPOSED"})"));
  EXPECT_FALSE(Leader(server_, "b").has_leader());
}

// --- Making way ---

TEST_F(ToolTest, AHolderAskedToMakeWayNamesItsSuccessorAndResigns) {
  const auto holder = Start({"campaign", "e", "--candidate", "a", "--json"});
  holder->Line(1);
  const auto successor = Start({"campaign", "e", "--candidate", "b", "--json"});
  successor->Line(1);
  const auto observer = Start({"observe", "e", "--json", "--count", "4"});
  observer->Line(1);

  ASSERT_EQ(Run({"appoint", "e", "b"}).exit_code, 0);

  EXPECT_EQ(holder->Wait(), 0);
  EXPECT_EQ(Json::parse(holder->Line(2)),
            Json::parse(R"({"event":"step_down","election":"e","candidate":"a","successor":"b"})"));
  EXPECT_EQ(Json::parse(successor->Line(2)), Elected("e", 2, "b"));
  const Json asked = Json::parse(observer->Line(2));
  EXPECT_EQ(asked.at("type"), "HANDOVER_ASKED");
  EXPECT_EQ(asked.at("leader"), "a");
  EXPECT_EQ(asked.at("successor"), "b");
  EXPECT_EQ(Json::parse(observer->Line(3)).at("cause"), "RESIGNED");
  EXPECT_EQ(Json::parse(observer->Line(4)).at("successor"), nullptr);
}

TEST_F(ToolTest, ADisconnectedHolderLearnsLaterThatItMustMakeWay) {
  TempDir folder;
  Tenured server("sqlite:" + (folder.path() / "tenure.db").string());
  const auto holder = StartTool(server, {"campaign", "e", "--candidate", "a", "--ttl", "30s"});
  holder->Line(1);
  Campaign(server, {"e", "b"});
  holder->Signal(SIGSTOP);
  ASSERT_EQ(RunTool(server, {"appoint", "e", "b"}).exit_code, 0);
  server.Kill();
  server.Start();

  holder->Signal(SIGCONT);

  EXPECT_EQ(holder->Wait(), 0);
  EXPECT_EQ(holder->Line(2), "stepping down: b will lead e next");
}

TEST_F(ToolTest, ObserveShowsHandovers) {
  const auto leader = Campaign(server_, {"e", "a"});
  Campaign(server_, {"e", "b"});
  ASSERT_EQ(Run({"appoint", "e", "b"}).exit_code, 0);

  EXPECT_EQ(Run({"observe", "e", "--count", "1"}).output,
            "e #2 SNAPSHOT a leads in term 1, asked to make way for b\n");
  EXPECT_THAT(Run({"observe", "e", "--from-revision", "2", "--count", "1"}).output,
              "e #2 HANDOVER_ASKED a term 1, asked to make way for b\n");
}

// --- Superseding ---

TEST_F(ToolTest, ARestartedCandidateSupersedesItsOlderSession) {
  const auto older = Start({"campaign", "e", "--candidate", "a", "--json"});
  older->Line(1);

  const auto newer = Start({"campaign", "e", "--candidate", "a", "--supersede", "--json"});

  EXPECT_EQ(Json::parse(newer->Line(1)), Elected("e", 2, "a"));
  EXPECT_EQ(older->Wait(), 4);
  EXPECT_EQ(Json::parse(older->Line(2)).at("cause"), "SUPERSEDED");
}

TEST_F(ToolTest, ASupersededWaiterDoesNotComeBack) {
  Campaign(server_, {"e", "leader"});
  const auto older = Start({"campaign", "e", "--candidate", "a", "--supersede", "--json"});
  older->Line(1);

  const auto newer = Start({"campaign", "e", "--candidate", "a", "--supersede", "--json"});

  EXPECT_EQ(Json::parse(newer->Line(1)).at("position"), 1);
  EXPECT_EQ(older->Wait(), 3);
  EXPECT_THAT(older->Errors(), HasSubstr("superseded by a newer session of a"));
}

// --- What must not reach a terminal ---

TEST_F(ToolTest, ValuesAreShownWithoutTheirControlCharacters) {
  Campaign(server_, {"e", "a", "", "\x1b[2Jv\n"});

  const auto observed = Run({"observe", "e", "--from-revision", "1", "--count", "1"});

  EXPECT_EQ(observed.output, "e #1 ELECTED a term 1 value '\\x1b[2Jv\\n'\n");
}

}  // namespace
}  // namespace tenure::testing
