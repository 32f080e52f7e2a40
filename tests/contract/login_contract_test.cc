// How the store logs in to a real server: TLS, certificates, a socket, a password that changes.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <future>

#include "core/law/law.h"
#include "storage/mysql/connection.h"
#include "storage/mysql/login_gate.h"
#include "storage/mysql/logins.h"
#include "storage/open_store.h"
#include "tests/support/certificates.h"
#include "tests/support/database_server.h"
#include "tests/support/fake_database.h"

namespace tenure::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr char kOurName[] = "IP:127.0.0.1,DNS:localhost";

class LoginTest : public ::testing::Test {
 protected:
  static DatabaseServer& Server() {
    static DatabaseServer server;
    return server;
  }

  LoginTest() { Serve(authority_.Issue("database", kOurName)); }

  // Restarts the server with this certificate. If `insists`, it refuses connections without TLS.
  void Serve(const KeyPair& pair, bool insists = true) {
    Server().RestartWith({"--ssl-ca=" + Server().WriteFile("ca.pem", authority_.certificate()),
                          "--ssl-cert=" + Server().WriteFile("cert.pem", pair.certificate),
                          "--ssl-key=" + Server().WriteFile("key.pem", pair.key),
                          std::string("--require-secure-transport=") + (insists ? "ON" : "OFF")});
    url_ = Server().FreshDatabase("tenure");
  }

  // Writes a file for the client.
  std::string File(const std::string& name, const std::string& content) const {
    std::ofstream(folder_.path() / name) << content;
    return folder_.path() / name;
  }
  std::string Ca() const { return "&tls-ca=" + File("ca.pem", authority_.certificate()); }

  static mysql::Config ConfigOf(const std::string& url) {
    return std::get<mysql::Config>(ParseStoreUrl(url).value());
  }
  // Why the store cannot be used; empty if it can.
  static std::string Refusal(const mysql::Config& config) {
    const auto store = OpenStore(config).value();
    const auto migrated = store->Migrate();
    return migrated ? "" : migrated.error().message;
  }
  static std::string Refusal(const std::string& url) { return Refusal(ConfigOf(url)); }

  static std::string CipherOf(const std::string& url) {
    mysql::Connection connection(ConfigOf(url));
    return connection.Run({"SHOW SESSION STATUS LIKE 'Ssl_cipher'"})[0].at(0).at(1).value();
  }

  // Makes a user who may do everything; its login is `how`.
  static void MakeUser(const std::string& name, const std::string& how) {
    const Finished made = Server().Query("DROP USER IF EXISTS " + name + "; CREATE USER " + name +
                                         " " + how + "; GRANT ALL ON *.* TO " + name);
    EXPECT_EQ(made.exit_code, 0) << made.errors;
  }
  std::string UrlOf(const std::string& user) const {
    std::string url = url_;
    return url.replace(url.find("root"), 4, user);
  }

  static std::string StatusTable() {
    const bool mariadb = Server().Ask("SELECT VERSION()").find("MariaDB") != std::string::npos;
    return mariadb ? "information_schema.global_status" : "performance_schema.global_status";
  }

  const CertificateAuthority authority_{"Tests"};
  const TempDir folder_;
  std::string url_;
};

TEST_F(LoginTest, TlsIsUsedIfTheServerOffersIt) {
  EXPECT_EQ(Refusal(url_), "");
  EXPECT_THAT(CipherOf(url_), Not(IsEmpty()));
}

TEST_F(LoginTest, AVerifiedServerIsUsed) {
  for (const char* mode : {"verify-ca", "verify-identity"}) {
    const std::string url = url_ + "?tls=" + mode + Ca();
    EXPECT_EQ(Refusal(url), "");
    EXPECT_THAT(CipherOf(url), Not(IsEmpty()));
  }
}

