#include <unistd.h>

#include <climits>
#include <limits>
#include <memory>

#include "client/tool/arguments.h"

namespace tenure {
namespace {

constexpr char kElectionsGroup[] = "Elections";
constexpr Duration kDurationMin = std::chrono::milliseconds(1);
constexpr int64_t kNumberMax = std::numeric_limits<int64_t>::max();

std::string DefaultCandidate() {
  char name[HOST_NAME_MAX + 1] = "unknown";
  gethostname(name, sizeof name - 1);
  return std::string(name) + ":" + std::to_string(getpid());
}

void AddWait(CLI::App& command, std::optional<Duration>& wait) {
  auto* try_once = command.add_flag_callback(
      "--try", [&wait] { wait = Duration(0); }, "Do not wait for the seat");
  AddDuration(command, "--wait", wait, Duration(0),
              "How long to wait for the seat (default: no limit)");
  command.get_option("--wait")->excludes(try_once);
}

// Options of all commands that stand for an election.
template <typename Options>
void AddStanding(CLI::App& command, Options& options) {
  auto* candidate = command.add_option("--candidate", options.candidate,
                                       "Name to stand under (default: HOST:PID)");
  candidate->type_name("NAME")->default_str("");
  command
      .add_option("--value", options.value, "Value to publish while leading, such as an address")
      ->type_name("TEXT");
  AddDuration(command, "--ttl", options.lease_ttl, kDurationMin,
              "Lease time (default: set by the election or the server)");
  AddWait(command, options.wait);
  command
      .add_option(
          "--priority", options.priority,
          "Higher priorities are elected first; a negative one only if an operator appoints "
          "the candidate")
      ->check(WholeNumber(std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max()))
      ->type_name("N");
  command
      .add_flag("--supersede", options.supersede,
                "Take over from older sessions of the same candidate, for example after a restart")
      ->needs(candidate);
}

void AddCampaign(CLI::App& app, const CommonOptions& common, Chosen& chosen) {
  auto options = std::make_shared<CampaignOptions>();
  options->candidate = DefaultCandidate();
  auto* command = app.add_subcommand(
      "campaign", "Stand for elections, hold the seat until SIGINT or SIGTERM, then resign");
  command->group(kElectionsGroup);
  command->footer(
      "With several elections, the seats are held together: all or none. Candidates waiting for\n"
      "just one of them go first. When one seat is lost, all are given up.\n\n"
      "When an operator appoints another leader, the command prints this and resigns, as after a\n"
      "signal.\n\n"
      "--supersede ends older sessions of the same candidate in this election, and takes over\n"
      "their seat or place in the queue. Use it only if no two processes share a candidate "
      "name.\n\n"
      "Exit codes: 0 led, and resigned; 3 not elected; 4 the seat was lost; 7 no replica can "
      "serve.\n"
      "For others, see `tenure --help`.");
  auto* elections = command
                        ->add_option("ELECTION", options->elections,
                                     "Election, or several elections to win together")
                        ->required()
                        ->default_str("");
  AddStanding(*command, *options);
  command->callback([=, &common, &chosen] {
    if (elections->count() > 1 && (options->supersede || options->priority != 0)) {
      throw CLI::ValidationError("campaign",
                                 "--priority and --supersede work with one election only");
    }
    chosen = [=, &common] { return RunCampaign(common, *options); };
  });
}

void AddRun(CLI::App& app, const CommonOptions& common, Chosen& chosen) {
  auto options = std::make_shared<RunOptions>();
  options->candidate = DefaultCandidate();
  auto* command =
      app.add_subcommand("run", "Run a command only while this process leads an election");
  command->group(kElectionsGroup);
  command->footer(
      "tenure run ELECTION [OPTIONS] -- COMMAND [ARGUMENTS]\n\n"
      "COMMAND starts when this process is elected, with TENURE_ELECTION, TENURE_TERM and\n"
      "TENURE_CANDIDATE in its environment. When it ends, the seat is resigned.\n\n"
      "When the seat is lost, about to be lost, or wanted for another candidate, COMMAND gets\n"
      "SIGTERM, and SIGKILL when the grace period is over: before the lease ends, so before "
      "anyone\n"
      "else is elected. Both go to its whole process group. COMMAND is also killed in time if "
      "this\n"
      "process is stopped or killed.\n\n"
      "Signals are forwarded to COMMAND. After TERM, INT, HUP and QUIT, this process exits as "
      "soon\n"
      "as COMMAND has ended.\n\n"
      "Exit codes: that of COMMAND; 128 + N if signal N ended it; 126 if it cannot be run, 127 if\n"
      "it does not exist; 3 not elected; 4 the seat was lost; 7 no replica can serve. For others,\n"
      "see `tenure --help`.");
  command->add_option("ELECTION", options->election, "Election")->required()->default_str("");
  AddStanding(*command, *options);
  AddDuration(
      *command, "--grace", options->grace, kDurationMin,
      "How long COMMAND may take to end after SIGTERM (default: a quarter of the lease; maximum: "
      "half of it)");
  command->add_flag("--restart", options->restart,
                    "Stand again whenever COMMAND ends or the seat is lost");
  command
      ->add_option("--on-elected", options->on_elected,
                   "Shell command to run before COMMAND, in the same environment")
      ->type_name("SHELL_COMMAND");
  command
      ->add_option("--on-lost", options->on_lost,
                   "Shell command to run after the term, also with TENURE_CAUSE; at most 10 s")
      ->type_name("SHELL_COMMAND");
  command->add_option("COMMAND", options->command, "Command to run, after --")
      ->required()
      ->default_str("");
  command->callback(
      [=, &common, &chosen] { chosen = [=, &common] { return RunRun(common, *options); }; });
}

void AddLeader(CLI::App& app, const CommonOptions& common, Chosen& chosen) {
  auto election = std::make_shared<std::string>();
  auto* command = app.add_subcommand("leader", "Show who leads an election");
  command->group(kElectionsGroup);
  command->add_option("ELECTION", *election, "Election")->required();
  command->callback(
      [=, &common, &chosen] { chosen = [=, &common] { return RunLeader(common, *election); }; });
}

void AddObserve(CLI::App& app, const CommonOptions& common, Chosen& chosen) {
  auto options = std::make_shared<ObserveCommandOptions>();
  auto* command =
      app.add_subcommand("observe", "Show each change of one or more elections as it happens");
  command->group(kElectionsGroup);
  command->add_option("ELECTION", options->elections, "Elections, or name prefixes with --prefix")
      ->required()
      ->default_str("");
  command->add_flag("--prefix", options->prefix, "Observe all elections with these name prefixes");
  command
      ->add_option("--from-revision", options->from_revision,
                   "Start with the event of this revision instead of a snapshot")
      ->check(WholeNumber(1, kNumberMax))
      ->type_name("N");
  command->add_option("--count", options->count, "Exit after this many lines")
      ->check(WholeNumber(1, kNumberMax))
      ->type_name("N");
  command->callback(
      [=, &common, &chosen] { chosen = [=, &common] { return RunObserve(common, *options); }; });
}

}  // namespace

void AddDuration(CLI::App& app, const std::string& flag, std::optional<Duration>& target,
                 Duration min, const std::string& help) {
  app.add_option_function<std::string>(
         flag,
         [flag, &target, min](const std::string& text) { target = ReadDuration(flag, text, min); },
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
