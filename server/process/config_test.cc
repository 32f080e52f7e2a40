#include "server/process/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

namespace tenure::process {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

class ConfigTest : public ::testing::Test {
 protected:
  ConfigTest() {
    for (const char* name :
         {"LISTEN", "HTTP_LISTEN", "STORE", "STORE_PASSWORD_FILE", "STORE_PASSWORD", "NO_MIGRATE",
          "LEASE_TTL_MIN", "LEASE_TTL_MAX", "LEASE_TTL_DEFAULT", "QUEUE_MAX", "POLL_INTERVAL",
          "ADVERTISE", "DRAIN_TIMEOUT", "METRICS_ELECTIONS", "METRICS_ELECTION_PREFIX"}) {
      Unset("TENURE_" + std::string(name));
    }
  }
  ~ConfigTest() override {
    for (const auto& [name, value] : before_) {
      value ? setenv(name.c_str(), value->c_str(), 1) : unsetenv(name.c_str());
    }
    std::filesystem::remove(password_file_);
  }

  // Restores the variable when the test ends.
  void Set(const std::string& name, const std::string& value) {
    Keep(name);
    setenv(name.c_str(), value.c_str(), 1);
  }
  void Unset(const std::string& name) {
    Keep(name);
    unsetenv(name.c_str());
  }

  // Parses the flags, and captures standard output and standard error.
  tl::expected<ServerConfig, int> Parse(const std::vector<std::string>& flags = {}) {
    std::vector<const char*> argv = {"tenured"};
    for (const std::string& flag : flags) argv.push_back(flag.c_str());
    ::testing::internal::CaptureStdout();
    ::testing::internal::CaptureStderr();
    auto config = ParseServerConfig(static_cast<int>(argv.size()), argv.data());
    output_ = ::testing::internal::GetCapturedStdout();
    errors_ = ::testing::internal::GetCapturedStderr();
    return config;
  }
  // Expects a refusal of one line on standard error, and returns it.
  std::string Refused(const std::vector<std::string>& flags = {}) {
    const auto config = Parse(flags);
    EXPECT_FALSE(config);
    EXPECT_EQ(config ? EXIT_SUCCESS : config.error(), 2);
    EXPECT_THAT(errors_, AllOf(StartsWith("tenured: "), EndsWith("\n")));
    EXPECT_EQ(std::ranges::count(errors_, '\n'), 1);
    EXPECT_EQ(output_, "");
    return errors_;
  }
  std::string PasswordOf(const tl::expected<ServerConfig, int>& config) {
    if (!config) return errors_;
    const auto& mysql = std::get<mysql::Config>(config->store);
    return mysql.password_file.empty() ? mysql.password
                                       : mysql::ReadPassword(mysql.password_file).value();
  }
  std::string WritePasswordFile(const std::string& content) {
    std::ofstream(password_file_) << content;
    return password_file_.string();
  }

  std::string output_;
  std::string errors_;

 private:
  void Keep(const std::string& name) {
    const char* value = std::getenv(name.c_str());
    before_.try_emplace(name, value == nullptr ? std::nullopt : std::optional<std::string>(value));
  }