TEST_F(LoginTest, ACertificateOfAnotherCaIsRefused) {
  const CertificateAuthority other("Others");
  const std::string file = File("other.pem", other.certificate());

  for (const char* mode : {"verify-ca", "verify-identity"}) {
    EXPECT_THAT(
        Refusal(url_ + "?tls=" + mode + "&tls-ca=" + file),
        HasSubstr("no TLS connection to 127.0.0.1: the server's certificate is not signed by " +
                  file));
  }
}

TEST_F(LoginTest, AnExpiredCertificateIsRefused) {
  Serve(authority_.Issue("database", kOurName, -1min));

  for (const char* mode : {"verify-ca", "verify-identity"}) {
    EXPECT_THAT(Refusal(url_ + "?tls=" + mode + Ca()),
                HasSubstr("the server's certificate has expired"));
  }
  EXPECT_EQ(Refusal(url_ + "?tls=required"), "");
}

TEST_F(LoginTest, ACertificateForAnotherHostIsRefusedIfTheIdentityIsVerified) {
  Serve(authority_.Issue("elsewhere", "DNS:elsewhere.example"));

  EXPECT_THAT(Refusal(url_ + "?tls=verify-identity" + Ca()),
              HasSubstr("the server's certificate is for another host than 127.0.0.1"));
  EXPECT_EQ(Refusal(url_ + "?tls=verify-ca" + Ca()), "");
}

TEST_F(LoginTest, AServerWithoutTlsIsRefusedIfTlsIsRequired) {
  const bool mysql = Server().Query("SELECT @@version").output.find("MariaDB") == std::string::npos;
  Server().RestartWith({mysql ? "--tls-version=" : "--skip-ssl"});
  url_ = Server().FreshDatabase("tenure");

  EXPECT_EQ(Refusal(url_), "");
  EXPECT_THAT(Refusal(url_ + "?tls=required"), HasSubstr("does not offer TLS"));
  EXPECT_THAT(Refusal(url_ + "?tls=verify-ca" + Ca()), HasSubstr("does not offer TLS"));
  EXPECT_THAT(Refusal(url_ + "?tls=verify-identity" + Ca()), HasSubstr("does not offer TLS"));
}

TEST_F(LoginTest, AUserMayNeedACertificate) {
  MakeUser("certified", "REQUIRE X509");
  const KeyPair pair = authority_.Issue("replica", "");
  const std::string url = UrlOf("certified") + "?tls=verify-identity" + Ca();

  EXPECT_THAT(Refusal(url), AllOf(HasSubstr("1045"), HasSubstr("REQUIRE X509")));
  EXPECT_EQ(Refusal(url + "&tls-cert=" + File("cert.pem", pair.certificate) +
                    "&tls-key=" + File("key.pem", pair.key)),
            "");
}

TEST_F(LoginTest, TlsCanBeSwitchedOff) {
  Serve(authority_.Issue("database", kOurName), false);

  EXPECT_THAT(CipherOf(url_ + "?tls=disabled"), IsEmpty());
  EXPECT_THAT(CipherOf(url_), Not(IsEmpty()));
}

TEST_F(LoginTest, AUserMayNeedTls) {
  Serve(authority_.Issue("database", kOurName), false);
  MakeUser("encrypted", "REQUIRE SSL");

  EXPECT_THAT(Refusal(UrlOf("encrypted") + "?tls=disabled"),
              AllOf(HasSubstr("1045"), HasSubstr("REQUIRE SSL")));
}

TEST_F(LoginTest, AFileThatCannotBeUsedIsNamed) {
  EXPECT_THAT(Refusal(url_ + "?tls=verify-ca&tls-ca=/nowhere.pem"),
              HasSubstr("cannot read /nowhere.pem"));
  EXPECT_THAT(Refusal(url_ + "?tls=verify-ca&tls-ca=/dev/null"),
              HasSubstr("/dev/null holds no certificate"));
  EXPECT_THAT(Refusal(url_ + "?tls=required&tls-cert=/dev/null&tls-key=/dev/null"),
              HasSubstr("/dev/null holds no certificate"));
  EXPECT_THAT(Refusal(url_ + "?tls=required&tls-cert=" + File("ca.pem", authority_.certificate()) +
                      "&tls-key=/dev/null"),
              HasSubstr("/dev/null holds no private key"));
}

