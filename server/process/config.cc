#include "server/process/config.h"

#include <grpcpp/grpcpp.h>
#include <pwd.h>
#include <unistd.h>

#include <array>
#include <cctype>
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

// The host's own name if `listen` is all addresses, to which nobody can connect. REQUIRES: an
// address.
std::string AddressToAdvertise(const std::string& listen) {
  const auto address = network::ParseAddress(listen);
  if (!network::IsAllAddresses(address->host)) return listen;
  return HostName() + ":" + std::to_string(address->port);
}

// Why the value of a flag is not an address; nothing if it is one.
std::optional<std::string> FaultOf(const char* flag, const std::string& text, const char* example) {
  const auto address = network::ParseAddress(text);
  if (address && address->port > 0) return std::nullopt;
  if (address)
    return std::string(flag) + ": '" + text +
           "' has port 0; choose the port that others connect to";
  return std::string(flag) + ": '" + text + "' is not an address; write HOST:PORT, such as " +
         example;
}

// "--queue-max" -> "TENURE_QUEUE_MAX".
std::string VariableOf(const std::string& flag) {
  std::string name = "TENURE_";
  for (const char c : flag.substr(2)) name += c == '-' ? '_' : static_cast<char>(std::toupper(c));
  return name;
}

// The flags of tenured, and what they must be together. Each can be set by its variable.
class Flags {
 public:
  Flags() {
    app_.footer(kFooter);
    app_.set_version_flag("--version",
                          std::string("tenured ") + kVersion + "\ngRPC " + grpc::Version(),
                          "Print the version and exit");
    app_.option_defaults()->always_capture_default();
    AddPort();
    AddAccess();
    AddStore();
    AddElections();
    AddOperation();
    AddCommands();
  }

  // The configuration; or the exit code, if there is nothing to run.
  tl::expected<ServerConfig, int> Parse(int argc, const char* const* argv) {
    if (const auto exit_code = ParseCommandLine(app_, argc, argv)) {
      return tl::unexpected(*exit_code);
    }
    config_.migrate_only = migrate_->parsed();
    config_.healthcheck = healthcheck_->parsed();
    config_.bump_terms = bump_->parsed();
    config_.check = check_->parsed();
    config_.migrate = !no_migrate_;
    config_.limits.adaptive_leases = !no_adaptive_leases_;
    using Check = std::optional<std::string> (Flags::*)();
    for (const Check check : {&Flags::CheckCommand, &Flags::CheckElections, &Flags::CheckAccess,
                              &Flags::CheckPort, &Flags::CheckStore}) {
      const auto fault = (this->*check)();
      if (!fault) continue;
      std::cerr << "tenured: " << *fault << std::endl;
      return tl::unexpected(kExitUsage);
    }
    return std::move(config_);
  }

 private:
  template <typename T>
  CLI::Option* Add(const std::string& flag, T& value, const std::string& type,
                   const std::string& help) {
    return app_.add_option(flag, value, help)->type_name(type)->envname(VariableOf(flag));
  }
  template <typename T>
  void AddNumber(const std::string& flag, T& value, int64_t min, int64_t max,
                 const std::string& help) {
    Add(flag, value, "N", help)->check(WholeNumber(min, max));
  }
  template <typename Time>
  void AddDuration(const std::string& flag, Time& value, const std::string& help) {
    const auto read = [flag, &value](const std::string& text) {
      value = std::chrono::duration_cast<Time>(ReadDuration(flag, text, 1ms));
    };
    app_.add_option_function<std::string>(flag, read, help)
        ->type_name("DURATION")
        ->envname(VariableOf(flag))
        ->default_str(DurationText(std::chrono::duration_cast<Duration>(value)));
  }
  void AddFlag(const std::string& flag, bool& value, const std::string& help) {
    app_.add_flag(flag, value, help)->envname(VariableOf(flag));
  }
  // The first choice is the default.
  template <typename Value>
  CLI::Option* AddWord(const std::string& flag, Value& value,
                       const std::vector<std::pair<std::string, Value>>& choices,
                       const std::string& help) {
    return AddChoice<Value>(app_, flag, value, choices, help)
        ->default_str(choices.front().first)
        ->envname(VariableOf(flag));
  }

  void AddPort() {
    Add("--listen", config_.listen, "HOST:PORT", "Address to serve gRPC on");
    Add("--http-listen", config_.http_listen, "HOST:PORT",
        "Address to serve /metrics, /healthz and /readyz on");
    Add("--advertise", config_.advertise, "HOST:PORT",
        "Where other replicas reach --listen, to hear at once what this one commits "
        "(default: --listen; the host name, if that is all addresses)");
    AddNumber("--connections-max", config_.connections.max, 1, kConnectionsMaxMax,
              "Maximum number of connections to --listen");
    AddNumber("--connections-per-address-max", config_.connections.per_address_max, 1,
              kConnectionsMaxMax,
              "Maximum number of them from one IPv4 address, or one /64 of IPv6");
    AddNumber("--grpc-threads", config_.grpc_threads, 1, kGrpcThreadsMax,
              "Number of threads that serve --listen; one is fastest on a few processors");
  }

