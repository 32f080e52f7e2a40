// `tenured check` says whether tenured would serve, and why not, without changing anything.
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>

#include "tests/contract/raw_sql.h"
#include "tests/rpc/service_fixture.h"
#include "tests/support/certificates.h"

namespace tenure::testing {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

class CheckTest : public ::testing::Test {
 protected:
  static DatabaseServer& Database() {
    static DatabaseServer server;
    return server;
  }
  // The URL for a user who has only these rights.
  std::string UrlOf(const std::string& rights) {
    Database().Query("DROP USER IF EXISTS u; CREATE USER u; GRANT " + rights + " ON tenure.* TO u");
    return std::regex_replace(url_, std::regex("mysql://[^@]*@"), "mysql://u@");
  }
  static Finished Check(const std::string& url, std::vector<std::string> flags = {}) {
    std::vector<std::string> command = {Program("tenured"), "check", "--store", url};
    command.insert(command.end(), flags.begin(), flags.end());
    return RunToEnd(command);
  }
  void Migrate() {
    const Finished migrated = RunToEnd({Program("tenured"), "migrate", "--store", url_});
    ASSERT_EQ(migrated.exit_code, 0) << migrated.errors;
  }
  static void ExpectServes(const Finished& checked) {
    EXPECT_EQ(checked.exit_code, 0) << checked.output << checked.errors;
    EXPECT_THAT(checked.output, EndsWith("\nwill serve\n"));
  }
  static void ExpectFault(const Finished& checked, const std::string& fault) {
    EXPECT_EQ(checked.exit_code, 1) << checked.output << checked.errors;
    EXPECT_THAT(checked.output, AllOf(HasSubstr("will not serve: "), HasSubstr(fault)));
    EXPECT_THAT(checked.output, Not(HasSubstr("\nwill serve\n")));
  }
  [[nodiscard]] std::string File(const std::string& name, const std::string& content) const {
    std::ofstream(folder_.path() / name) << content;
    return folder_.path() / name;
  }