TEST_F(LoginTest, ASocketLeadsToALocalServer) {
  std::string url = url_;
  const size_t host = url.find("127.0.0.1");
  url.replace(host, url.find('/', host) - host, "localhost:1");

  EXPECT_EQ(Refusal(url + "?socket=" + Server().socket()), "");
  EXPECT_NE(Refusal(url + "?socket=" + Server().socket() + ".not"), "");
}

TEST_F(LoginTest, ANewPasswordIsReadForTheNextConnection) {
  MakeUser("rotating", "IDENTIFIED BY 'first'");
  mysql::Config config = ConfigOf(UrlOf("rotating"));
  config.password_file = File("password", "first\n");
  const auto store = OpenStore(config).value();
  ASSERT_TRUE(store->Migrate());

  Server().Query("ALTER USER rotating IDENTIFIED BY 'second'");
  Server().RestartWith({});  // ends all connections
  (void)store->ReadPartitions();
  const auto old_password = store->ReadPartitions();
  File("password", "second\n");

  ASSERT_FALSE(old_password);
  EXPECT_THAT(old_password.error().message, HasSubstr("1045"));
  EXPECT_TRUE(Eventually([&] { return store->ReadPartitions().has_value(); }));
}

TEST_F(LoginTest, ARefusedPasswordIsNotSentAgainBeforeItChangesOrAPauseHasPassed) {
  MakeUser("rotating", "IDENTIFIED BY 'new'");
  mysql::Config config = ConfigOf(UrlOf("rotating"));
  config.password_file = File("password", "old\n");
  auto now = std::chrono::steady_clock::now();
  mysql::Logins logins(config, [&] { return now; });
  const auto refused = [&] {
    try {
      (void)logins.LogIn(config.addresses[0]);
      return std::string();
    } catch (const mysql::MySqlError& error) {
      return std::string(error.what());
    }
  };
  const auto sent = [&] {
    return std::stoi(Server().Ask("SELECT variable_value FROM " + StatusTable() +
                                  " WHERE variable_name = 'Aborted_connects'"));
  };
  const int before = sent();

  EXPECT_THAT(refused(),
              AllOf(HasSubstr("1045"), HasSubstr("check the password"),
                    HasSubstr("not sent again for 30 s unless " + config.password_file)));
  for (int i = 0; i < 20; ++i) EXPECT_THAT(refused(), HasSubstr("1045"));
  EXPECT_EQ(sent() - before, 1);

  now += 31s;
  EXPECT_THAT(refused(), HasSubstr("not sent again for 60 s"));
  EXPECT_THAT(refused(), HasSubstr("1045"));
  EXPECT_EQ(sent() - before, 2);

  File("password", "new\n");
  EXPECT_EQ(refused(), "");
  EXPECT_EQ(sent() - before, 2);
}