  void AddAccess() {
    Add("--tls-cert", config_.tls.certificate, "FILE", "Certificate chain (PEM); turns TLS on");
    Add("--tls-key", config_.tls.key, "FILE", "Private key of --tls-cert (PEM)");
    Add("--tls-client-ca", config_.tls.client_ca, "FILE",
        "CA bundle that client certificates must chain to (PEM)");
    client_certificates_ = AddWord<access::ClientCertificates>(
        "--tls-client-certs", config_.tls.client_certificates,
        {{"required", access::ClientCertificates::kRequired},
         {"optional", access::ClientCertificates::kOptional}},
        "Whether every client must present a certificate (with --tls-client-ca)");
    Add("--policy", config_.policy, "FILE",
        "Access policy (YAML); without one, every client may do everything");
  }

  void AddStore() {
    store_ = Add("--store", config_.store_url, "URL",
                 "Database: sqlite:PATH, sqlite::memory: or "
                 "mysql://USER@HOST[:PORT][,HOST2...]/DATABASE[?NAME=VALUE[&...]], with the "
                 "parameters tls, tls-ca, tls-cert, tls-key and socket");
    Add("--store-password-file", password_file_, "FILE",
        "File whose first line is the database password, read for each connection (default: the "
        "environment variable TENURE_STORE_PASSWORD)");
    Add("--service-id", config_.service_id, "ID",
        "Serve only if the database belongs to this service: the service_id that tenure status "
        "shows (default: any)");
    AddFlag("--no-migrate", no_migrate_, "Do not update the schema at startup");
    AddFlag("--share-database", config_.share_database,
            "Create the tables also in a database that holds tables of other applications");
  }

  void AddElections() {
    AddDuration("--lease-ttl-min", config_.limits.lease_ttl_min,
                "Shortest lease that a client may ask for");
    AddDuration("--lease-ttl-max", config_.limits.lease_ttl_max,
                "Longest lease that a client may ask for");
    AddDuration("--lease-ttl-default", config_.limits.lease_ttl_default,
                "Lease of a client that does not ask for one");
    AddNumber("--queue-max", config_.limits.queue_max, 0, kQueueMaxMax,
              "Maximum number of candidates waiting in one election");
    AddFlag("--no-adaptive-leases", no_adaptive_leases_,
            "Do not lengthen the lease of a candidate whose last session expired while the "
            "candidate was still alive");
    AddDuration("--history-max-age", config_.retention.age_max,
                "How long to keep events, terms and operators' changes");
    AddNumber("--history-max-events", config_.retention.events_max, 1, kHistoryEventsMax,
              "Maximum number of events to keep for each election");
    AddDuration("--history-min-age", config_.retention.age_min,
                "How long to keep events even beyond --history-max-events");
  }

  void AddOperation() {
    AddDuration("--poll-interval", config_.feed_interval,
                "When to poll for changes that neither other replicas nor a beat have shown");
    AddDuration("--drain-timeout", config_.drain_timeout,
                "How long open calls may continue after SIGTERM");
    AddWord<engine::OnLostCommits>(
        "--on-lost-commits", config_.on_lost_commits,
        {{"recover", engine::OnLostCommits::kRecover}, {"stop", engine::OnLostCommits::kStop}},
        "What to do if the database lost commits: wait for the longest lease and 3 s, raise all "
        "terms and go on; or serve nothing until somebody runs tenured bump-terms");
    config_.metrics.elections_max = kMetricsElectionsDefault;
    AddNumber("--metrics-elections", config_.metrics.elections_max, 0, kMetricsElectionsMax,
              "Maximum number of elections with metrics of their own");
    Add("--metrics-election-prefix", config_.metrics.election_prefixes, "PREFIX",
        "Give metrics of their own only to elections with this name prefix; repeat the flag, or "
        "separate prefixes with commas (default: all elections)")
        ->expected(1)
        ->delimiter(',')
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
        ->default_str("");
    AddWord<LogFormat>("--log-format", config_.log.format,
                       {{"text", LogFormat::kText}, {"json", LogFormat::kJson}},
                       "Log as plain text, or as one JSON object per line");
    AddWord<spdlog::level::level_enum>("--log-level", config_.log.level,
                                       {{"info", spdlog::level::info},
                                        {"warning", spdlog::level::warn},
                                        {"error", spdlog::level::err}},
                                       "Lowest level to log");
  }

  void AddCommands() {
    app_.fallthrough();  // options may follow the subcommand
    app_.require_subcommand(0, 1);
    migrate_ = app_.add_subcommand("migrate", "Update the schema, then exit");
    healthcheck_ = app_.add_subcommand(
        "healthcheck", "Query /healthz of the tenured on --http-listen; exit with 1 if it fails");
    bump_ = app_.add_subcommand("bump-terms", "Raise all terms after commits were lost, then exit");
    bump_->add_option("--reason", config_.author.reason, "Why, for the record")->type_name("TEXT");
    check_ = app_.add_subcommand(
        "check",
        "Say whether tenured would serve with these options: the servers of --store, its schema "
        "and rights, TLS files and policy; exit with 1 if not");
  }

