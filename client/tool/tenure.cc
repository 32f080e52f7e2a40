// The command line tool: parses the command line, and runs the command.
#include <csignal>
#include <stdexcept>

#include "base/version.h"
#include "client/cpp/machine/endpoints.h"
#include "client/tool/arguments.h"
#include "client/tool/exit_code.h"
#include "client/tool/output.h"
#include "command_line/command_line.h"
#include "core/validation.h"
#include "tls/openssl_at_exit.h"

namespace tenure {
namespace {

constexpr char kFooter[] =
    R"(Run `tenure COMMAND --help` for the options of a command. Durations are written like 500ms,
10s or 2m. A flag wins over its environment variable; an empty variable counts as not set.

Exit codes:
  0  success
  1  any other error
  2  wrong usage
  3  campaign, run: not elected
  4  campaign, run: the seat was lost
  5  no such election or session
  6  refused in the current state (STALE_TERM, CANDIDATE_NOT_STANDING, ELECTION_PAUSED, ...):
     look at the election again before you retry
  7  unavailable: no replica can serve)";

void AddFile(CLI::App& app, const std::string& flag, const std::string& variable,
             CommonOptions& common, std::string& target, const std::string& help) {
  app.add_option_function<std::string>(
         flag,
         [&common, &target](const std::string& path) {
           target = path;
           common.tls |= !path.empty();
         },
         help)
      ->type_name(kFileType)
      ->envname(variable);
}

int Run(int argc, char** argv) {
  CommonOptions common;
  CLI::App app("Take part in the elections of a Tenure service, watch them, and manage them.",
               "tenure");
  app.set_version_flag("--version", std::string("tenure ") + kVersion,
                       "Print the version and exit");
  app.require_subcommand(1);
  app.option_defaults()->always_capture_default();
  app.add_option("--endpoint", common.endpoints, "Replicas of the service, separated by commas")
      ->type_name("HOST:PORT[,...]")
      ->envname("TENURE_ENDPOINTS")
      ->check([](const std::string& text) {
        const auto parsed = ParseEndpoints(text);
        return parsed ? "" : parsed.error();
      });
  app.add_flag("--tls", common.tls, "Use TLS (implied by the other TLS options)")
      ->envname("TENURE_CLIENT_TLS");
  AddFile(app, "--tls-ca", "TENURE_CLIENT_TLS_CA", common, common.tls_files.ca,
          "CA bundle that the service's certificate must chain to (PEM; default: the CAs that this "
          "machine trusts)");
  AddFile(app, "--tls-cert", "TENURE_CLIENT_TLS_CERT", common, common.tls_files.certificate,
          "Client certificate to present to the service (PEM)");
  AddFile(app, "--tls-key", "TENURE_CLIENT_TLS_KEY", common, common.tls_files.key,
          "Private key of --tls-cert (PEM)");
  AddFile(app, "--token-file", "TENURE_CLIENT_TOKEN_FILE", common, common.tls_files.token,
          "File whose first line is sent with each call as a bearer token; turns TLS on");
  app.add_option("--service-id", common.service_id,
                 "Id of the service, from `tenure status`; replicas of another one are not used")
      ->type_name("ID")
      ->envname("TENURE_CLIENT_SERVICE_ID")
      ->check([](const std::string& text) {
        return IsServiceId(text) ? "" : "'" + text + "' is not 32 lower-case hexadecimal digits";
      });
  app.add_flag("--json", common.json, "Print one JSON object per line");
  app.fallthrough();

  Chosen chosen;
  AddElectionCommands(app, common, chosen);
  AddAdminCommands(app, common, chosen);
  AddCompletionCommand(app, chosen);
  app.footer(kFooter);
  // Scripts may pass an empty value or reason.
  const auto exit_code = ParseCommandLine(app, argc, argv, {"--value", "--reason"});
  if (exit_code) return Output::Close(*exit_code);
  try {
    return Output::Close(chosen());
  } catch (const std::invalid_argument& error) {  // from files that are only read now
    Output::Complain(error.what());
    return kExitUsage;
  }
}

}  // namespace
}  // namespace tenure

int main(int argc, char** argv) {
  tenure::tls::KeepOpenSslAtExit();
  signal(SIGPIPE, SIG_IGN);  // a closed output is an error like any other
  return tenure::Run(argc, argv);
}