// Reasons to refuse a login while the server is up and keeps its connections.
TEST_F(LoginTest, OpenConnectionsAreUsedWhileNewLoginsAreRefused) {
  const bool mariadb = Server().Ask("SELECT VERSION()").find("MariaDB") != std::string::npos;
  std::vector<std::string> refusals = {"ALTER USER refused WITH MAX_USER_CONNECTIONS 1",
                                       "ALTER USER refused ACCOUNT LOCK",
                                       "ALTER USER refused WITH MAX_CONNECTIONS_PER_HOUR 1",
                                       "ALTER USER refused REQUIRE X509",
                                       "ALTER USER refused IDENTIFIED BY 'another'",
                                       "ALTER USER refused PASSWORD EXPIRE",
                                       "RENAME USER refused TO renamed",
                                       "SET GLOBAL init_connect = 'no statement'"};
  if (mariadb) refusals.emplace_back("FLUSH USER_STATISTICS");  // refuses nothing
  for (const std::string& refusal : refusals) {
    SCOPED_TRACE(refusal);
    Server().Query("DROP USER IF EXISTS renamed");
    MakeUser("refused", "");
    Server().Ask("REVOKE ALL ON *.* FROM refused; GRANT ALL ON tenure.* TO refused");
    const auto store = OpenStore(ConfigOf(UrlOf("refused"))).value();
    ASSERT_TRUE(store->Migrate());
    ASSERT_TRUE(store->Ping());

    const Finished done = Server().Query(refusal);
    EXPECT_EQ(done.exit_code, 0) << done.errors;
    std::vector<std::future<std::string>> calls;
    for (int i = 0; i < 16; ++i) {
      calls.push_back(std::async(std::launch::async, [&] {
        const auto answer = store->Ping();
        return answer ? std::string() : answer.error().message;
      }));
    }
    for (auto& call : calls) EXPECT_EQ(call.get(), "");
    Server().Ask("SET GLOBAL init_connect = ''");
  }
}

TEST_F(LoginTest, AnUnusableConnectionIsReplaced) {
  mysql::Config config = ConfigOf(url_);
  config.connections_max = 1;
  const auto store = OpenStore(config).value();
  ASSERT_TRUE(store->Migrate());
  const Command campaign = Campaign{{"e"}, {}, Campaign::Opening{"c", 60s}, {}, "", 0, {}};
  Server().Ask(
      "CREATE TRIGGER tenure.spoils AFTER INSERT ON tenure.events FOR EACH ROW"
      " SET SESSION max_join_size = 1");
  ASSERT_TRUE(store->Transact(LockSetOf({&campaign}), {}, [&](TransactionState& transaction) {
    EXPECT_TRUE(Apply(transaction, {}, campaign));
  }));
  Server().Ask("DROP TRIGGER tenure.spoils");

  const auto elections = store->ListElections("", "", 10);
  ASSERT_TRUE(elections) << elections.error().message;
  EXPECT_EQ(elections->size(), 1u);
  EXPECT_TRUE(store->ReadStatistics());
}

TEST_F(LoginTest, APrivilegeToWriteWhereItIsReadOnlyCountsHoweverItWasGiven) {
  const bool mariadb = Server().Ask("SELECT VERSION()").find("MariaDB") != std::string::npos;
  const std::string enabled =
      mariadb ? "rpl_semi_sync_master_enabled" : "rpl_semi_sync_source_enabled";
  if (!mariadb) {
    Server().Query("INSTALL PLUGIN rpl_semi_sync_source SONAME 'semisync_source.so'");
  }
  ASSERT_EQ(Server().Query("SET GLOBAL " + enabled + " = ON").exit_code, 0);
  const std::string right = mariadb ? "READ_ONLY ADMIN" : "CONNECTION_ADMIN";
  Server().Query("DROP ROLE IF EXISTS inner_role, outer_role; CREATE ROLE inner_role, outer_role");
  Server().Query("CREATE ROLE inner_role; CREATE ROLE outer_role");
  Server().Ask("GRANT " + right + " ON *.* TO inner_role; GRANT inner_role TO outer_role");
  const std::string to = mariadb ? " FOR " : " TO ";
  const auto warned = [&](const std::string& user) {
    const auto warnings = mysql::Connection(ConfigOf(UrlOf(user))).server().warnings;
    return std::ranges::any_of(warnings, [](const std::string& warning) {
      return warning.find("may write to a server that is read-only") != std::string::npos;
    });
  };
  for (const std::string user : {"plain", "direct", "idle", "roled", "nested"}) {
    MakeUser(user, "");
    Server().Ask("REVOKE ALL PRIVILEGES, GRANT OPTION FROM " + user +
                 "; GRANT ALL ON tenure.* TO " + user);
  }
  Server().Ask("GRANT " + right + " ON *.* TO direct");
  Server().Ask("GRANT outer_role TO idle");
  Server().Ask("GRANT inner_role TO roled; SET DEFAULT ROLE inner_role" + to + "roled");
  Server().Ask("GRANT outer_role TO nested; SET DEFAULT ROLE outer_role" + to + "nested");

  EXPECT_FALSE(warned("plain"));
  EXPECT_FALSE(warned("idle"));
  EXPECT_TRUE(warned("direct"));
  EXPECT_TRUE(warned("roled"));
  EXPECT_TRUE(warned("nested"));

  if (mariadb) {
    Server().Ask("GRANT " + right + " ON *.* TO PUBLIC");
    EXPECT_TRUE(warned("plain"));
    Server().Ask("REVOKE " + right + " ON *.* FROM PUBLIC");
  } else {
    Server().Ask("SET GLOBAL activate_all_roles_on_login = ON");
    EXPECT_TRUE(warned("idle"));
    Server().Ask("SET GLOBAL mandatory_roles = 'outer_role'");
    EXPECT_TRUE(warned("plain"));
    Server().Ask("SET GLOBAL mandatory_roles = ''; SET GLOBAL activate_all_roles_on_login = OFF");
  }
  Server().Ask("SET GLOBAL " + enabled + " = OFF");
}