  // Each returns what is wrong; nothing if all is well.

  std::optional<std::string> CheckCommand() {
    if (config_.bump_terms) {
      if (auto fault = FaultOfReason(config_.author.reason)) return fault;
      config_.author.identity = Operator();
    }
    // The default is for trying Tenure out. Commands that act on a database do not guess which one
    // is meant.
    for (const auto* command : {migrate_, bump_, check_}) {
      if (!command->parsed() || store_->count() > 0) continue;
      return "tenured " + command->get_name() +
             " needs --store (or TENURE_STORE): the URL of the database that the replicas use";
    }
    return std::nullopt;
  }

  std::optional<std::string> CheckElections() {
    const Retention& retention = config_.retention;
    if (retention.age_max < retention.age_min) {
      return "--history-max-age must not be shorter than --history-min-age; they are " +
             DurationText(retention.age_max) + " and " + DurationText(retention.age_min);
    }
    const Limits& limits = config_.limits;
    if (limits.lease_ttl_default < limits.lease_ttl_min ||
        limits.lease_ttl_default > limits.lease_ttl_max) {
      return "--lease-ttl-default must be between --lease-ttl-min and --lease-ttl-max; it is " +
             DurationText(limits.lease_ttl_default) + ", and they are " +
             DurationText(limits.lease_ttl_min) + " and " + DurationText(limits.lease_ttl_max);
    }
    return std::nullopt;
  }

  std::optional<std::string> CheckAccess() {
    if (config_.tls.certificate.empty() != config_.tls.key.empty()) {
      return "--tls-cert and --tls-key need each other: set both or neither";
    }
    if (config_.tls.certificate.empty() && !config_.tls.client_ca.empty()) {
      return "--tls-client-ca needs --tls-cert and --tls-key";
    }
    if (config_.tls.client_ca.empty() && client_certificates_->count() > 0) {
      return "--tls-client-certs needs --tls-client-ca";
    }
    if (!config_.service_id.empty() && !IsServiceId(config_.service_id)) {
      return "--service-id must be 32 lower-case hexadecimal digits; it is '" + config_.service_id +
             "'";
    }
    return std::nullopt;
  }

  std::optional<std::string> CheckPort() {
    for (auto fault : {FaultOf("--listen", config_.listen, "127.0.0.1:7070"),
                       FaultOf("--http-listen", config_.http_listen, "127.0.0.1:7071")}) {
      if (fault) return fault;
    }
    std::string& advertise = config_.advertise;
    advertise =
        network::WithBrackets(advertise.empty() ? AddressToAdvertise(config_.listen) : advertise);
    const auto advertised = network::ParseAddress(advertise);
    if (!advertised || advertised->port == 0 || network::IsAllAddresses(advertised->host)) {
      return "--advertise: '" + advertise +
             "' is not where others reach this replica; write HOST:PORT, such as " + HostName() +
             ":7070";
    }
    if (advertise.size() > kAdvertiseMax) {
      return "--advertise must not be longer than " + std::to_string(kAdvertiseMax) + " bytes";
    }
    return std::nullopt;
  }

  std::optional<std::string> CheckStore() {
    auto location = ParseStoreUrl(config_.store_url);
    if (!location) return "--store: " + location.error();
    config_.store = *std::move(location);
    auto* mysql = std::get_if<mysql::Config>(&config_.store);
    config_.metrics.version = kVersion;
    config_.metrics.store = mysql == nullptr ? "sqlite" : "mysql";
    if (mysql == nullptr) return std::nullopt;
    if (const auto fault = mysql::FaultOfFiles(mysql->tls)) return "--store: " + *fault;
    if (!password_file_.empty()) {
      const auto password = mysql::ReadPassword(password_file_);
      if (!password) return "--store-password-file: " + password.error();
      mysql->password_file = password_file_;
    } else if (const char* password = std::getenv("TENURE_STORE_PASSWORD")) {
      mysql->password = password;  // it has no flag, because `ps` would show it
    }
    mysql->connections_max = engine::ThreadScheduler::kThreadsTotal;
    return std::nullopt;
  }

  CLI::App app_{"Leader election as a service, on the MySQL you already run.", "tenured"};
  ServerConfig config_;
  std::string password_file_;
  bool no_migrate_ = false;
  bool no_adaptive_leases_ = false;
  const CLI::Option* store_ = nullptr;
  const CLI::Option* client_certificates_ = nullptr;
  CLI::App* migrate_ = nullptr;
  CLI::App* healthcheck_ = nullptr;
  CLI::App* bump_ = nullptr;
  CLI::App* check_ = nullptr;
};

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
  return Flags().Parse(argc, argv);
}

}  // namespace tenure::process
