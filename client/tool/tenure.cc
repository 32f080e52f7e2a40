// The command line tool: reads what it is asked, and runs it.
#include <CLI/CLI.hpp>
#include <iostream>

#include "client/tool/arguments.h"
#include "client/tool/exit_code.h"

namespace tenure {
namespace {

constexpr char kVersion[] = "tenure 0.1.0";
constexpr char kFooter[] =
    R"(Durations are written like 500ms, 10s or 2m. `tenure COMMAND --help` says more.

Exit codes:
  0  done
  1  any other error
  2  wrong usage
  3  campaign, run: not elected
  4  campaign, run: the seat was lost
  5  there is no such election or session
  6  refused as things stand (STALE_TERM, CANDIDATE_NOT_STANDING, ELECTION_PAUSED, ...):
     look again, and decide anew)";

int Run(int argc, char** argv) {
  CommonOptions common;
  CLI::App app("Elects leaders through a Tenure service, shows who leads, and runs elections.",
               "tenure");
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

  Chosen chosen;
  AddElectionCommands(app, common, chosen);
  AddAdminCommands(app, common, chosen);
  app.footer(kFooter);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    std::cerr << "tenure: " << error.what() << "\nTry: tenure --help" << std::endl;
    return kExitUsage;
  }
  return chosen();
}

}  // namespace
}  // namespace tenure

int main(int argc, char** argv) { return tenure::Run(argc, argv); }
