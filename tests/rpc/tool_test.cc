// The command line tool as people and scripts use it.
#include <csignal>
#include <nlohmann/json.hpp>

#include "tests/rpc/service_fixture.h"

namespace tenure::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using Json = nlohmann::json;

class ToolTest : public ::testing::Test {
 protected:
  Finished Run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), Program("tenure"));
    return RunToEnd(std::move(arguments), {{"TENURE_ENDPOINTS", server_.endpoint()}});
  }

  std::unique_ptr<Process> Start(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), Program("tenure"));
    return std::make_unique<Process>(
        std::move(arguments),
        std::map<std::string, std::string>{{"TENURE_ENDPOINTS", server_.endpoint()}});
  }

  Tenured server_{"sqlite::memory:"};
};

TEST_F(ToolTest, LeaderSaysWhoLeadsOrThatNobodyDoes) {
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

TEST_F(ToolTest, OptionsAreAcceptedBeforeAndAfterTheSubcommand) {
  const std::string nowhere = "127.0.0.1:1";

  EXPECT_EQ(Run({"leader", "e", "--endpoint", server_.endpoint()}).exit_code, 0);
  EXPECT_EQ(Run({"--endpoint", server_.endpoint(), "leader", "e"}).exit_code, 0);
  EXPECT_EQ(Run({"leader", "e", "--endpoint", nowhere + "," + server_.endpoint()}).exit_code, 0);
  EXPECT_EQ(Run({"leader", "e", "--endpoint", nowhere}).exit_code, 1);
}

TEST_F(ToolTest, WrongUsageIsExitCode2) {
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{},
                                             {"nonsense"},
                                             {"leader"},
                                             {"campaign"},
                                             {"campaign", "e", "--ttl", "soon"},
                                             {"campaign", "e", "--wait", "-1s"},
                                             {"campaign", "e", "--try", "--wait", "1s"},
                                             {"campaign", "e", "--priority", "high"},
                                             {"observe", "e", "--count", "0"},
                                             {"observe", "e", "--from-revision", "0"},
                                             {"leader", "e", "--endpoint", ","}}) {
    const auto finished = Run(arguments);
    EXPECT_EQ(finished.exit_code, 2) << finished.output << finished.errors;
    EXPECT_THAT(finished.errors, HasSubstr("tenure: "));
  }
  EXPECT_EQ(Run({"--help"}).exit_code, 0);
}

TEST_F(ToolTest, RefusedInputIsExitCode1WithTheReason) {
  const auto finished = Run({"campaign", "e", "--ttl", "10ms"});

  EXPECT_EQ(finished.exit_code, 1);
  EXPECT_THAT(finished.errors, HasSubstr("INVALID_LEASE_TTL"));
  EXPECT_EQ(Run({"leader", ""}).exit_code, 1);
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

TEST_F(ToolTest, AWaitThatIsOverIsExitCode3) {
  Campaign(server_, {"e", "leader"});

  EXPECT_EQ(Run({"campaign", "e", "--wait", "300ms"}).exit_code, 3);

  EXPECT_EQ(Campaign(server_, {"e", "c"}).standing().position(), 1u);
}

TEST_F(ToolTest, AWaiterThatIsStoppedLeavesTheQueue) {
  Campaign(server_, {"e", "leader"});
  const auto waiter = Start({"campaign", "e", "--json"});
  waiter->Line(1);

  waiter->Signal(SIGINT);

  EXPECT_EQ(waiter->Wait(), 3);
  EXPECT_EQ(Campaign(server_, {"e", "c"}).standing().position(), 1u);
}

TEST_F(ToolTest, AHolderWhoseSeatIsTakenAwayIsExitCode4) {
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

TEST_F(ToolTest, AHolderThatNoServerAnswersLosesTheSeatByItsOwnClock) {
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

TEST_F(ToolTest, ObserveOfWhatIsRefusedIsExitCode1WithTheReason) {
  const auto finished = Run({"observe", "a\nb"});

  EXPECT_EQ(finished.exit_code, 1);
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

}  // namespace
}  // namespace tenure::testing
