#include "server/process/config.h"

#include <grpcpp/grpcpp.h>
#include <pwd.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <cstdlib>
#include <fstream>
#include <iostream>

#include "base/duration_text.h"
#include "base/text.h"
#include "base/version.h"
#include "command_line/command_line.h"
#include "core/validation.h"
#include "server/engine/work/scheduler.h"
#include "server/network/listening.h"

namespace tenure::process {
namespace {

using namespace std::chrono_literals;

constexpr int64_t kQueueMaxMax = 1'000'000'000;
constexpr int64_t kHistoryEventsMax = 1'000'000'000;
constexpr int64_t kConnectionsMaxMax = 1'000'000;
constexpr size_t kGrpcThreadsMax = 64;
constexpr size_t kMetricsElectionsDefault = 100;
constexpr int64_t kMetricsElectionsMax = 10'000;
constexpr size_t kAdvertiseMax = 255;  // bytes: the size of the database's column
constexpr char kFooter[] =
    R"(Each flag can also be set by its environment variable (Env above); the flag wins. An empty
variable counts as not set. Durations are written like 500ms, 10s or 2m.

Exit codes:
  0  success, or stopped by SIGINT or SIGTERM
  1  any other error
  2  wrong usage: a flag, an environment variable or the password file)";

std::string HostName() {
  std::array<char, HOST_NAME_MAX + 1> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "localhost";
}

// The user who runs this program, as USER@HOST, made fit for the record.
std::string Operator() {
  const char* user = std::getenv("SUDO_USER");
  if (user == nullptr) {
    const passwd* entry = getpwuid(getuid());
    user = entry == nullptr ? "unknown" : entry->pw_name;
  }
  std::string identity = Printable(std::string(user) + "@" + HostName());
  while (identity.size() > kNameBytesMax) identity = WithoutLast(identity);
  return identity;
}

// Why a reason cannot be recorded; nothing if it can.
std::optional<std::string> FaultOfReason(const std::string& reason) {
  if (!IsUtf8(reason)) return "--reason: the reason is not UTF-8";
  const auto parsed = ParseReason(reason);
  if (!parsed) return "--reason: " + parsed.error().message;
  return std::nullopt;
}

// Adds an option that is a duration, and its environment variable.
template <typename Time>
void AddDuration(CLI::App& app, const std::string& flag, const std::string& variable, Time& target,
                 const std::string& help, Duration least = 1ms) {
  app.add_option_function<std::string>(
         flag,
         [flag, &target, least](const std::string& text) {
           target = std::chrono::duration_cast<Time>(ReadDuration(flag, text, least));
         },
         help)
      ->type_name("DURATION")
      ->envname(variable)
      ->default_str(DurationText(std::chrono::duration_cast<Duration>(target)));
}

// The host's own name if `listen` is all addresses, to which nobody can connect. REQUIRES: an
// address.
std::string AddressToAdvertise(const std::string& listen) {
  const auto address = network::ParseAddress(listen);
  if (!network::IsAllAddresses(address->host)) return listen;
  return HostName() + ":" + std::to_string(address->port);
}

// Why the value of a flag is not an address; nothing if it is one.
std::optional<std::string> FaultOf(const char* flag, const std::string& text, const char* example) {
  if (network::ParseAddress(text)) return std::nullopt;
  return std::string(flag) + ": '" + text + "' is not an address; write HOST:PORT, such as " +
         example;
}

// A pod that knows its address writes "fd00::1:7070".
std::string WithBrackets(const std::string& address) {
  const size_t port = address.rfind(':');
  const bool bare = address.find(':') < port && address.find('[') == address.npos;
  return bare ? "[" + address.substr(0, port) + "]" + address.substr(port) : address;
}

int WrongUsage(const std::string& what) {
  std::cerr << "tenured: " << what << std::endl;
  return kExitUsage;
}

}  // namespace

rpc::SharedSettings SharedSettingsOf(const ServerConfig& config) {
  const Limits& limits = config.limits;
  const bool recovers = config.on_lost_commits == engine::OnLostCommits::kRecover;
  return {{"--lease-ttl-min", DurationText(limits.lease_ttl_min)},
          {"--lease-ttl-max", DurationText(limits.lease_ttl_max)},
          {"--lease-ttl-default", DurationText(limits.lease_ttl_default)},
          {"--queue-max", std::to_string(limits.queue_max)},
          {"--no-adaptive-leases", limits.adaptive_leases ? "not set" : "set"},
          {"--history-max-age", DurationText(config.retention.age_max)},
          {"--history-max-events", std::to_string(config.retention.events_max)},
          {"--history-min-age", DurationText(config.retention.age_min)},
          {"--on-lost-commits", recovers ? "recover" : "stop"}};
}

