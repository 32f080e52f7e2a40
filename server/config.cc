#include "server/config.h"

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <fstream>
#include <iostream>

#include "core/duration_text.h"
#include "core/version.h"
#include "server/scheduler.h"

namespace tenure {
namespace {

constexpr int64_t kQueueMaxMax = 1'000'000'000;
constexpr int64_t kHistoryEventsMax = 1'000'000'000;
constexpr size_t kMetricsElectionsDefault = 100;
constexpr int64_t kMetricsElectionsMax = 10'000;

// Adds an option that is a duration, and its environment variable.
template <typename Time>
void AddDuration(CLI::App& app, const std::string& flag, const std::string& variable, Time& target,
                 const std::string& help) {
  const auto read = [&target](const std::string& text) {
    const auto parsed = ParseDuration(text);
    if (!parsed) return false;
    const auto time = std::chrono::duration_cast<Time>(*parsed);  // zero if it is less than a unit
    if (time > Time(0)) target = time;
    return time > Time(0);
  };
  app.add_option_function<std::string>(
         flag,
         [flag, read](const std::string& text) {
           if (!read(text)) {
             throw CLI::ValidationError(flag, "'" + text + "' is not a duration (500ms, 10s, 2m)");
           }
         },
         help)
      ->envname(variable)
      ->default_str(DurationText(std::chrono::duration_cast<Duration>(target)));
}

// The password: of the file, or else of the environment. Never of a flag, which `ps` would show.
tl::expected<std::string, std::string> ReadPassword(const std::string& file_name) {
  if (file_name.empty()) {
    const char* variable = std::getenv("TENURE_STORE_PASSWORD");
    return variable == nullptr ? "" : variable;
  }
  std::ifstream file(file_name);
  std::string password;
  if (!file || (!std::getline(file, password) && !file.eof())) {
    return tl::unexpected("cannot read the password file '" + file_name + "'");
  }
  if (password.ends_with('\r')) password.pop_back();
  return password;
}

int Complain(const std::string& what) {
  std::cerr << "tenured: " << what << std::endl;
  return EXIT_FAILURE;
}

}  // namespace

tl::expected<ServerConfig, int> ParseServerConfig(int argc, const char* const* argv) {
  ServerConfig config;
  std::string password_file;
  bool no_migrate = false;
  CLI::App app("Tenure: leader election as a service, on the MySQL that you already run.",
               "tenured");
  app.set_version_flag("--version", std::string("tenured ") + kVersion);
  app.option_defaults()->always_capture_default();
  app.add_option("--listen", config.listen, "Where to serve gRPC")->envname("TENURE_LISTEN");
  app.add_option("--http-listen", config.http_listen,
                 "Where to serve /metrics, /healthz and /readyz")
      ->envname("TENURE_HTTP_LISTEN");
  app.add_option("--tls-cert", config.tls.certificate, "The certificate's chain (PEM): serve TLS")
      ->envname("TENURE_TLS_CERT");
  app.add_option("--tls-key", config.tls.key, "Its key (PEM)")->envname("TENURE_TLS_KEY");
  app.add_option("--tls-client-ca", config.tls.client_ca,
                 "Who signs the clients' certificates (PEM)")
      ->envname("TENURE_TLS_CLIENT_CA");
  const auto* client_certs =
      app.add_option("--tls-client-certs", config.tls.client_certificates,
                     "With --tls-client-ca: whether each client needs a certificate")
          ->transform(CLI::CheckedTransformer(std::map<std::string, ClientCertificates>{
              {"required", ClientCertificates::kRequired},
              {"optional", ClientCertificates::kOptional}}))
          ->default_str("required")
          ->envname("TENURE_TLS_CLIENT_CERTS");
  app.add_option("--policy", config.policy,
                 "Who may do what (YAML); otherwise everybody everything")
      ->envname("TENURE_POLICY");
  app.add_option("--store", config.store_url,
                 "sqlite:PATH, sqlite::memory: or mysql://user@host[:port][,host2...]/database")
      ->envname("TENURE_STORE");
  app.add_option("--store-password-file", password_file,
                 "A file whose first line is the password (otherwise: TENURE_STORE_PASSWORD)")
      ->envname("TENURE_STORE_PASSWORD_FILE");
  app.add_flag("--no-migrate", no_migrate, "Do not bring the schema up to date at start")
      ->envname("TENURE_NO_MIGRATE");
  AddDuration(app, "--lease-ttl-min", "TENURE_LEASE_TTL_MIN", config.limits.lease_ttl_min,
              "The shortest lease that a client may ask for");
  AddDuration(app, "--lease-ttl-max", "TENURE_LEASE_TTL_MAX", config.limits.lease_ttl_max,
              "The longest lease that a client may ask for");
  AddDuration(app, "--lease-ttl-default", "TENURE_LEASE_TTL_DEFAULT",
              config.limits.lease_ttl_default, "The lease of a client that asks for none");
  app.add_option("--queue-max", config.limits.queue_max,
                 "How many candidates may wait in one election")
      ->check(CLI::Range(int64_t{0}, kQueueMaxMax))  // without it "-5" would be 2^64 - 5
      ->envname("TENURE_QUEUE_MAX");
  bool no_adaptive_leases = false;
  app.add_flag("--no-adaptive-leases", no_adaptive_leases,
               "Do not lengthen the lease of who lost its last session while it lived")
      ->envname("TENURE_NO_ADAPTIVE_LEASES");
  AddDuration(app, "--history-max-age", "TENURE_HISTORY_MAX_AGE", config.retention.age_max,
              "How long events, terms and operators' changes are kept");
  app.add_option("--history-max-events", config.retention.events_max,
                 "How many events of each election are kept")
      ->check(CLI::Range(int64_t{1}, kHistoryEventsMax))
      ->envname("TENURE_HISTORY_MAX_EVENTS");
  AddDuration(app, "--history-min-age", "TENURE_HISTORY_MIN_AGE", config.retention.age_min,
              "How long events are kept however many there are");
  AddDuration(app, "--poll-interval", "TENURE_POLL_INTERVAL", config.feed_interval,
              "How often to look for changes that other replicas made");
  AddDuration(app, "--drain-timeout", "TENURE_DRAIN_TIMEOUT", config.drain_timeout,
              "How long calls may go on after SIGTERM");
  config.metrics.elections_max = kMetricsElectionsDefault;
  app.add_option("--metrics-elections", config.metrics.elections_max,
                 "How many elections have metrics of their own")
      ->check(CLI::Range(int64_t{0}, kMetricsElectionsMax))
      ->envname("TENURE_METRICS_ELECTIONS");
  app.add_option(
         "--metrics-election-prefix", config.metrics.election_prefixes,
         "Only elections whose names begin so have them (repeatable, or separated by commas;"
         " otherwise: any)")
      ->expected(1)
      ->delimiter(',')
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->envname("TENURE_METRICS_ELECTION_PREFIX");
  app.add_option("--log-format", config.log.format, "text, or json: one object in each line")
      ->transform(CLI::CheckedTransformer(
          std::map<std::string, LogFormat>{{"text", LogFormat::kText}, {"json", LogFormat::kJson}}))
      ->default_str("text")
      ->envname("TENURE_LOG_FORMAT");
  app.add_option("--log-level", config.log.level, "The least that is logged: info, warning, error")
      ->transform(CLI::CheckedTransformer(
          std::map<std::string, spdlog::level::level_enum>{{"info", spdlog::level::info},
                                                           {"warning", spdlog::level::warn},
                                                           {"error", spdlog::level::err}}))
      ->default_str("info")
      ->envname("TENURE_LOG_LEVEL");
  app.fallthrough();  // options may follow the subcommand
  const auto* migrate = app.add_subcommand("migrate", "Bring the schema up to date, and exit");
  const auto* healthcheck = app.add_subcommand(
      "healthcheck", "Ask the tenured on --http-listen for /healthz; exit with 1 if it fails");
  const auto* bump =
      app.add_subcommand("bump-terms", "After commits were lost: raise all terms, and exit");
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {
    return tl::unexpected(app.exit(success));
  } catch (const CLI::ParseError& error) {
    return tl::unexpected(Complain(error.what()));
  }
  config.migrate_only = migrate->parsed();
  config.healthcheck = healthcheck->parsed();
  config.bump_terms = bump->parsed();
  config.migrate = !no_migrate;

  config.limits.adaptive_leases = !no_adaptive_leases;
  if (config.retention.age_max < config.retention.age_min) {
    return tl::unexpected(Complain("--history-max-age is shorter than --history-min-age"));
  }

  const Limits& limits = config.limits;
  if (limits.lease_ttl_default < limits.lease_ttl_min ||
      limits.lease_ttl_default > limits.lease_ttl_max) {
    return tl::unexpected(
        Complain("--lease-ttl-default is not between --lease-ttl-min and "
                 "--lease-ttl-max"));
  }
  if (config.tls.certificate.empty() != config.tls.key.empty()) {
    return tl::unexpected(Complain("--tls-cert and --tls-key go together"));
  }
  if (config.tls.certificate.empty() && !config.tls.client_ca.empty()) {
    return tl::unexpected(Complain("--tls-client-ca needs --tls-cert and --tls-key"));
  }
  if (config.tls.client_ca.empty() && client_certs->count() > 0) {
    return tl::unexpected(Complain("--tls-client-certs needs --tls-client-ca"));
  }
  auto location = ParseStoreUrl(config.store_url);
  if (!location) return tl::unexpected(Complain(location.error()));
  config.store = *std::move(location);
  config.metrics.version = kVersion;
  config.metrics.store = std::holds_alternative<SqliteLocation>(config.store) ? "sqlite" : "mysql";
  if (auto* mysql = std::get_if<mysql::Config>(&config.store)) {
    const auto password = ReadPassword(password_file);
    if (!password) return tl::unexpected(Complain(password.error()));
    mysql->password = *password;
    mysql->connections_max = ThreadScheduler::kThreadsTotal;
  }
  return config;
}

}  // namespace tenure
