#include <limits>
#include <memory>

#include "client/tool/admin_commands.h"
#include "client/tool/arguments.h"
#include "core/limits.h"

namespace tenure {
namespace {

constexpr char kAdministrationGroup[] = "Administration";
constexpr char kChangeFooter[] =
    "Each change is recorded with who made it and why; see `tenure history`. Running the command\n"
    "again is safe.";
constexpr char kTermHelp[] =
    "Make the change only if this is the current term (default: the term when the command starts)";

// Adds the commands one by one.
class Commands {
 public:
  Commands(CLI::App& app, const CommonOptions& common, Chosen& chosen)
      : app_(app), common_(common), chosen_(chosen) {}

  void AddList() {
    auto options = std::make_shared<ListOptions>();
    auto* command = Add("list", "List elections with their leaders, queues and anything unusual",
                        RunList, options);
    command->add_option("PREFIX", options->prefix, "Only elections with this name prefix");
    AddLimit(command, options->limit, "Maximum number of results");
  }

  void AddStatus() {
    auto* command = Add("status", "Show how each endpoint and its database are", RunStatus,
                        std::make_shared<StatusOptions>());
    command->footer(
        "One line for each endpoint, and how much the service holds.\n\n"
        "Exit codes: 0 all endpoints are ready, and belong to one service; 1 some are not, or\n"
        "belong to another one; 7 none is ready.");
  }

  void AddTop() {
    auto options = std::make_shared<TopOptions>();
    auto* command = Add("top", "Watch elections live", RunTop, options);
    command->add_option("PREFIX", options->prefix, "Only elections with this name prefix");
    command->footer(
        "Keys: q quits; j, k, arrows, PgUp, PgDn, Home and End scroll; / filters by election or\n"
        "leader, Enter keeps the filter, Esc clears it. Without a terminal, or with --json, the\n"
        "output is that of `tenure list`.");
  }

  void AddDescribe() {
    auto options = std::make_shared<DescribeOptions>();
    auto* command =
        Add("describe", "Show one election: leader, settings, queue", RunDescribe, options);
    command->add_option("ELECTION", options->election, "Election")->required();
    AddLimit(command, options->limit, "Maximum number of candidates in the queue to show");
  }

  void AddHistory() {
    auto options = std::make_shared<HistoryOptions>();
    auto* command = Add("history", "Show past leaders and operators' changes, latest first",
                        RunHistory, options);
    command->add_option("ELECTION", options->election,
                        "Election (default: operators' changes in all elections)");
    AddLimit(command, options->limit, "Maximum number of terms, and of changes");
  }

  void AddSessions() {
    auto options = std::make_shared<ListOptions>();
    auto* command =
        Add("sessions", "List live sessions, and where each leads or waits", RunSessions, options);
    command->add_option("PREFIX", options->prefix, "Only candidates with this name prefix");
    AddLimit(command, options->limit, "Maximum number of results");
  }

  void AddAppoint() {
    auto options = std::make_shared<AppointOptions>();
    auto* command = Add("appoint", "Give the seat to a candidate", RunAppoint, options);
    AddChange(command, options->change);
    AddTerm(command, options->change);
    command->add_option("CANDIDATE", options->candidate, "Candidate to appoint")->required();
    command->add_flag("--force", options->force,
                      "End the current term now instead of asking the leader to step down");
    AddDuration(*command, "--reserve-for", options->reserve_for, std::chrono::milliseconds(1),
                "How long to reserve the seat for a candidate that is not standing yet");
    command->footer(
        "Asks the leader to step down. The seat passes to the candidate when the leader resigns "
        "or\n"
        "its lease ends. To cancel, appoint the current leader.\n" +
        std::string(kChangeFooter));
  }

  void AddDepose() {
    auto options = std::make_shared<DeposeOptions>();
    auto* command = Add("depose", "End the leader's term now", RunDepose, options);
    AddChange(command, options->change);
    AddTerm(command, options->change);
    AddDuration(*command, "--cool-down", options->cool_down, Duration(0),
                "How long to keep the deposed candidate from being elected again");
  }

  void AddPauseAndResume() {
    auto paused = std::make_shared<ChangeOptions>();
    AddChange(Add("pause", "Stop granting the seat; the current leader keeps it", RunPause, paused),
              *paused);
    auto resumed = std::make_shared<ChangeOptions>();
    AddChange(Add("resume", "Grant the seat again after a pause", RunResume, resumed), *resumed);
  }