tl::expected<ServerConfig, int> ParseServerConfig(int argc, const char* const* argv) {
  ServerConfig config;
  std::string password_file;
  bool no_migrate = false;
  CLI::App app("Leader election as a service, on the MySQL you already run.", "tenured");
  app.footer(kFooter);
  app.set_version_flag("--version",
                       std::string("tenured ") + kVersion + "\ngRPC " + grpc::Version(),
                       "Print the version and exit");
  app.option_defaults()->always_capture_default();
  app.add_option("--listen", config.listen, "Address to serve gRPC on")
      ->type_name("HOST:PORT")
      ->envname("TENURE_LISTEN");
  app.add_option("--http-listen", config.http_listen,
                 "Address to serve /metrics, /healthz and /readyz on")
      ->type_name("HOST:PORT")
      ->envname("TENURE_HTTP_LISTEN");
  app.add_option("--advertise", config.advertise,
                 "Where other replicas reach --listen, to hear at once what this one commits "
                 "(default: --listen; the host name, if that is all addresses)")
      ->type_name("HOST:PORT")
      ->envname("TENURE_ADVERTISE");
  app.add_option("--connections-max", config.connections.max,
                 "Maximum number of connections to --listen")
      ->check(WholeNumber(1, kConnectionsMaxMax))
      ->type_name("N")
      ->envname("TENURE_CONNECTIONS_MAX");
  app.add_option("--connections-per-address-max", config.connections.per_address_max,
                 "Maximum number of them from one IPv4 address, or one /64 of IPv6")
      ->check(WholeNumber(1, kConnectionsMaxMax))
      ->type_name("N")
      ->envname("TENURE_CONNECTIONS_PER_ADDRESS_MAX");
  app.add_option("--grpc-threads", config.grpc_threads,
                 "Number of threads that serve --listen; one is fastest on a few processors")
      ->check(WholeNumber(1, kGrpcThreadsMax))
      ->type_name("N")
      ->envname("TENURE_GRPC_THREADS");
  app.add_option("--tls-cert", config.tls.certificate, "Certificate chain (PEM); turns TLS on")
      ->type_name("FILE")
      ->envname("TENURE_TLS_CERT");
  app.add_option("--tls-key", config.tls.key, "Private key of --tls-cert (PEM)")
      ->type_name("FILE")
      ->envname("TENURE_TLS_KEY");
  app.add_option("--tls-client-ca", config.tls.client_ca,
                 "CA bundle that client certificates must chain to (PEM)")
      ->type_name("FILE")
      ->envname("TENURE_TLS_CLIENT_CA");
  const auto* client_certs =
      AddChoice<access::ClientCertificates>(
          app, "--tls-client-certs", config.tls.client_certificates,
          {{"required", access::ClientCertificates::kRequired},
           {"optional", access::ClientCertificates::kOptional}},
          "Whether every client must present a certificate (with --tls-client-ca)")
          ->default_str("required")
          ->envname("TENURE_TLS_CLIENT_CERTS");
  app.add_option("--policy", config.policy,
                 "Access policy (YAML); without one, every client may do everything")
      ->type_name("FILE")
      ->envname("TENURE_POLICY");
  const auto* store =
      app.add_option(
             "--store", config.store_url,
             "Database: sqlite:PATH, sqlite::memory: or "
             "mysql://USER@HOST[:PORT][,HOST2...]/DATABASE[?NAME=VALUE[&...]], with the parameters "
             "tls, tls-ca, tls-cert, tls-key and socket")
          ->type_name("URL")
          ->envname("TENURE_STORE");
  app.add_option(
         "--store-password-file", password_file,
         "File whose first line is the database password, read for each connection (default: the "
         "environment variable TENURE_STORE_PASSWORD)")
      ->type_name("FILE")
      ->envname("TENURE_STORE_PASSWORD_FILE");
  app.add_option("--service-id", config.service_id,
                 "Serve only if the database belongs to this service: the service_id that tenure "
                 "status shows (default: any)")
      ->type_name("ID")
      ->envname("TENURE_SERVICE_ID");
  app.add_flag("--no-migrate", no_migrate, "Do not update the schema at startup")
      ->envname("TENURE_NO_MIGRATE");
  app.add_flag("--share-database", config.share_database,
               "Create the tables also in a database that holds tables of other applications")
      ->envname("TENURE_SHARE_DATABASE");
  AddDuration(app, "--lease-ttl-min", "TENURE_LEASE_TTL_MIN", config.limits.lease_ttl_min,
              "Shortest lease that a client may ask for");
  AddDuration(app, "--lease-ttl-max", "TENURE_LEASE_TTL_MAX", config.limits.lease_ttl_max,
              "Longest lease that a client may ask for");
  AddDuration(app, "--lease-ttl-default", "TENURE_LEASE_TTL_DEFAULT",
              config.limits.lease_ttl_default, "Lease of a client that does not ask for one");
  app.add_option("--queue-max", config.limits.queue_max,
                 "Maximum number of candidates waiting in one election")
      ->check(WholeNumber(0, kQueueMaxMax))
      ->type_name("N")
      ->envname("TENURE_QUEUE_MAX");
  bool no_adaptive_leases = false;
  app.add_flag("--no-adaptive-leases", no_adaptive_leases,
               "Do not lengthen the lease of a candidate whose last session expired while the "
               "candidate was still alive")
      ->envname("TENURE_NO_ADAPTIVE_LEASES");
  AddDuration(app, "--history-max-age", "TENURE_HISTORY_MAX_AGE", config.retention.age_max,
              "How long to keep events, terms and operators' changes");
  app.add_option("--history-max-events", config.retention.events_max,
                 "Maximum number of events to keep for each election")
      ->check(WholeNumber(1, kHistoryEventsMax))
      ->type_name("N")
      ->envname("TENURE_HISTORY_MAX_EVENTS");
  AddDuration(app, "--history-min-age", "TENURE_HISTORY_MIN_AGE", config.retention.age_min,
              "How long to keep events even beyond --history-max-events");
  AddDuration(app, "--poll-interval", "TENURE_POLL_INTERVAL", config.feed_interval,
              "When to poll for changes that neither other replicas nor a beat have shown");
  AddDuration(app, "--drain-timeout", "TENURE_DRAIN_TIMEOUT", config.drain_timeout,
              "How long open calls may continue after SIGTERM");
  AddChoice<engine::OnLostCommits>(
      app, "--on-lost-commits", config.on_lost_commits,
      {{"recover", engine::OnLostCommits::kRecover}, {"stop", engine::OnLostCommits::kStop}},
      "What to do if the database lost commits: wait for the longest lease and 3 s, raise all "
      "terms and go "
      "on; or serve nothing until somebody runs tenured bump-terms")
      ->default_str("recover")
      ->envname("TENURE_ON_LOST_COMMITS");
  config.metrics.elections_max = kMetricsElectionsDefault;
  app.add_option("--metrics-elections", config.metrics.elections_max,
                 "Maximum number of elections with metrics of their own")
      ->check(WholeNumber(0, kMetricsElectionsMax))
      ->type_name("N")
      ->envname("TENURE_METRICS_ELECTIONS");
  app.add_option("--metrics-election-prefix", config.metrics.election_prefixes,
                 "Give metrics of their own only to elections with this name prefix; repeat the "
                 "flag, or separate prefixes with commas (default: all elections)")
      ->expected(1)
      ->delimiter(',')
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->type_name("PREFIX")
      ->default_str("")
      ->envname("TENURE_METRICS_ELECTION_PREFIX");
  AddChoice<LogFormat>(app, "--log-format", config.log.format,
                       {{"text", LogFormat::kText}, {"json", LogFormat::kJson}},
                       "Log as plain text, or as one JSON object per line")
      ->default_str("text")
      ->envname("TENURE_LOG_FORMAT");
  AddChoice<spdlog::level::level_enum>(app, "--log-level", config.log.level,
                                       {{"info", spdlog::level::info},
                                        {"warning", spdlog::level::warn},
                                        {"error", spdlog::level::err}},
                                       "Lowest level to log")
      ->default_str("info")
      ->envname("TENURE_LOG_LEVEL");
  app.fallthrough();  // options may follow the subcommand
  app.require_subcommand(0, 1);
  const auto* migrate = app.add_subcommand("migrate", "Update the schema, then exit");
  const auto* healthcheck = app.add_subcommand(
      "healthcheck", "Query /healthz of the tenured on --http-listen; exit with 1 if it fails");
  auto* bump =
      app.add_subcommand("bump-terms", "Raise all terms after commits were lost, then exit");
  bump->add_option("--reason", config.author.reason, "Why, for the record")->type_name("TEXT");
  const auto* check = app.add_subcommand(
      "check",
      "Say whether tenured would serve with these options: the servers of --store, its schema and "
      "rights, TLS files and policy; exit with 1 if not");
  if (const auto exit_code = ParseCommandLine(app, argc, argv)) return tl::unexpected(*exit_code);
  config.migrate_only = migrate->parsed();
  config.healthcheck = healthcheck->parsed();
  config.bump_terms = bump->parsed();
  config.check = check->parsed();
  if (config.bump_terms) {
    if (const auto fault = FaultOfReason(config.author.reason)) {
      return tl::unexpected(WrongUsage(*fault));
    }
    config.author.identity = Operator();
  }
  // The default is for trying Tenure out. Commands that act on a database do not guess which one is
  // meant.
  for (const auto* command : {migrate, static_cast<const CLI::App*>(bump), check}) {
    if (!command->parsed() || store->count() > 0) continue;
    return tl::unexpected(WrongUsage("tenured " + command->get_name() +
                                     " needs --store (or TENURE_STORE): the URL of the database "
                                     "that the replicas use"));
  }
  config.migrate = !no_migrate;

  config.limits.adaptive_leases = !no_adaptive_leases;
  if (config.retention.age_max < config.retention.age_min) {
    return tl::unexpected(WrongUsage(
        "--history-max-age must not be shorter than --history-min-age; they are " +
        DurationText(config.retention.age_max) + " and " + DurationText(config.retention.age_min)));
  }

  const Limits& limits = config.limits;
  if (limits.lease_ttl_default < limits.lease_ttl_min ||
      limits.lease_ttl_default > limits.lease_ttl_max) {
    return tl::unexpected(WrongUsage(
        "--lease-ttl-default must be between --lease-ttl-min and --lease-ttl-max; it is " +
        DurationText(limits.lease_ttl_default) + ", and they are " +
        DurationText(limits.lease_ttl_min) + " and " + DurationText(limits.lease_ttl_max)));
  }
  if (config.tls.certificate.empty() != config.tls.key.empty()) {
    return tl::unexpected(
        WrongUsage("--tls-cert and --tls-key need each other: set both or neither"));
  }
  if (config.tls.certificate.empty() && !config.tls.client_ca.empty()) {
    return tl::unexpected(WrongUsage("--tls-client-ca needs --tls-cert and --tls-key"));
  }
  if (config.tls.client_ca.empty() && client_certs->count() > 0) {
    return tl::unexpected(WrongUsage("--tls-client-certs needs --tls-client-ca"));
  }
  if (!config.service_id.empty() && !IsServiceId(config.service_id)) {
    return tl::unexpected(
        WrongUsage("--service-id must be 32 lower-case hexadecimal digits; it is '" +
                   config.service_id + "'"));
  }
  for (const auto& fault : {FaultOf("--listen", config.listen, "127.0.0.1:7070"),
                            FaultOf("--http-listen", config.http_listen, "127.0.0.1:7071")}) {
    if (fault) return tl::unexpected(WrongUsage(*fault));
  }
  config.advertise =
      WithBrackets(config.advertise.empty() ? AddressToAdvertise(config.listen) : config.advertise);
  const auto advertised = network::ParseAddress(config.advertise);
  if (!advertised || network::IsAllAddresses(advertised->host)) {
    return tl::unexpected(
        WrongUsage("--advertise: '" + config.advertise +
                   "' is not where others reach this replica; write HOST:PORT, such as " +
                   HostName() + ":7070"));
  }
  if (config.advertise.size() > kAdvertiseMax) {
    return tl::unexpected(WrongUsage("--advertise must not be longer than " +
                                     std::to_string(kAdvertiseMax) + " bytes"));
  }
  auto location = ParseStoreUrl(config.store_url);
  if (!location) return tl::unexpected(WrongUsage("--store: " + location.error()));
  config.store = *std::move(location);
  config.metrics.version = kVersion;
  config.metrics.store = std::holds_alternative<SqliteLocation>(config.store) ? "sqlite" : "mysql";
  if (auto* mysql = std::get_if<mysql::Config>(&config.store)) {
    if (const auto fault = mysql::FaultOfFiles(mysql->tls))
      return tl::unexpected(WrongUsage("--store: " + *fault));
    if (!password_file.empty()) {
      const auto password = mysql::ReadPassword(password_file);
      if (!password)
        return tl::unexpected(WrongUsage("--store-password-file: " + password.error()));
      mysql->password_file = password_file;
    } else if (const char* password = std::getenv("TENURE_STORE_PASSWORD")) {
      mysql->password = password;  // it has no flag, because `ps` would show it
    }
    mysql->connections_max = engine::ThreadScheduler::kThreadsTotal;
  }
  return config;
}

}  // namespace tenure::process
