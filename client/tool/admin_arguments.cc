#include <memory>

#include "client/tool/admin_commands.h"
#include "client/tool/arguments.h"

namespace tenure {
namespace {

constexpr char kGroup[] = "Administration";
constexpr char kChangeFooter[] =
    "Every change is recorded with who asked and why: see `tenure history`. It may be sent again.";
constexpr char kTermHelp[] =
    "Only if this is the election's latest term (default: the one that is seen first)";

// Adds one subcommand after the other.
class Commands {
 public:
  Commands(CLI::App& app, const CommonOptions& common, Chosen& chosen)
      : app_(app), common_(common), chosen_(chosen) {}

  void AddList() {
    auto options = std::make_shared<ListOptions>();
    auto* command = Add("list", "List elections: who leads, who waits, what is out of the ordinary",
                        RunList, options);
    command->add_option("PREFIX", options->prefix, "Only elections whose names begin so");
    AddLimit(command, options->limit, "At most so many");
  }

  void AddTop() {
    auto options = std::make_shared<TopOptions>();
    auto* command = Add("top", "Watch elections live", RunTop, options);
    command->add_option("PREFIX", options->prefix, "Only elections whose names begin so");
    command->footer(
        "Keys: q quit; j, k, arrows, PgUp, PgDn, Home, End scroll; / filter by election or "
        "leader,\n"
        "Enter keeps the filter, Esc clears it. Where there is no terminal, or with --json, it\n"
        "prints what `tenure list` prints.");
  }

  void AddDescribe() {
    auto options = std::make_shared<DescribeOptions>();
    auto* command =
        Add("describe", "Show one election: leader, settings, queue", RunDescribe, options);
    command->add_option("ELECTION", options->election, "The election")->required();
    AddLimit(command, options->limit, "At most so many of its queue");
  }

  void AddHistory() {
    auto options = std::make_shared<HistoryOptions>();
    auto* command =
        Add("history", "Show who led an election, and what operators changed; the latest first",
            RunHistory, options);
    command->add_option("ELECTION", options->election,
                        "The election. Without it: what operators changed anywhere");
    AddLimit(command, options->limit, "At most so many terms, and so many changes");
  }

  void AddSessions() {
    auto options = std::make_shared<ListOptions>();
    auto* command = Add("sessions", "List live sessions: who campaigns, where each leads and waits",
                        RunSessions, options);
    command->add_option("PREFIX", options->prefix, "Only candidates whose names begin so");
    AddLimit(command, options->limit, "At most so many");
  }

  void AddAppoint() {
    auto options = std::make_shared<AppointOptions>();
    auto* command = Add("appoint", "Give the seat to a candidate", RunAppoint, options);
    AddChange(command, options->change);
    AddTerm(command, options->change);
    command->add_option("CANDIDATE", options->candidate, "Who is to lead")->required();
    command->add_flag("--force", options->force, "End the leader's term now, instead of asking it");
    AddDuration(*command, "--reserve-for", options->reserve_for, Duration(1),
                "Keep the seat so long for a candidate that does not stand yet");
    command->footer(
        "The leader is asked to step down; the seat passes to the candidate when it resigns, or\n"
        "when its lease ends. To appoint the leader itself calls that off.\n" +
        std::string(kChangeFooter));
  }

  void AddDepose() {
    auto options = std::make_shared<DeposeOptions>();
    auto* command = Add("depose", "End the leader's term now", RunDepose, options);
    AddChange(command, options->change);
    AddTerm(command, options->change);
    AddDuration(*command, "--cool-down", options->cool_down, Duration(0),
                "Keep its candidate from being elected again for so long");
  }

  void AddPauseAndResume() {
    auto paused = std::make_shared<ChangeOptions>();
    AddChange(
        Add("pause", "Grant no seat from now on; who leads goes on to lead", RunPause, paused),
        *paused);
    auto resumed = std::make_shared<ChangeOptions>();
    AddChange(Add("resume", "Grant seats again", RunResume, resumed), *resumed);
  }

  void AddConfigure() {
    auto options = std::make_shared<ConfigureOptions>();
    auto* command = Add("configure", "Change settings of an election, or set them before its first",
                        RunConfigure, options);
    AddChange(command, options->change);
    AddDuration(*command, "--lock-delay", options->lock_delay, Duration(0),
                "The seat stays empty so long after a leader expired or was deposed");
    AddDuration(*command, "--min-hold", options->min_hold, Duration(0),
                "Who resigns earlier than this leaves a seat that stays empty until then");
    AddDuration(*command, "--default-ttl", options->default_ttl, Duration(0),
                "The lease of who asks for none; 0s: the server's");
    AddDuration(*command, "--max-ttl", options->max_ttl, Duration(0),
                "The longest lease; 0s: the server's");
    AddNumber(command, "--max-candidates", options->max_candidates,
              "So many may wait; 0: as many as the server allows");
    command->parse_complete_callback([options] {
      const bool any = options->lock_delay || options->min_hold || options->default_ttl ||
                       options->max_ttl || options->max_candidates;
      if (!any) throw CLI::ValidationError("configure", "at least one setting is required");
    });
  }

  void AddDelete() {
    auto options = std::make_shared<ChangeOptions>();
    auto* command = Add("delete", "Remove an election's leader, candidates, settings and history",
                        RunDelete, options);
    AddChange(command, *options);
    AddTerm(command, *options);
    command->footer("The next campaign is elected in a higher term.\n" +
                    std::string(kChangeFooter));
  }

  void AddEndSession() {
    auto options = std::make_shared<EndSessionOptions>();
    auto* command =
        Add("end-session", "End a session, with all its seats and places", RunEndSession, options);
    command->footer(kChangeFooter);
    command->add_option("SESSION", options->handle, "The session's handle: see `tenure sessions`")
        ->required();
    AddReason(command, options->reason);
  }

 private:
  template <typename Options>
  CLI::App* Add(const std::string& name, const std::string& help,
                int (*run)(const CommonOptions&, const Options&),
                const std::shared_ptr<Options>& options) {
    auto* command = app_.add_subcommand(name, help);
    command->group(kGroup);
    command->callback([&common = common_, &chosen = chosen_, run, options] {
      chosen = [&common, run, options] { return run(common, *options); };
    });
    return command;
  }

  // CLI11 would take -1 for the largest number there is.
  template <typename Number>
  static void AddNumber(CLI::App* command, const std::string& flag, Number& target,
                        const std::string& help) {
    command->add_option(flag, target, help)->check(CLI::NonNegativeNumber)->type_name("N");
  }

  static void AddLimit(CLI::App* command, uint64_t& limit, const std::string& help) {
    AddNumber(command, "--limit", limit, help + "; 0: all");
  }

  static void AddReason(CLI::App* command, std::string& reason) {
    command->add_option("--reason", reason, "Why, for the record");
  }

  static void AddChange(CLI::App* command, ChangeOptions& change) {
    command->footer(kChangeFooter);
    command->add_option("ELECTION", change.election, "The election")->required();
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
  commands.AddEndSession();
}

}  // namespace tenure