  const std::string url_ = Database().FreshDatabase("tenure");
  TempDir folder_;
};

constexpr char kServes[] = "SELECT, INSERT, UPDATE, DELETE";
constexpr char kMigrates[] =
    "CREATE, ALTER, INDEX, DROP, CREATE VIEW, CREATE ROUTINE, ALTER ROUTINE, EXECUTE, SELECT, "
    "INSERT, "
    "UPDATE, DELETE";

TEST_F(CheckTest, AUserWithTheDocumentedRightsServes) {
  ExpectServes(Check(UrlOf(kMigrates)));
  EXPECT_TRUE(QueryRows(url_, "SHOW TABLES").empty()) << "nothing was made";

  Migrate();

  ExpectServes(Check(UrlOf(kServes)));
  ExpectServes(Check(UrlOf(kServes), {"--no-migrate"}));
}

TEST_F(CheckTest, AUserWhoCanOnlyReadDoesNotServe) {
  Migrate();

  const Finished checked = Check(UrlOf("SELECT"));

  ExpectFault(checked, "the user lacks the rights INSERT on elections, DELETE on elections");
  EXPECT_THAT(checked.output, HasSubstr(": may be used"));
}

TEST_F(CheckTest, EachRightThatServingNeedsIsMissed) {
  Migrate();
  for (const std::string right : {"SELECT", "INSERT", "UPDATE", "DELETE"}) {
    const std::string others =
        std::regex_replace(std::string(kServes), std::regex(right + ", |, " + right), "");
    ExpectFault(Check(UrlOf(others)), right);
  }
}

TEST_F(CheckTest, ARightToSomeOfTheTablesIsNotEnough) {
  Migrate();
  const std::string url = UrlOf("SELECT, INSERT, DELETE");
  Database().Query("GRANT UPDATE ON tenure.elections TO u");

  ExpectFault(Check(url), "the user lacks the rights UPDATE on sessions");
}

TEST_F(CheckTest, ATableThatIsMissingIsNamed) {
  Migrate();
  Database().Query("DROP TABLE tenure.homes");

  ExpectFault(Check(UrlOf(kServes)), "Table 'tenure.homes' doesn't exist");
}

TEST_F(CheckTest, EachRightToEachTableIsMissed) {
  Migrate();
  const std::string url = UrlOf("EXECUTE");
  const std::vector<std::string> all = {"SELECT", "INSERT", "UPDATE", "DELETE"};
  const std::vector<std::string> unchanged = {"SELECT", "INSERT", "DELETE"};
  const std::map<std::string, std::vector<std::string>> needed = {
      {"elections", all},
      {"sessions", all},
      {"candidacies", all},
      {"events", unchanged},
      {"lanes", all},
      {"lineage", all},
      {"admin_changes", unchanged},
      {"cool_downs", all},
      {"writers", all},
      {"homes", all},
      {"departed", unchanged},
      {"fences", {"SELECT", "UPDATE", "DELETE"}},
      {"origin", {"SELECT", "INSERT", "UPDATE"}},
      {"session_key", {"SELECT", "INSERT"}}};
  Database().Query("GRANT SELECT ON tenure.schema_version TO u");
  for (const auto& [table, rights] : needed) {
    for (const std::string& right : rights) {
      Database().Query("GRANT " + right + " ON tenure." + table + " TO u");
    }
  }
  ExpectServes(Check(url));

  for (const auto& [table, rights] : needed) {
    for (const std::string& right : rights) {
      Database().Query("REVOKE " + right + " ON tenure." + table + " FROM u");
      ExpectFault(Check(url), right + " on " + table);
      Database().Query("GRANT " + right + " ON tenure." + table + " TO u");
    }
  }
}

TEST_F(CheckTest, ARoleMayGiveTheRights) {
  Database().Query(
      "DROP USER IF EXISTS u; CREATE USER u; DROP ROLE IF EXISTS r; CREATE ROLE r;"
      " GRANT " +
      std::string(kMigrates) + " ON tenure.* TO r; GRANT r TO u; SET DEFAULT ROLE " +
      (Database().Ask("SELECT VERSION()").find("MariaDB") != std::string::npos ? "r FOR u"
                                                                               : "r TO u"));

  ExpectServes(Check(std::regex_replace(url_, std::regex("mysql://[^@]*@"), "mysql://u@")));
}

TEST_F(CheckTest, TablesOfAnotherApplicationAreAFault) {
  Database().Query("CREATE TABLE tenure.invoices (id INT)");
  ExpectFault(Check(url_), "holds tables of another application (invoices)");
  ExpectServes(Check(url_, {"--share-database"}));

  const std::string file = "sqlite:" + (folder_.path() / "other.db").string();
  (void)QueryRows(file, "CREATE TABLE invoices (id INT)");
  ExpectFault(Check(file), "holds tables of another application (invoices)");
  ExpectServes(Check(file, {"--share-database"}));
}

TEST_F(CheckTest, TheDatabaseOfAnotherServiceIsAFault) {
  const std::vector<std::string> flags = {"--service-id", std::string(32, 'b')};
  ExpectFault(Check(url_, flags), "the database belongs to no service yet, and --service-id is");
  std::string id;
  {
    Tenured server(url_);
    grpc::ClientContext context;
    v1::IdentifyResponse response;
    ASSERT_TRUE(server.stub().Identify(&context, {}, &response).ok());
    id = response.service_id();
  }

  ExpectFault(Check(url_, flags), "the database belongs to service " + id);
  ExpectServes(Check(url_, {"--service-id", id}));
}

TEST_F(CheckTest, AnEmptyDatabaseNeedsTheRightToFillIt) {
  ExpectFault(Check(UrlOf(kServes)),
              "its schema has to be created, and the user lacks the rights "
              "CREATE, ALTER, INDEX, CREATE VIEW, DROP");
  for (const std::string right : {"CREATE", "ALTER", "INDEX", "CREATE VIEW", "DROP"}) {
    const std::string others =
        std::regex_replace(std::string(kMigrates), std::regex("(^|, )" + right + ", "), "$1");
    ExpectFault(Check(UrlOf(others)), right);
  }
  for (const std::string right : {"CREATE ROUTINE", "ALTER ROUTINE"}) {
    const std::string others =
        std::regex_replace(std::string(kMigrates), std::regex(right + ", "), "");
    ExpectFault(Check(UrlOf(others)), "the user lacks the rights " + right);
  }
  ExpectFault(Check(UrlOf(kMigrates), {"--no-migrate"}), "it has no schema: run tenured migrate");
  EXPECT_TRUE(QueryRows(url_, "SHOW TABLES").empty()) << "nothing was made";
}

TEST_F(CheckTest, ASchemaThatIsTooNewOrOldIsAFault) {
  Migrate();
  const std::string version = QueryRows(url_, "SELECT version FROM schema_version").front();

  Database().Query("UPDATE tenure.schema_version SET version = 99");
  ExpectFault(Check(url_), "its schema has version 99, and this program knows version " + version);
  Database().Query("UPDATE tenure.schema_version SET version = 5");
  ExpectFault(Check(url_, {"--no-migrate"}), "its schema has version 5");
}

TEST_F(CheckTest, ADatabaseThatIsNotThereIsAFault) {
  ExpectFault(Check(std::regex_replace(url_, std::regex("/tenure$"), "/nowhere")),
              "no server of --store may be used");
}

TEST_F(CheckTest, TlsFilesAndThePolicyAreChecked) {
  const CertificateAuthority authority("the authority");
  const KeyPair good = authority.Issue("tenured", "IP:127.0.0.1");
  const KeyPair expired = authority.Issue("tenured", "IP:127.0.0.1", -5s);
  const auto tls = [&](const KeyPair& pair) {
    return std::vector<std::string>{"--tls-cert", File("crt", pair.certificate), "--tls-key",
                                    File("key", pair.key)};
  };

  ExpectServes(Check(url_, tls(good)));
  ExpectServes(Check(url_, {"--policy", File("policy", "identities: []\n")}));

  ExpectFault(Check(url_, tls(expired)), " has expired");
  ExpectFault(Check(url_, tls({good.certificate, expired.key})), "is not the private key of");
  ExpectFault(Check(url_, {"--policy", File("policy", "identities: nonsense\n")}),
              "'identities' must be a list");
}

TEST_F(CheckTest, AFileOfSqliteIsChecked) {
  const std::string url = "sqlite:" + (folder_.path() / "t.db").string();
  ExpectServes(Check(url));
  ExpectFault(Check(url, {"--no-migrate"}), "it has no schema: run tenured migrate");
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "t.db")) << "nothing was made";
  ExpectFault(Check("sqlite:" + (folder_.path() / "nowhere" / "t.db").string()),
              "no server of --store may be used");
  ASSERT_EQ(RunToEnd({Program("tenured"), "migrate", "--store", url}).exit_code, 0);
  ExpectServes(Check(url));

  (void)QueryRows(url, "UPDATE schema_version SET version = 99");

  ExpectFault(Check(url), "its schema is newer than this program");
}

}  // namespace
}  // namespace tenure::testing
