// The command line tool: reads what it is asked, and runs it.
#include <CLI/CLI.hpp>
#include <iostream>
#include <stdexcept>

#include "client/tool/arguments.h"
#include "client/tool/exit_code.h"
#include "client/tool/output.h"
#include "core/version.h"

namespace tenure {
namespace {

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

void AddFile(CLI::App& app, const std::string& flag, const std::string& variable,
             CommonOptions& common, std::string& target, const std::string& help) {
  app.add_option_function<std::string>(
         flag,
         [&common, &target](const std::string& path) {
           target = path;
           common.tls |= !path.empty();
         },
         help)
      ->envname(variable);
}

int Run(int argc, char** argv) {
  CommonOptions common;
  CLI::App app("Elects leaders through a Tenure service, shows who leads, and runs elections.",
               "tenure");
  app.set_version_flag("--version", std::string("tenure ") + kVersion);
  app.require_subcommand(1);
  app.option_defaults()->always_capture_default();
  app.add_option("--endpoint", common.endpoints,
                 "Replicas of the service: HOST:PORT[,HOST:PORT...]")
      ->envname("TENURE_ENDPOINTS")
      ->check([](const std::string& text) {
        const bool any = text.find_first_not_of(',') != std::string::npos;
        return any ? "" : "names no endpoint";
      });
  app.add_flag("--tls", common.tls, "Use TLS, which each of these does, too")
      ->envname("TENURE_CLIENT_TLS");
  AddFile(app, "--tls-ca", "TENURE_CLIENT_TLS_CA", common, common.tls_files.ca,
          "Who signs the service's certificate (PEM); otherwise those whom this machine trusts");
  AddFile(app, "--tls-cert", "TENURE_CLIENT_TLS_CERT", common, common.tls_files.certificate,
          "A certificate to show to the service (PEM)");
  AddFile(app, "--tls-key", "TENURE_CLIENT_TLS_KEY", common, common.tls_files.key, "Its key (PEM)");
  AddFile(app, "--token-file", "TENURE_CLIENT_TOKEN_FILE", common, common.tls_files.token,
          "A file whose first line is sent with each call, as a bearer token");
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
  try {
    return chosen();
  } catch (const std::invalid_argument& error) {  // of the options that are read when they are used
    Output::Complain(error.what());
    return kExitUsage;
  }
}

}  // namespace
}  // namespace tenure

int main(int argc, char** argv) { return tenure::Run(argc, argv); }
