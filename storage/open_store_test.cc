#include "storage/open_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/law_testing.h"

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

// --- Secrets ---

class PasswordInUrlTest : public ::testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(Urls, PasswordInUrlTest,
                         ::testing::Values("mysql://u:s3cret@host/d", "mysql://u:s3cret@host",
                                           "mysql://:s3cret@host/d", "mysql://u:s3@s3cret@host/d",
                                           "mysql://u:s3cret/@host/d", "mysql://u:s3cret@",
                                           // Another scheme than the known ones.
                                           "mariadb://u:s3cret@host/d", "MySQL://u:s3cret@host/d",
                                           "mysql:u:s3cret@host/d", "u:s3cret@host/d"));

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
