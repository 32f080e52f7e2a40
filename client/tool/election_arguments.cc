#include <unistd.h>

#include <climits>
#include <memory>

#include "client/tool/arguments.h"
#include "core/duration_text.h"

namespace tenure {
namespace {

constexpr char kGroup[] = "Elections";

std::string DefaultCandidate() {
  char name[HOST_NAME_MAX + 1] = "unknown";
  gethostname(name, sizeof name - 1);
  return std::string(name) + ":" + std::to_string(getpid());
}

void AddWait(CLI::App& command, std::optional<Duration>& wait) {
  auto* try_once = command.add_flag_callback(
      "--try", [&wait] { wait = Duration(0); }, "Do not wait for the seat");
  AddDuration(command, "--wait", wait, Duration(0),
              "Wait for the seat so long (default: for ever)");
  command.get_option("--wait")->excludes(try_once);
}

// How to stand for an election: the same for whoever does.
template <typename Options>
void AddStanding(CLI::App& command, Options& options) {
  auto* candidate =
      command.add_option("--candidate", options.candidate, "Who stands (default: HOST:PID)");
  candidate->default_str("");
  command.add_option("--value", options.value, "What to advertise as the leader");
  AddDuration(command, "--ttl", options.lease_ttl, Duration(1),
              "The lease (default: the election's or the server's)");
  AddWait(command, options.wait);
  command.add_option("--priority", options.priority,
                     "Higher is elected first; below 0 only if an operator wants it");
  command
      .add_flag("--supersede", options.supersede,
                "Take over from older sessions of the same candidate: after a restart")
      ->needs(candidate);
}

void AddCampaign(CLI::App& app, const CommonOptions& common, Chosen& chosen) {
  auto options = std::make_shared<CampaignOptions>();
  options->candidate = DefaultCandidate();
  auto* command = app.add_subcommand(
      "campaign", "Stand for elections, hold the seat until SIGINT or SIGTERM, then resign");
  command->group(kGroup);
  command->footer(
      "Of several elections the seats are held together: all or none. Whoever waits for one of\n"
      "them alone goes first, and when one is lost, all are given up.\n\n"
      "When an operator wants another leader, it says so and resigns, as after a signal.\n\n"
      "--supersede ends the older sessions of the same candidate in this election, and takes over\n"
      "their seat or place. Only for names that no two processes share.\n\n"
      "Exit codes: 0 led, and resigned; 3 not elected; 4 lost; others as with every command.");
  auto* elections =
      command
          ->add_option("ELECTION", options->elections, "The election, or several to take together")
          ->required()
          ->default_str("");
  AddStanding(*command, *options);
  command->callback([=, &common, &chosen] {
    if (elections->count() > 1 && (options->supersede || options->priority != 0)) {
      throw CLI::ValidationError("campaign",
                                 "--priority and --supersede are for one election, not several");
    }
    chosen = [=, &common] { return RunCampaign(common, *options); };
  });
}

void AddRun(CLI::App& app, const CommonOptions& common, Chosen& chosen) {
  auto options = std::make_shared<RunOptions>();
  options->candidate = DefaultCandidate();
  auto* command = app.add_subcommand(
      "run", "Run a command while this process leads an election, and only then");
  command->group(kGroup);
  command->footer(
      "tenure run ELECTION [OPTIONS] -- COMMAND [ARGUMENTS]\n\n"
      "COMMAND is started when this process is elected, with TENURE_ELECTION, TENURE_TERM and\n"
      "TENURE_CANDIDATE in its environment. When it ends, the seat is resigned. When the seat is "
      "lost,\n"
      "about to be lost, or wanted for another candidate, COMMAND is sent TERM, and, when the "
      "grace\n"
      "is over, KILL: before the lease ends, so before anybody else is elected. That goes to\n"
      "all of its process group, and happens too when this process is stopped or killed.\n\n"
      "Signals are forwarded to COMMAND. TERM, INT, HUP and QUIT also end this process, when\n"
      "COMMAND has ended.\n\n"
      "Exit codes: COMMAND's own, 128 + the signal that ended it, 127 if there is no such command; "
      "3\n"
      "not elected; 4 the seat was lost; others as with every command.");
  command->add_option("ELECTION", options->election, "The election")->required()->default_str("");
  AddStanding(*command, *options);
  AddDuration(
      *command, "--grace", options->grace, Duration(1),
      "How long COMMAND may take to end after TERM; at most half of the lease, a quarter of\n"
      "it by default");
  command->add_flag("--restart", options->restart,
                    "Stand again when COMMAND has ended or the seat was lost, for ever");
  command->add_option("--on-elected", options->on_elected,
                      "A shell command to run before COMMAND, in its environment");
  command->add_option(
      "--on-lost", options->on_lost,
      "A shell command to run after the term, with TENURE_CAUSE too; for at most 10 s");
  command->add_option("COMMAND", options->command, "What to run, after --")
      ->required()
      ->default_str("");
  command->callback(
      [=, &common, &chosen] { chosen = [=, &common] { return RunRun(common, *options); }; });
}

void AddLeader(CLI::App& app, const CommonOptions& common, Chosen& chosen) {
  auto election = std::make_shared<std::string>();
  auto* command = app.add_subcommand("leader", "Show who leads an election");
  command->group(kGroup);
  command->add_option("ELECTION", *election, "The election")->required();
  command->callback(
      [=, &common, &chosen] { chosen = [=, &common] { return RunLeader(common, *election); }; });
}

void AddObserve(CLI::App& app, const CommonOptions& common, Chosen& chosen) {
  auto options = std::make_shared<ObserveCommandOptions>();
  auto* command = app.add_subcommand("observe", "Show every change of elections as it happens");
  command->group(kGroup);
  command->add_option("ELECTION", options->elections, "Elections, or prefixes with --prefix")
      ->required()
      ->default_str("");
  command->add_flag("--prefix", options->prefix, "Observe all elections that begin so");
  command
      ->add_option("--from-revision", options->from_revision,
                   "Begin with the event of this revision, instead of a snapshot")
      ->check(CLI::PositiveNumber);
  command->add_option("--count", options->count, "End after so many lines")
      ->check(CLI::PositiveNumber);
  command->callback(
      [=, &common, &chosen] { chosen = [=, &common] { return RunObserve(common, *options); }; });
}

}  // namespace

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
         help)
      ->type_name("DURATION");
}

void AddElectionCommands(CLI::App& app, const CommonOptions& common, Chosen& chosen) {
  AddCampaign(app, common, chosen);
  AddRun(app, common, chosen);
  AddLeader(app, common, chosen);
  AddObserve(app, common, chosen);
}

}  // namespace tenure