  void AddConfigure() {
    auto options = std::make_shared<ConfigureOptions>();
    auto* command =
        Add("configure", "Change the settings of an election, even before its first campaign",
            RunConfigure, options);
    AddChange(command, options->change);
    AddDuration(*command, "--lock-delay", options->lock_delay, Duration(0),
                "How long the seat stays empty after a leader expired or was deposed");
    AddDuration(
        *command, "--min-hold", options->min_hold, Duration(0),
        "Minimum length of a term: after an earlier resignation the seat stays empty until then");
    AddDuration(*command, "--default-ttl", options->default_ttl, Duration(0),
                "Lease of a candidate that does not ask for one (0s: server default)");
    AddDuration(*command, "--max-ttl", options->max_ttl, Duration(0),
                "Longest lease (0s: server limit)");
    AddNumber(command, "--max-candidates", options->max_candidates,
              "Maximum queue length (0: server limit)");
    command->parse_complete_callback([options] {
      const bool any = options->lock_delay || options->min_hold || options->default_ttl ||
                       options->max_ttl || options->max_candidates;
      if (!any)
        throw CLI::ValidationError("configure",
                                   "needs at least one setting, such as --lock-delay 10s");
    });
  }

  void AddDelete() {
    auto options = std::make_shared<ChangeOptions>();
    auto* command = Add("delete", "Remove an election's leader, candidates, settings and history",
                        RunDelete, options);
    AddChange(command, *options);
    AddTerm(command, *options);
    command->footer("Terms never start again: the next leader gets a higher term.\n" +
                    std::string(kChangeFooter));
  }

  void AddPurge() {
    auto options = std::make_shared<PurgeOptions>();
    auto* command = Add("purge", "Remove elections that nobody uses, for good", RunPurge, options);
    command->add_option("PREFIX", options->prefix, "Only elections with this name prefix");
    AddDuration(*command, "--unused-for", options->unused_for, kUnusedMin,
                "How long nothing must have changed in an election, such as 720h");
    command->get_option("--unused-for")->required();
    command->add_flag("--dry-run", options->dry_run, "Only show what would be purged");
    AddReason(command, options->reason);
    command->footer(
        "Elections are kept if they have a leader, candidates, a pause, or settings of their own.\n"
        "Terms never start again: every new election begins with a higher term.\n" +
        std::string(kChangeFooter));
  }

  void AddEndSession() {
    auto options = std::make_shared<EndSessionOptions>();
    auto* command = Add("end-session", "End a session: it loses all its seats and places in queues",
                        RunEndSession, options);
    command->footer(kChangeFooter);
    command->add_option("SESSION", options->handle, "Session handle, from `tenure sessions`")
        ->required();
    AddReason(command, options->reason);
  }

 private:
  template <typename Options>
  CLI::App* Add(const std::string& name, const std::string& help,
                int (*run)(const CommonOptions&, const Options&),
                const std::shared_ptr<Options>& options) {
    auto* command = app_.add_subcommand(name, help);
    command->group(kAdministrationGroup);
    command->callback([&common = common_, &chosen = chosen_, run, options] {
      chosen = [&common, run, options] { return run(common, *options); };
    });
    return command;
  }

  template <typename Number>
  static void AddNumber(CLI::App* command, const std::string& flag, Number& target,
                        const std::string& help) {
    command->add_option(flag, target, help)
        ->check(WholeNumber(0, std::numeric_limits<int64_t>::max()))
        ->type_name("N");
  }

  static void AddLimit(CLI::App* command, uint64_t& limit, const std::string& help) {
    AddNumber(command, "--limit", limit, help + " (0: no limit)");
  }

  static void AddReason(CLI::App* command, std::string& reason) {
    command->add_option("--reason", reason, "Why, for the record")->type_name("TEXT");
  }

  static void AddChange(CLI::App* command, ChangeOptions& change) {
    command->footer(kChangeFooter);
    command->add_option("ELECTION", change.election, "Election")->required();
    AddReason(command, change.reason);
  }

  static void AddTerm(CLI::App* command, ChangeOptions& change) {
    AddNumber(command, "--term", change.term, kTermHelp);
  }

  CLI::App& app_;
  const CommonOptions& common_;
  Chosen& chosen_;
};

}  // namespace

void AddAdminCommands(CLI::App& app, const CommonOptions& common, Chosen& chosen) {
  Commands commands(app, common, chosen);
  commands.AddStatus();
  commands.AddTop();
  commands.AddList();
  commands.AddDescribe();
  commands.AddHistory();
  commands.AddSessions();
  commands.AddAppoint();
  commands.AddDepose();
  commands.AddPauseAndResume();
  commands.AddConfigure();
  commands.AddDelete();
  commands.AddPurge();
  commands.AddEndSession();
}

}  // namespace tenure
