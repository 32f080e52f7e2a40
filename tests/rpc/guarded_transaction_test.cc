// The C++ side of docs/fencing.md (client/cpp/tenure/sql_fence.h), against two replicas and the
// database that they keep their tables in: the example of that page, and what the database says.
#include <cppconn/connection.h>
#include <cppconn/driver.h>
#include <cppconn/exception.h>
#include <cppconn/statement.h>

#include <fstream>
#include <sstream>
#include <stdexcept>

#include "tenure/sql_fence.h"
#include "tests/rpc/service_fixture.h"
#include "tests/support/sql_application.h"

namespace tenure::testing {
namespace {

using ::testing::ElementsAre;

// docs/fencing.md shows what stands between the two marks.
// [example]
// Your driver, in the one shape that Guarded asks for. Here it is MySQL Connector/C++.
SqlResult Run(sql::Connection& connection, const std::string& statement) {
  try {
    const std::unique_ptr<sql::Statement> sender(connection.createStatement());
    sender->execute(statement);
    return {};
  } catch (const sql::SQLException& error) {
    return tl::unexpected(SqlError{error.getErrorCode(), error.what()});
  }
}

// Sells one piece. False if this process does not lead `shop` in `term` any more: it has to stop.
bool SellOne(sql::Connection& connection, uint64_t term) {
  const auto run = [&](const std::string& statement) { return Run(connection, statement); };
  const SqlFence fence{.election = "shop", .term = term};
  const SqlResult sold = Guarded(run, fence, [&] {
    return run("UPDATE stock SET pieces = pieces - 1").and_then([&] {
      return run("INSERT INTO sales (term) VALUES (" + std::to_string(term) + ")");
    });
  });
  if (sold) return true;
  if (MeaningOf(sold.error()) == SqlErrorMeaning::kTermOver) return false;
  throw std::runtime_error(sold.error().message);
}
// [/example]

class GuardedTransactionTest : public ServiceTest {
 protected:
  void SetUp() override {
    ServiceTest::SetUp();
    application_ = std::make_unique<SqlApplication>(url_);
    application_->Run("CREATE TABLE stock (pieces INT NOT NULL)");
    application_->Run("CREATE TABLE sales (term BIGINT NOT NULL)");
    application_->Run("INSERT INTO stock VALUES (100)");
  }

  // A connection of the example's driver.
  std::unique_ptr<sql::Connection> Connect() {
    const auto config = std::get<mysql::Config>(ParseStoreUrl(url_).value());
    sql::ConnectOptionsMap options;
    options["hostName"] = sql::SQLString("tcp://" + config.addresses[0].host);
    options["port"] = static_cast<int>(config.addresses[0].port);
    options["userName"] = sql::SQLString(config.user);
    options["password"] = sql::SQLString(config.password);
    options["schema"] = sql::SQLString(config.database);
    return std::unique_ptr<sql::Connection>(get_driver_instance()->connect(options));
  }

  SqlResult Sell(const SqlFence& fence) {
    const auto run = [&](const std::string& statement) { return application_->Try(statement); };
    return Guarded(run, fence, [&] { return run("UPDATE stock SET pieces = pieces - 1"); });
  }

  // A number from the database.
  std::string Read(const std::string& sql) { return application_->Run(sql)[0][0].value(); }

