// How the store logs in to a real server: TLS, certificates, a socket, a password that changes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "storage/mysql/connection.h"
#include "storage/open_store.h"
#include "tests/support/certificates.h"
#include "tests/support/database_server.h"

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

  // Restarts the server with this certificate. It refuses connections without TLS, if it insists.
  void Serve(const KeyPair& pair, bool insists = true) {
    Server().RestartWith({"--ssl-ca=" + Server().WriteFile("ca.pem", authority_.certificate()),
                          "--ssl-cert=" + Server().WriteFile("cert.pem", pair.certificate),
                          "--ssl-key=" + Server().WriteFile("key.pem", pair.key),
                          std::string("--require-secure-transport=") + (insists ? "ON" : "OFF")});
    url_ = Server().FreshDatabase("tenure");
  }

  // A file of ours.
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
  EXPECT_THAT(Refusal(url_ + "?tls=verify-identity" + Ca()), HasSubstr("does not support it"));
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

TEST_F(LoginTest, AFileThatCannotBeReadIsNamed) {
  EXPECT_THAT(Refusal(url_ + "?tls=verify-ca&tls-ca=/nowhere.pem"),
              HasSubstr("cannot read '/nowhere.pem'"));
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

TEST_F(LoginTest, APasswordFileThatHasGoneIsNamed) {
  mysql::Config config = ConfigOf(url_);
  config.password_file = "/nowhere";

  EXPECT_THAT(Refusal(config), HasSubstr("cannot read '/nowhere'"));
}

}  // namespace
}  // namespace tenure::testing