TEST_F(LoginTest, NoPasswordIsSentWithoutTlsWhereTlsIsRequired) {
  for (const auto attack :
       {FakeDatabase::Attack::kGreetsWithClearText, FakeDatabase::Attack::kSwitchesToClearText,
        FakeDatabase::Attack::kKnowsNoPlugins, FakeDatabase::Attack::kSwitchesToSha256,
        FakeDatabase::Attack::kWantsThePassword}) {
    for (const std::string& mode :
         {std::string("required"), "verify-ca" + Ca(), "verify-identity" + Ca()}) {
      FakeDatabase fake(attack);
      mysql::Config config = ConfigOf("mysql://tenure@127.0.0.1:" + std::to_string(fake.port()) +
                                      "/tenure?tls=" + mode);
      config.password = "the-secret";

      EXPECT_NE(Refusal(config), "");
      EXPECT_EQ(fake.received(), "") << mode;
    }
  }
}

TEST_F(LoginTest, NoPasswordIsSentWithoutTls) {
  for (const auto attack :
       {FakeDatabase::Attack::kGreetsWithClearText, FakeDatabase::Attack::kSwitchesToClearText,
        FakeDatabase::Attack::kKnowsNoPlugins, FakeDatabase::Attack::kSwitchesToSha256,
        FakeDatabase::Attack::kWantsThePassword}) {
    for (const std::string mode : {"preferred", "disabled"}) {
      FakeDatabase fake(attack);
      mysql::Config config = ConfigOf("mysql://tenure@127.0.0.1:" + std::to_string(fake.port()) +
                                      "/tenure?tls=" + mode);
      config.password = "the-secret";

      EXPECT_THAT(Refusal(config), HasSubstr("without TLS"));
      EXPECT_EQ(fake.given(), "") << static_cast<int>(attack) << " " << mode;
    }
  }
}

// MySQL asks for the password itself until the account has logged in once.
TEST_F(LoginTest, AFirstLoginByCachingSha2PasswordNeedsTlsOrASocket) {
  if (Server().Ask("SELECT VERSION()").find("MariaDB") != std::string::npos) {
    GTEST_SKIP() << "MariaDB has no such accounts";
  }
  Serve(authority_.Issue("database", kOurName), false);
  const std::string url = UrlOf("hashed");
  const auto refusal = [](const std::string& at) {
    mysql::Config config = ConfigOf(at);
    config.password = "the-secret";
    return Refusal(config);
  };
  std::string local = url;
  const size_t host = local.find("127.0.0.1");
  local.replace(host, local.find('/', host) - host, "localhost");

  for (const std::string& first : {url, local + "?socket=" + Server().socket()}) {
    MakeUser("hashed", "IDENTIFIED WITH caching_sha2_password BY 'the-secret'");

    EXPECT_THAT(refusal(url + "?tls=disabled"),
                HasSubstr("it asks for the password by caching_sha2_password, which is not sent "
                          "without TLS"));
    EXPECT_EQ(refusal(first), "");
    EXPECT_EQ(refusal(url + "?tls=disabled"), "");
  }
}