  std::unique_ptr<SqlApplication> application_;
};

INSTANTIATE_TEST_SUITE_P(Stores, GuardedTransactionTest, ::testing::Values(StoreKind::kMariaDb),
                         StoreKindName);

TEST_P(GuardedTransactionTest, TheExampleSellsWhileItsTermLasts) {
  const auto alice = Campaign(A(), {"shop", "alice"}).session().session_id();
  Campaign(B(), {"shop", "bob"});
  const auto connection = Connect();

  EXPECT_TRUE(SellOne(*connection, 1));
  EXPECT_TRUE(SellOne(*connection, 1));
  Resign(A(), alice, "shop");
  EXPECT_FALSE(SellOne(*connection, 1));
  EXPECT_EQ(Read("SELECT pieces FROM stock"), "98");
  EXPECT_EQ(Read("SELECT COUNT(*) FROM sales"), "2");

  EXPECT_TRUE(SellOne(*connection, 2));
}

TEST_P(GuardedTransactionTest, TheExampleReturnsOtherErrorsToItsCaller) {
  Campaign(A(), {"shop", "leader"});
  application_->Run("DROP TABLE sales");
  const auto connection = Connect();

  EXPECT_THROW(SellOne(*connection, 1), std::runtime_error);

  EXPECT_EQ(Read("SELECT pieces FROM stock"), "100");
}

TEST_P(GuardedTransactionTest, AnyNameReachesTheFenceWhateverTheConnectionsSettings) {
  const std::vector<std::string> names = {"it's", "\"quoted\"", "back\\slash\\'", "tést", "e ",
                                          "E",    "日本/語",    "x' OR 1 -- ",    "%s;"};
  for (const std::string& name : names) Campaign(A(), {name, "leader"});
  for (const std::string setting :
       {"NAMES latin1", "NAMES utf8mb4", "sql_mode = 'ANSI_QUOTES,NO_BACKSLASH_ESCAPES'"}) {
    application_->Run("SET " + setting);
    for (const std::string& name : names) {
      const SqlResult sold = Sell({{name}, {1}});
      EXPECT_TRUE(sold) << setting << ", " << name << ": " << sold.error().message;
    }
  }
  const SqlResult sold = Sell({{"e"}, {1}});  // "e " leads, and "E"
  ASSERT_FALSE(sold);
  EXPECT_EQ(MeaningOf(sold.error()), SqlErrorMeaning::kTermOver) << sold.error().message;
}

TEST_P(GuardedTransactionTest, ALockWaitTimeoutIsRetried) {
  Campaign(A(), {"shop", "leader"});
  SqlApplication other(url_);
  other.Run("START TRANSACTION");
  other.Run("UPDATE stock SET pieces = pieces - 1");
  application_->Run("SET SESSION innodb_lock_wait_timeout = 1");
  std::vector<SqlErrorMeaning> failures;
  const auto run = [&](const std::string& statement) {
    const SqlResult result = application_->Try(statement);
    if (!result) {
      failures.push_back(MeaningOf(result.error()));
      other.Run("COMMIT");
    }
    return result;
  };

  const SqlResult sold = Guarded(run, SqlFence{"shop", 1}, [&] {
    return run("INSERT INTO sales VALUES (1)").and_then([&] {
      return run("UPDATE stock SET pieces = pieces - 1");
    });
  });

  EXPECT_TRUE(sold);
  EXPECT_THAT(failures, ElementsAre(SqlErrorMeaning::kTryAgain));
  EXPECT_EQ(Read("SELECT pieces FROM stock"), "98");
  EXPECT_EQ(Read("SELECT COUNT(*) FROM sales"), "1");
}

TEST_P(GuardedTransactionTest, AnErrorOfTheApplicationsTriggerSaysNothingAboutTheTerm) {
  Campaign(A(), {"shop", "leader"});
  application_->Run(
      "CREATE TRIGGER never BEFORE UPDATE ON stock FOR EACH ROW"
      " SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'the stock is closed'");

  const SqlResult sold = Sell({{"shop"}, {1}});

  ASSERT_FALSE(sold);
  EXPECT_EQ(sold.error().code, 1644);
  EXPECT_EQ(MeaningOf(sold.error()), SqlErrorMeaning::kOther);
}

TEST_P(GuardedTransactionTest, ADatabaseWithoutTenureSaysNothingAboutTheTerm) {
  const SqlResult sold = Sell({{"shop"}, {1}, "mysql"});

  ASSERT_FALSE(sold);
  EXPECT_EQ(MeaningOf(sold.error()), SqlErrorMeaning::kOther);
  EXPECT_EQ(Read("SELECT pieces FROM stock"), "100");
}

TEST(DocumentationTest, TheDocumentationShowsTheTestedExample) {
  const auto read = [](const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(std::string(TENURE_SOURCE_DIR) + "/" + path).rdbuf();
    return text.str();
  };
  const std::string own = read("tests/rpc/guarded_transaction_test.cc");
  const std::string mark = "// [example]\n";
  const size_t begin = own.find(mark) + mark.size();
  const std::string example = own.substr(begin, own.find("// [/example]\n") - begin);

  const std::string page = read("docs/fencing.md");

  EXPECT_NE(page.find("```cpp\n" + example + "```\n"), std::string::npos)
      << "docs/fencing.md does not show this:\n"
      << example;
}

}  // namespace
}  // namespace tenure::testing