  std::map<std::string, std::optional<std::string>> before_;
  const std::filesystem::path password_file_ = std::filesystem::path(::testing::TempDir()) /
                                               ("tenure_config_test_" + std::to_string(::getpid()));
};

// --- Accepted ---

TEST_F(ConfigTest, EveryFlagHasADefault) {
  const auto config = Parse();

  ASSERT_TRUE(config) << errors_;
  EXPECT_EQ(config->listen, "127.0.0.1:7070");
  EXPECT_EQ(config->http_listen, "127.0.0.1:7071");
  EXPECT_EQ(std::get<SqliteLocation>(config->store).path, "tenure.db");
  EXPECT_TRUE(config->migrate);
  EXPECT_FALSE(config->migrate_only);
  EXPECT_FALSE(config->healthcheck);
  EXPECT_EQ(config->limits.lease_ttl_min, 1s);
  EXPECT_EQ(config->limits.lease_ttl_max, 24h);
  EXPECT_EQ(config->limits.lease_ttl_default, 10s);
  EXPECT_EQ(config->limits.queue_max, 100'000u);
  EXPECT_EQ(config->feed_interval, 2s);
  EXPECT_EQ(config->advertise, "127.0.0.1:7070");
  EXPECT_EQ(config->drain_timeout, 10s);
}

TEST_F(ConfigTest, FlagsSetTheConfiguration) {
  const auto config = Parse({"--listen", "0.0.0.0:1", "--http-listen=0.0.0.0:2", "--store",
                             "sqlite::memory:", "--no-migrate", "--lease-ttl-min", "500ms",
                             "--lease-ttl-max", "1h", "--lease-ttl-default", "1.5s", "--queue-max",
                             "7", "--poll-interval", "20ms", "--drain-timeout", "1m"});

  ASSERT_TRUE(config) << errors_;
  EXPECT_EQ(config->listen, "0.0.0.0:1");
  EXPECT_EQ(config->http_listen, "0.0.0.0:2");
  EXPECT_EQ(std::get<SqliteLocation>(config->store).path, ":memory:");
  EXPECT_FALSE(config->migrate);
  EXPECT_EQ(config->limits.lease_ttl_min, 500ms);
  EXPECT_EQ(config->limits.lease_ttl_max, 1h);
  EXPECT_EQ(config->limits.lease_ttl_default, 1500ms);
  EXPECT_EQ(config->limits.queue_max, 7u);
  EXPECT_EQ(config->feed_interval, 20ms);
  EXPECT_EQ(config->drain_timeout, 1min);
}

TEST_F(ConfigTest, EnvironmentVariablesSetTheConfiguration) {
  Set("TENURE_LISTEN", "0.0.0.0:1");
  Set("TENURE_HTTP_LISTEN", "0.0.0.0:2");
  Set("TENURE_STORE", "sqlite::memory:");
  Set("TENURE_NO_MIGRATE", "true");
  Set("TENURE_LEASE_TTL_MIN", "500ms");
  Set("TENURE_LEASE_TTL_MAX", "1h");
  Set("TENURE_LEASE_TTL_DEFAULT", "2s");
  Set("TENURE_QUEUE_MAX", "7");
  Set("TENURE_POLL_INTERVAL", "20ms");
  Set("TENURE_DRAIN_TIMEOUT", "1m");

  const auto config = Parse();

  ASSERT_TRUE(config) << errors_;
  EXPECT_EQ(config->listen, "0.0.0.0:1");
  EXPECT_EQ(config->http_listen, "0.0.0.0:2");
  EXPECT_EQ(std::get<SqliteLocation>(config->store).path, ":memory:");
  EXPECT_FALSE(config->migrate);
  EXPECT_EQ(config->limits.lease_ttl_min, 500ms);
  EXPECT_EQ(config->limits.lease_ttl_max, 1h);
  EXPECT_EQ(config->limits.lease_ttl_default, 2s);
  EXPECT_EQ(config->limits.queue_max, 7u);
  EXPECT_EQ(config->feed_interval, 20ms);
  EXPECT_EQ(config->drain_timeout, 1min);
}

TEST_F(ConfigTest, AReplicaAdvertisesWhereItListensUnlessThatIsEverywhere) {
  std::array<char, 256> host{};
  ASSERT_EQ(gethostname(host.data(), host.size()), 0);

  EXPECT_EQ(Parse({"--listen", "10.0.0.1:7071"}).value().advertise, "10.0.0.1:7071");
  EXPECT_EQ(Parse({"--listen", "[::1]:7071"}).value().advertise, "[::1]:7071");
  EXPECT_EQ(Parse({"--listen", "0.0.0.0:7071"}).value().advertise,
            std::string(host.data()) + ":7071");
  EXPECT_EQ(Parse({"--listen", "[::]:7071"}).value().advertise, std::string(host.data()) + ":7071");
  EXPECT_EQ(Parse({"--listen", "0.0.0.0:7071", "--advertise", "a.example:1"}).value().advertise,
            "a.example:1");
  Set("TENURE_ADVERTISE", "fd00::1:7070");
  EXPECT_EQ(Parse().value().advertise, "[fd00::1]:7070");
  EXPECT_THAT(Refused({"--advertise", std::string(256, 'a')}), HasSubstr("--advertise"));
}

TEST_F(ConfigTest, ByDefaultOnlyAHundredElectionsHaveTheirOwnMetrics) {
  EXPECT_EQ(Parse().value().metrics.elections_max, 100u);
  EXPECT_EQ(Parse({"--metrics-elections", "0"}).value().metrics.elections_max, 0u);
  EXPECT_THAT(Refused({"--metrics-elections", "10001"}), HasSubstr("--metrics-elections"));
}

TEST_F(ConfigTest, SeveralPrefixesOfElectionsWithMetricsCanBeGiven) {
  EXPECT_THAT(Parse().value().metrics.election_prefixes, IsEmpty());
  EXPECT_THAT(Parse({"--metrics-election-prefix", "jobs/", "--metrics-election-prefix=a,b"})
                  ->metrics.election_prefixes,
              ElementsAre("jobs/", "a", "b"));
  Set("TENURE_METRICS_ELECTION_PREFIX", "orders,jobs/");
  EXPECT_THAT(Parse().value().metrics.election_prefixes, ElementsAre("orders", "jobs/"));
}

TEST_F(ConfigTest, AFlagBeatsTheEnvironment) {
  Set("TENURE_LISTEN", "0.0.0.0:1");

  EXPECT_EQ(Parse({"--listen", "0.0.0.0:2"}).value().listen, "0.0.0.0:2");
}

TEST_F(ConfigTest, NoMigrateSetToFalseMigratesTheSchema) {
  Set("TENURE_NO_MIGRATE", "false");

  EXPECT_TRUE(Parse().value().migrate);
}

TEST_F(ConfigTest, TheCommandMigrateTakesTheSameFlags) {
  const auto config = Parse({"migrate", "--store", "sqlite::memory:"});

  ASSERT_TRUE(config) << errors_;
  EXPECT_TRUE(config->migrate_only);
  EXPECT_EQ(std::get<SqliteLocation>(config->store).path, ":memory:");
}

TEST_F(ConfigTest, TheCommandHealthcheckTakesTheSameVariables) {
  Set("TENURE_HTTP_LISTEN", "0.0.0.0:2");

  const auto config = Parse({"healthcheck"});

  ASSERT_TRUE(config) << errors_;
  EXPECT_TRUE(config->healthcheck);
  EXPECT_EQ(config->http_listen, "0.0.0.0:2");
}

TEST_F(ConfigTest, BumpTermsIsACommand) {
  EXPECT_FALSE(Parse().value().bump_terms);
  EXPECT_TRUE(Parse({"bump-terms", "--store", "sqlite:x"}).value().bump_terms);
  EXPECT_EQ(Parse({"bump-terms", "--store", "sqlite:x", "--reason", "drill"}).value().author.reason,
            "drill");
  EXPECT_TRUE(Parse({"check", "--store", "sqlite:x"}).value().check);
  EXPECT_EQ(Parse({"bump-terms", "--store", "sqlite:x"}).value().store_url, "sqlite:x");
}

TEST_F(ConfigTest, CommandsThatActOnADatabaseRequireItsUrl) {
  for (const std::string command : {"migrate", "bump-terms", "check"}) {
    EXPECT_EQ(Refused({command}), "tenured: tenured " + command +
                                      " needs --store (or TENURE_STORE): the URL of the database "
                                      "that the replicas use\n");
    Set("TENURE_STORE", "sqlite:x");
    EXPECT_TRUE(Parse({command})) << errors_;
    Unset("TENURE_STORE");
  }
}

TEST_F(ConfigTest, HelpAndVersionAreSuccesses) {
  EXPECT_EQ(Parse({"--help"}), tl::unexpected(EXIT_SUCCESS));
  EXPECT_THAT(output_, AllOf(HasSubstr("--lease-ttl-default"), HasSubstr("TENURE_LISTEN")));
  EXPECT_EQ(Parse({"--version"}), tl::unexpected(EXIT_SUCCESS));
  EXPECT_THAT(output_, StartsWith("tenured "));
}

// --- Refused ---

TEST_F(ConfigTest, ABadDurationIsRefused) {
  for (const char* text : {"10", "0s", "-1s", "soon"}) {
    EXPECT_THAT(Refused({"--lease-ttl-default", text}),
                StartsWith("tenured: --lease-ttl-default: '" + std::string(text) + "' is "));
  }
}

TEST_F(ConfigTest, ADurationBelowAMillisecondIsRefused) {
  EXPECT_EQ(Refused({"--poll-interval", "0.5ms"}),
            "tenured: --poll-interval: '0.5ms' is too short; the minimum is 1ms\n");
  EXPECT_THAT(Refused({"--drain-timeout", "0.5ms"}), HasSubstr("--drain-timeout"));
}

TEST_F(ConfigTest, ABadValueOfAVariableIsRefusedByItsName) {
  Set("TENURE_POLL_INTERVAL", "often");

  EXPECT_THAT(Refused(), StartsWith("tenured: TENURE_POLL_INTERVAL: 'often' is not a duration"));
}

TEST_F(ConfigTest, AnEmptyVariableCountsAsNotSet) {
  for (const char* name : {"TENURE_LISTEN", "TENURE_STORE", "TENURE_QUEUE_MAX", "TENURE_NO_MIGRATE",
                           "TENURE_LOG_LEVEL", "TENURE_POLICY", "TENURE_DRAIN_TIMEOUT",
                           "TENURE_METRICS_ELECTION_PREFIX", "TENURE_STORE_PASSWORD_FILE"}) {
    Set(name, "");
  }

  const auto config = Parse();

  ASSERT_TRUE(config) << errors_;
  EXPECT_EQ(config->listen, "127.0.0.1:7070");
  EXPECT_EQ(config->store_url, "sqlite:tenure.db");
  EXPECT_TRUE(config->migrate);
  EXPECT_THAT(config->metrics.election_prefixes, IsEmpty());
}

TEST_F(ConfigTest, ABadNumberIsRefused) {
  for (const char* text : {"many", "-5", "1.5", "99999999999999999999999"}) {
    EXPECT_EQ(Refused({"--queue-max", text}), "tenured: --queue-max: '" + std::string(text) +
                                                  "' is not a whole number from 0 to 1000000000\n");
  }
}

TEST_F(ConfigTest, TheThreadsOfGrpcAreOneTo64) {
  EXPECT_EQ(Parse().value().grpc_threads, 1u);
  EXPECT_EQ(Parse({"--grpc-threads", "64"}).value().grpc_threads, 64u);
  for (const std::string text : {"0", "65", "10000", "-1", "two"}) {
    EXPECT_EQ(Refused({"--grpc-threads", text}),
              "tenured: --grpc-threads: '" + text + "' is not a whole number from 1 to 64\n");
  }
}

TEST_F(ConfigTest, ABadChoiceIsRefused) {
  EXPECT_EQ(Refused({"--log-level", "loud"}),
            "tenured: --log-level: 'loud' is not one of info|warning|error\n");
}

TEST_F(ConfigTest, AnUnknownFlagOrCommandIsRefused) {
  EXPECT_EQ(Refused({"--no-such-flag"}),
            "tenured: unknown flag '--no-such-flag'; see tenured --help\n");
  EXPECT_EQ(Refused({"serve"}), "tenured: unknown command 'serve'; see tenured --help\n");
}

TEST_F(ConfigTest, ASecondCommandIsRefused) {
  EXPECT_EQ(Refused({"migrate", "healthcheck"}),
            "tenured: unexpected argument 'healthcheck'; see tenured migrate --help\n");
}

TEST_F(ConfigTest, AFlagGivenTwiceIsRefused) {
  EXPECT_EQ(Refused({"--store", "sqlite:a", "--store=sqlite:b"}),
            "tenured: --store is given twice\n");
  EXPECT_EQ(Refused({"--no-migrate", "--no-migrate"}), "tenured: --no-migrate is given twice\n");
}

TEST_F(ConfigTest, AFlagWithoutItsValueIsRefused) {
  EXPECT_EQ(Refused({"--listen"}), "tenured: --listen needs a value; see tenured --help\n");
  EXPECT_EQ(Refused({"--store", "--no-migrate"}),
            "tenured: --store needs a value; see tenured --help\n");
}

TEST_F(ConfigTest, AnEmptyValueOfAnyFlagIsRefused) {
  for (const std::string flag :
       {"--listen", "--http-listen", "--tls-cert", "--tls-key", "--tls-client-ca",
        "--tls-client-certs", "--policy", "--store", "--store-password-file", "--lease-ttl-min",
        "--queue-max", "--poll-interval", "--metrics-election-prefix", "--log-format",
        "--advertise"}) {
    const std::string mistake =
        "tenured: " + flag + " needs a value that is not empty; see tenured --help\n";
    EXPECT_EQ(Refused({flag, ""}), mistake);
    EXPECT_EQ(Refused({flag + "=", "--no-migrate"}), mistake);
  }
}

TEST_F(ConfigTest, ADefaultLeaseOutsideItsBoundsIsRefused) {
  for (const auto& flags :
       std::vector<std::vector<std::string>>{{"--lease-ttl-default", "500ms"},
                                             {"--lease-ttl-default", "25h"},
                                             {"--lease-ttl-min", "11s"},
                                             {"--lease-ttl-max", "9s"},
                                             {"--lease-ttl-min", "1m", "--lease-ttl-max", "1s"}}) {
    EXPECT_THAT(Refused(flags), HasSubstr("--lease-ttl-default must be between"));
  }
}

TEST_F(ConfigTest, ABadAddressIsRefusedWithItsFlagAndTheRightExample) {
  for (const std::string text : {"7070", "localhost", "localhost:", "localhost:grpc", "h:65536",
                                 "h:-1", "http://localhost:7070", ":"}) {
    EXPECT_EQ(Refused({"--listen", text}), "tenured: --listen: '" + text +
                                               "' is not an address; write HOST:PORT, such as "
                                               "127.0.0.1:7070\n");
    EXPECT_EQ(Refused({"--http-listen", text}), "tenured: --http-listen: '" + text +
                                                    "' is not an address; write HOST:PORT, such "
                                                    "as 127.0.0.1:7071\n");
  }
  EXPECT_EQ(Refused({"--listen", "127.0.0.1:0"}),
            "tenured: --listen: '127.0.0.1:0' has port 0; choose the port that others connect "
            "to\n");
  for (const std::string text : {"7070", "host", "host:0", ":7070", "0.0.0.0:7070", "[::]:7070"}) {
    EXPECT_THAT(Refused({"--advertise", text}),
                HasSubstr("--advertise: '" + text + "' is not where others reach this replica"));
  }
}

TEST_F(ConfigTest, AReplicaOnAllAddressesAdvertisesItsHostName) {
  const std::string named = Parse({"--listen", "0.0.0.0:27073"})->advertise;
  EXPECT_THAT(named, AllOf(EndsWith(":27073"), Not(StartsWith("0.0.0.0")), Not(StartsWith(":"))));

  for (const std::string all : {":27073", "[::]:27073", "[0::0]:27073", ":::27073"})
    EXPECT_EQ(Parse({"--listen", all})->advertise, named) << all;
  EXPECT_EQ(Parse({"--listen", "127.0.0.1:27073"})->advertise, "127.0.0.1:27073");
  EXPECT_EQ(Parse({"--listen", "::1:27073"})->advertise, "[::1]:27073");
}

TEST_F(ConfigTest, ADefaultLeaseAtItsBoundsIsAccepted) {
  EXPECT_TRUE(Parse({"--lease-ttl-default", "1s"}));
  EXPECT_TRUE(Parse({"--lease-ttl-default", "24h"}));
}

TEST_F(ConfigTest, ABadStoreIsRefused) {
  EXPECT_THAT(Refused({"--store", "postgres://u@h/d"}), HasSubstr("postgres"));
  EXPECT_THAT(Refused({"--store", "mysql://u@h"}), HasSubstr("database is missing"));
}

TEST_F(ConfigTest, ADatabaseCaWithoutACertificateIsRefused) {
  EXPECT_EQ(Refused({"--store", "mysql://u@h/d?tls=verify-ca&tls-ca=/dev/null"}),
            "tenured: --store: /dev/null holds no certificate\n");
  EXPECT_EQ(Refused({"--store", "mysql://u@h/d?tls=verify-ca&tls-ca=/nowhere"}),
            "tenured: --store: cannot read /nowhere\n");
}

// --- The password ---

TEST_F(ConfigTest, TheDefaultPasswordIsEmpty) {
  EXPECT_EQ(PasswordOf(Parse({"--store", "mysql://u@h/d"})), "");
}

TEST_F(ConfigTest, ThePasswordComesFromTheEnvironment) {
  Set("TENURE_STORE_PASSWORD", "s3cret");

  EXPECT_EQ(PasswordOf(Parse({"--store", "mysql://u@h/d"})), "s3cret");
}

TEST_F(ConfigTest, ThePasswordIsTheFirstLineOfItsFile) {
  for (const char* content : {"s3cret", "s3cret\n", "s3cret\r\n", "s3cret\nsomething else\n"}) {
    const std::string file = WritePasswordFile(content);
    EXPECT_EQ(PasswordOf(Parse({"--store", "mysql://u@h/d", "--store-password-file", file})),
              "s3cret");
  }
}

TEST_F(ConfigTest, APasswordMayContainBlanks) {
  const std::string file = WritePasswordFile(" two words \n");

  EXPECT_EQ(PasswordOf(Parse({"--store", "mysql://u@h/d", "--store-password-file", file})),
            " two words ");
}

TEST_F(ConfigTest, AnEmptyPasswordFileIsAnEmptyPassword) {
  const std::string file = WritePasswordFile("");

  EXPECT_EQ(PasswordOf(Parse({"--store", "mysql://u@h/d", "--store-password-file", file})), "");
}

TEST_F(ConfigTest, TheFileBeatsTheVariable) {
  Set("TENURE_STORE_PASSWORD", "old");
  Set("TENURE_STORE_PASSWORD_FILE", WritePasswordFile("new\n"));

  EXPECT_EQ(PasswordOf(Parse({"--store", "mysql://u@h/d"})), "new");
}

TEST_F(ConfigTest, APasswordFileThatCannotBeReadIsRefused) {
  const std::string folder = ::testing::TempDir();

  EXPECT_THAT(Refused({"--store", "mysql://u@h/d", "--store-password-file", "no/such/file"}),
              HasSubstr("'no/such/file'"));
  EXPECT_THAT(Refused({"--store", "mysql://u@h/d", "--store-password-file", folder}),
              HasSubstr(folder));
}

TEST_F(ConfigTest, APasswordFileThatIsAPipeIsRefused) {
  const std::string pipe = ::testing::TempDir() + "/pipe-" + std::to_string(getpid());
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);

  EXPECT_THAT(Refused({"--store", "mysql://u@h/d", "--store-password-file", pipe}),
              HasSubstr("'" + pipe + "' is a pipe; use a file, since it is read more than once"));
  std::filesystem::remove(pipe);
}

TEST_F(ConfigTest, APasswordInTheUrlIsRefusedAndNotRepeated) {
  EXPECT_THAT(Refused({"--store", "mysql://u:s3cret@h/d"}), Not(HasSubstr("s3cret")));
}

TEST_F(ConfigTest, SettingsThatApplyToTheDatabaseAreSharedAsTheyAreWritten) {
  auto shared = SharedSettingsOf(
      Parse({"--lease-ttl-min", "2s", "--queue-max", "7", "--no-adaptive-leases",
             "--history-max-age", "24h", "--on-lost-commits", "stop", "--poll-interval", "1m"})
          .value());

  EXPECT_EQ(shared["--lease-ttl-min"], "2s");
  EXPECT_EQ(shared["--queue-max"], "7");
  EXPECT_EQ(shared["--no-adaptive-leases"], "set");
  EXPECT_EQ(shared["--history-max-age"], "24h");
  EXPECT_EQ(shared["--on-lost-commits"], "stop");
  EXPECT_FALSE(shared.contains("--poll-interval"));
}

TEST_F(ConfigTest, ThePasswordIsShownNowhere) {
  Set("TENURE_STORE_PASSWORD", "s3cret");

  (void)Parse({"--help"});

  EXPECT_THAT(output_ + errors_, Not(HasSubstr("s3cret")));
}

}  // namespace
}  // namespace tenure::process
