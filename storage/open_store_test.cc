#include "storage/open_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/law/law_testing.h"

namespace tenure::testing {
namespace {

using mysql::Address;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

mysql::Config MySqlOf(const std::string& url) {
  const auto location = ParseStoreUrl(url);
  EXPECT_TRUE(location) << location.error();
  if (!location || !std::holds_alternative<mysql::Config>(*location)) return {};
  return std::get<mysql::Config>(*location);
}

std::string SqlitePathOf(const std::string& url) {
  const auto location = ParseStoreUrl(url);
  EXPECT_TRUE(location) << location.error();
  if (!location || !std::holds_alternative<SqliteLocation>(*location)) return "";
  return std::get<SqliteLocation>(*location).path;
}

std::string ErrorOf(const std::string& url) {
  const auto location = ParseStoreUrl(url);
  EXPECT_FALSE(location);
  return location ? "" : location.error();
}

// --- SQLite ---

TEST(StoreUrlTest, ASqliteUrlHasAPath) {
  EXPECT_EQ(SqlitePathOf("sqlite:tenure.db"), "tenure.db");
  EXPECT_EQ(SqlitePathOf("sqlite:/var/lib/tenure/a b.db"), "/var/lib/tenure/a b.db");
  EXPECT_EQ(SqlitePathOf("sqlite:../t.db"), "../t.db");
}

TEST(StoreUrlTest, ASqliteUrlMayMeanMemory) {
  EXPECT_EQ(SqlitePathOf("sqlite::memory:"), ":memory:");
}

TEST(StoreUrlTest, ASqliteUrlNeedsAPath) {
  EXPECT_THAT(ErrorOf("sqlite:"), HasSubstr("path is missing"));
}

// --- MySQL ---

TEST(StoreUrlTest, AMySqlUrlHasUserHostAndDatabase) {
  const auto config = MySqlOf("mysql://tenure@db.example/elections");

  EXPECT_EQ(config.user, "tenure");
  EXPECT_THAT(config.addresses, ElementsAre(Address{"db.example", 3306}));
  EXPECT_EQ(config.database, "elections");
  EXPECT_EQ(config.password, "");
}

TEST(StoreUrlTest, AMySqlUrlMayHaveAPort) {
  EXPECT_THAT(MySqlOf("mysql://u@h:3307/d").addresses, ElementsAre(Address{"h", 3307}));
  EXPECT_THAT(MySqlOf("mysql://u@h:65535/d").addresses, ElementsAre(Address{"h", 65535}));
}

TEST(StoreUrlTest, AUserMayHoldAnAt) {
  const auto config = MySqlOf("mysql://u@azure@h:3307/d");

  EXPECT_EQ(config.user, "u@azure");
  EXPECT_THAT(config.addresses, ElementsAre(Address{"h", 3307}));
}

TEST(StoreUrlTest, AMySqlUrlMayHaveSeveralHosts) {
  EXPECT_THAT(MySqlOf("mysql://u@a,b:3307,c/d").addresses,
              ElementsAre(Address{"a", 3306}, Address{"b", 3307}, Address{"c", 3306}));
}

TEST(StoreUrlTest, AMySqlUrlMayHaveAnIpV6AddressInBrackets) {
  EXPECT_THAT(MySqlOf("mysql://u@[::1]:3307,[fe80::2]/d").addresses,
              ElementsAre(Address{"[::1]", 3307}, Address{"[fe80::2]", 3306}));
}

TEST(StoreUrlTest, AMySqlUrlNeedsAUser) {
  EXPECT_THAT(ErrorOf("mysql://host/d"), HasSubstr("user is missing"));
  EXPECT_THAT(ErrorOf("mysql://@host/d"), HasSubstr("user is missing"));
  EXPECT_THAT(ErrorOf("mysql://"), HasSubstr("user is missing"));
}

TEST(StoreUrlTest, AMySqlUrlNeedsADatabase) {
  EXPECT_THAT(ErrorOf("mysql://u@host"), HasSubstr("database is missing"));
  EXPECT_THAT(ErrorOf("mysql://u@host/"), HasSubstr("database is missing"));
}

class BadAddressTest : public ::testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(Addresses, BadAddressTest,
                         ::testing::Values("", "h:", "h:0", "h:65536", "h:-1", "h:+1", "h:33o6",
                                           "h: 3306", "h:3306 ", ":3306", "::1", "[::1", "a,,b",
                                           "a,", ",a"));

TEST_P(BadAddressTest, ABadAddressIsRefused) {
  EXPECT_THAT(ErrorOf("mysql://u@" + GetParam() + "/d"), HasSubstr("is not HOST[:PORT]"));
}

// --- Parameters of a MySQL URL ---

TEST(StoreUrlTest, WithoutParametersTlsIsUsedIfTheServerOffersIt) {
  EXPECT_EQ(MySqlOf("mysql://u@h/d").tls, mysql::Tls());
  EXPECT_EQ(mysql::Tls().mode, mysql::Tls::Mode::kPreferred);
}

TEST(StoreUrlTest, TlsHasTheModesOfMySql) {
  using Mode = mysql::Tls::Mode;
  EXPECT_EQ(MySqlOf("mysql://u@h/d?tls=disabled").tls.mode, Mode::kDisabled);
  EXPECT_EQ(MySqlOf("mysql://u@h/d?tls=preferred").tls.mode, Mode::kPreferred);
  EXPECT_EQ(MySqlOf("mysql://u@h/d?tls=required").tls.mode, Mode::kRequired);
  EXPECT_EQ(MySqlOf("mysql://u@h/d?tls=verify-ca&tls-ca=c").tls.mode, Mode::kVerifyCa);
  EXPECT_EQ(MySqlOf("mysql://u@h/d?tls=verify-identity&tls-ca=c").tls.mode, Mode::kVerifyIdentity);
}

TEST(StoreUrlTest, TlsHasFiles) {
  const auto config =
      MySqlOf("mysql://u@h/d?tls-key=/k.pem&tls-ca=/c.pem&tls=verify-ca&tls-cert=/x y.pem");

  EXPECT_EQ(config.database, "d");
  EXPECT_EQ(config.tls.ca, "/c.pem");
  EXPECT_EQ(config.tls.certificate, "/x y.pem");
  EXPECT_EQ(config.tls.key, "/k.pem");
}

TEST(StoreUrlTest, AMySqlUrlMayNameASocket) {
  const auto config = MySqlOf("mysql://u@localhost/d?socket=/run/mysqld/mysqld.sock");

  EXPECT_EQ(config.socket, "/run/mysqld/mysqld.sock");
  EXPECT_EQ(config.database, "d");
}

struct BadParameters {
  std::string text;
  std::string error;
};

class BadParametersTest : public ::testing::TestWithParam<BadParameters> {};

INSTANTIATE_TEST_SUITE_P(
    Parameters, BadParametersTest,
    ::testing::Values(
        BadParameters{"ssl=true", "the parameter ssl is unknown"},
        BadParameters{"tls=yes", "tls is disabled, preferred, required, verify-ca or"},
        BadParameters{"tls=", "the parameter tls has no value"},
        BadParameters{"tls", "the parameter tls has no value"},
        BadParameters{"tls=required&", "ends with &"}, BadParameters{"", "ends with ?"},
        BadParameters{"tls=required&tls=disabled", "the parameter tls is given twice"},
        BadParameters{"tls=verify-ca", "need tls-ca"},
        BadParameters{"tls=verify-identity", "need tls-ca"},
        BadParameters{"tls-ca=c", "tls-ca needs tls=verify-ca or tls=verify-identity"},
        BadParameters{"tls=required&tls-ca=c", "tls-ca needs tls=verify-ca or"},
        BadParameters{"tls=required&tls-cert=c", "tls-cert and tls-key need each other"},
        BadParameters{"tls=required&tls-key=k", "tls-cert and tls-key need each other"},
        BadParameters{"tls-cert=c&tls-key=k", "tls-cert needs tls=required, verify-ca or"},
        BadParameters{"socket=/s&tls=required", "socket and tls exclude each other"}));

TEST_P(BadParametersTest, BadParametersAreRefusedWithTheReason) {
  EXPECT_THAT(ErrorOf("mysql://u@h/d?" + GetParam().text), HasSubstr(GetParam().error));
}

TEST(StoreUrlTest, ASocketHasOneHost) {
  EXPECT_THAT(ErrorOf("mysql://u@a,b/d?socket=/s"), HasSubstr("socket needs one host"));
}

// --- Secrets ---

class PasswordInUrlTest : public ::testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(Urls, PasswordInUrlTest,
                         ::testing::Values("mysql://u:s3cret@host/d", "mysql://u:s3cret@host",
                                           "mysql://:s3cret@host/d", "mysql://u:s3@s3cret@host/d",
                                           "mysql://u:s3cret/@host/d", "mysql://u:s3cret@",
                                           // Another scheme than the known ones.
                                           "mariadb://u:s3cret@host/d", "MySQL://u:s3cret@host/d",
                                           "mysql:u:s3cret@host/d", "u:s3cret@host/d",
                                           "u:s3cret//@host/d", "mysql://u@x:s3cret@host/d",
                                           "mysql://u@x:s3cret/@host/d",
                                           "mysql://u@x:1/d?s3cret=@host/d"));

TEST_P(PasswordInUrlTest, APasswordInTheUrlIsRefusedAndNeverRepeated) {
  EXPECT_THAT(ErrorOf(GetParam()), Not(HasSubstr("s3cret")));
}

TEST(StoreUrlTest, TheErrorForAPasswordSaysWhereElseToPutIt) {
  EXPECT_THAT(ErrorOf("mysql://u:s3cret@host/d"),
              AllOf(HasSubstr("TENURE_STORE_PASSWORD"), HasSubstr("--store-password-file")));
}

// --- Anything else ---

TEST(StoreUrlTest, AnUnknownSchemeIsRefusedAndTheKnownOnesNamed) {
  for (const char* url : {"", "postgres://u@h/d", "tenure.db", "SQLITE:t.db", "mysql:u@h/d"}) {
    EXPECT_THAT(ErrorOf(url), HasSubstr("must begin with sqlite: or mysql://"));
  }
}

TEST(StoreUrlTest, ABadUrlIsRepeatedInTheError) {
  EXPECT_THAT(ErrorOf("postgres://u@h/d"), HasSubstr("'postgres://u@h/d'"));
}

// --- Opening ---

TEST(OpenStoreTest, AFileThatCannotBeOpenedIsNamed) {
  const auto store = OpenStore(SqliteLocation{"no/such/folder/tenure.db"});

  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().reason, Reason::kStoreUnavailable);
  EXPECT_THAT(store.error().message, HasSubstr("no/such/folder/tenure.db"));
}

TEST(OpenStoreTest, AStoreInMemoryAnswers) {
  const auto store = OpenStore(SqliteLocation{":memory:"});

  ASSERT_TRUE(store);
  EXPECT_TRUE((*store)->Ping());
}

TEST(OpenStoreTest, AMySqlStoreConnectsAtTheFirstCall) {
  // Nobody serves MySQL on the discard port.
  const auto store = OpenStore(ParseStoreUrl("mysql://u@127.0.0.1:9/d").value());

  ASSERT_TRUE(store);
  EXPECT_THAT((*store)->Ping(), FailsWith(Reason::kStoreUnavailable));
}

}  // namespace
}  // namespace tenure::testing
