// The command line tool: reads what it is asked, and runs it.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <climits>
#include <iostream>

#include "client/commands.h"
#include "core/duration_text.h"

namespace tenure {
namespace {

constexpr char kVersion[] = "tenure 0.1.0";

std::string DefaultCandidate() {
  char name[HOST_NAME_MAX + 1] = "unknown";
  gethostname(name, sizeof name - 1);
  return std::string(name) + ":" + std::to_string(getpid());
}

// An option that is a duration of at least `least`.
void AddDuration(CLI::App& app, const std::string& flag, std::optional<Duration>& target,
                 Duration least, const std::string& help) {
  app.add_option_function<std::string>(
      flag,
      [flag, &target, least](const std::string& text) {
        target = ParseDuration(text);
        if (!target) {
          throw CLI::ValidationError(flag, "'" + text + "' is not a duration (500ms, 10s, 2m)");
        }
        if (*target < least) throw CLI::ValidationError(flag, "'" + text + "' is too short");
      },
      help);
}

int Run(int argc, char** argv) {
  CommonOptions common;
  CLI::App app("Elects leaders through a Tenure service, and shows who leads.", "tenure");
  app.set_version_flag("--version", kVersion);
  app.require_subcommand(1);
  app.option_defaults()->always_capture_default();
  app.add_option("--endpoint", common.endpoints,
                 "Replicas of the service: HOST:PORT[,HOST:PORT...]")
      ->envname("TENURE_ENDPOINTS")
      ->check([](const std::string& text) {
        const bool any = text.find_first_not_of(',') != std::string::npos;
        return any ? "" : "names no endpoint";
      });
  app.add_flag("--json", common.json, "Print one JSON object per line");
  app.fallthrough();

  CampaignOptions campaign;
  campaign.candidate = DefaultCandidate();
  auto* campaign_app = app.add_subcommand(
      "campaign",
      "Stand for an election, hold the seat until SIGINT or SIGTERM, then resign.\n"
      "Exit codes: 0 resigned, 3 not elected, 4 lost, 2 wrong usage, 1 any other error.");
  campaign_app->add_option("ELECTION", campaign.election, "The election")->required();
  campaign_app->add_option("--candidate", campaign.candidate, "Who stands");
  campaign_app->add_option("--value", campaign.value, "What to advertise as the leader");
  AddDuration(*campaign_app, "--ttl", campaign.lease_ttl, Duration(1),
              "The lease (default: the server's)");
  bool try_once = false;
  auto* try_flag = campaign_app->add_flag("--try", try_once, "Do not wait for the seat");
  AddDuration(*campaign_app, "--wait", campaign.wait, Duration(0),
              "Wait for the seat so long (default: for ever)");
  campaign_app->get_option("--wait")->excludes(try_flag);
  campaign_app->add_option("--priority", campaign.priority, "Higher is elected first");

  std::string leader_election;
  auto* leader_app = app.add_subcommand("leader", "Show who leads an election.");
  leader_app->add_option("ELECTION", leader_election, "The election")->required();

  ObserveCommandOptions observe;
  auto* observe_app =
      app.add_subcommand("observe", "Show every change of elections as it happens.");
  observe_app->add_option("ELECTION", observe.elections, "Elections, or prefixes with --prefix")
      ->required();
  observe_app->add_flag("--prefix", observe.prefix, "Observe all elections that begin so");
  observe_app
      ->add_option("--from-revision", observe.from_revision,
                   "Begin with the event of this revision, instead of a snapshot")
      ->check(CLI::PositiveNumber);
  observe_app->add_option("--count", observe.count, "End after so many lines")
      ->check(CLI::PositiveNumber);

  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    std::cerr << "tenure: " << error.what() << "\nTry: tenure --help" << std::endl;
    return kExitUsage;
  }
  if (try_once) campaign.wait = Duration(0);
  if (campaign_app->parsed()) return RunCampaign(common, campaign);
  if (leader_app->parsed()) return RunLeader(common, leader_election);
  return RunObserve(common, observe);
}

}  // namespace
}  // namespace tenure

int main(int argc, char** argv) { return tenure::Run(argc, argv); }