// Replaces the options that make the client library ask Tenure before it sends a password.
class OtherOptions {
 public:
  explicit OtherOptions(int other) : mine_(dup(Descriptor())) { dup2(other, Descriptor()); }
  ~OtherOptions() {
    dup2(mine_, Descriptor());
    close(mine_);
  }
  OtherOptions(const OtherOptions&) = delete;
  OtherOptions& operator=(const OtherOptions&) = delete;

 private:
  static int Descriptor() {
    const std::string& file = mysql::LoginGate::OptionFile();
    return std::stoi(file.substr(file.rfind('/') + 1));
  }

  const int mine_;
};

TEST_F(LoginTest, NoPasswordIsSentIfTheOptionsOfLoginsCannotBeRead) {
  FakeDatabase fake(FakeDatabase::Attack::kSwitchesToClearText);
  mysql::Config config =
      ConfigOf("mysql://tenure@127.0.0.1:" + std::to_string(fake.port()) + "/tenure?tls=required");
  config.password = "the-secret";
  const int unreadable = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  {
    const OtherOptions other(unreadable);
    EXPECT_THAT(Refusal(config), HasSubstr("is /proc mounted?"));
  }
  close(unreadable);

  EXPECT_EQ(fake.received(), "");
}

TEST_F(LoginTest, ALoginThatBypassedTheGateIsNotUsed) {
  const int empty = open("/dev/null", O_RDONLY | O_CLOEXEC);
  {
    const OtherOptions other(empty);
    EXPECT_THAT(Refusal(url_), HasSubstr("has not asked Tenure"));
  }
  close(empty);

  EXPECT_EQ(Refusal(url_), "");
}

TEST_F(LoginTest, AnAnswerWithoutAnEndTakesABoundedAmountOfMemory) {
  for (const auto attack :
       {FakeDatabase::Attack::kEndlessPacket, FakeDatabase::Attack::kEndlessRows}) {
    FakeDatabase fake(attack);

    const std::string refusal =
        Refusal("mysql://tenure@127.0.0.1:" + std::to_string(fake.port()) + "/tenure?tls=disabled");

    EXPECT_NE(refusal, "");
    EXPECT_LT(fake.bytes_sent(), uint64_t{100} << 20);  // plus what network buffers hold
  }
}

// A server could ask for any file that tenured can read.
TEST_F(LoginTest, TheClientOffersNoFiles) {
  constexpr uint8_t kLocalFiles = 128;  // of the capabilities, with which its answer begins
  FakeDatabase fake(FakeDatabase::Attack::kEscapesInAnError);

  (void)Refusal("mysql://tenure@127.0.0.1:" + std::to_string(fake.port()) + "/tenure?tls=disabled");

  ASSERT_GT(fake.received().size(), 4u);
  EXPECT_EQ(static_cast<uint8_t>(fake.received().front()) & kLocalFiles, 0);
}

TEST_F(LoginTest, ErrorsOfAServerAreEscaped) {
  FakeDatabase fake(FakeDatabase::Attack::kEscapesInAnError);

  EXPECT_THAT(
      Refusal("mysql://tenure@127.0.0.1:" + std::to_string(fake.port()) + "/tenure?tls=disabled"),
      HasSubstr(R"(denied\x1b[2J\n\xe2\x80\xae)"));
}

TEST_F(LoginTest, APasswordFileThatHasGoneIsNamed) {
  mysql::Config config = ConfigOf(url_);
  config.password_file = "/nowhere";

  EXPECT_THAT(Refusal(config), HasSubstr("cannot read '/nowhere'"));
}

}  // namespace
}  // namespace tenure::testing
