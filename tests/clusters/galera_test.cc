// Tenure on three nodes of Galera.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "tenure/observer.h"
#include "tests/client/elector_fixture.h"
#include "tests/clusters/terms.h"
#include "tests/support/contention.h"
#include "tests/support/galera.h"
#include "tests/support/sql_application.h"
#include "tests/support/tenured.h"

namespace tenure::testing {
namespace {

using ::testing::Contains;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

class GaleraTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { galera_ = std::make_unique<Galera>(); }
  static void TearDownTestSuite() { galera_.reset(); }

  void SetUp() override {
    galera_->WaitUntilWhole();
    galera_->server(0).FreshDatabase("tenure");
  }

  static std::unique_ptr<Galera> galera_;
};
std::unique_ptr<Galera> GaleraTest::galera_;

TEST_F(GaleraTest, TheCheckKnowsItsNodes) {
  const Finished checked = RunToEnd({Program("tenured"), "check", "--store", galera_->Url("x")});
  EXPECT_EQ(checked.exit_code, 1) << "there is no such database";
  const Finished right = RunToEnd({Program("tenured"), "check", "--store", galera_->Url("tenure")});
  EXPECT_EQ(right.exit_code, 0);
  EXPECT_THAT(right.output, HasSubstr(galera_->server(1).address() + ": MariaDB 10.11"));
  EXPECT_THAT(right.output, HasSubstr("Galera node n3, Synced, cluster of 3: may be used"));
}

// The documented rights, granted on one node. The right to execute a procedure that comes with
// creating it stays on the node where it was created.
TEST_F(GaleraTest, TheFenceCanBeCalledOnEveryNode) {
  galera_->server(0).Ask(
      "CREATE OR REPLACE USER owner; CREATE OR REPLACE USER application;"
      " GRANT CREATE, ALTER, DROP, INDEX, CREATE VIEW, CREATE ROUTINE, ALTER ROUTINE, EXECUTE, "
      "SELECT,"
      " INSERT, UPDATE, DELETE ON tenure.* TO owner");
  const auto url_of = [&](const std::string& user, size_t node) {
    return "mysql://" + user + "@" + galera_->server(node).address() + "/tenure";
  };
  const Finished migrated =
      RunToEnd({Program("tenured"), "migrate", "--store", url_of("owner", 0)});
  ASSERT_EQ(migrated.exit_code, 0) << migrated.errors;
  galera_->server(0).Ask("GRANT EXECUTE ON PROCEDURE tenure.tenure_fence TO application");
  Tenured server(url_of("owner", 0), {"--no-migrate"});
  Campaign(server, {"orders", "first"});

  for (size_t node = 0; node < 3; ++node) {
    // The grant reaches the others a moment later.
    EXPECT_TRUE(Eventually([&] {
      const std::string grants = galera_->server(node).Ask("SHOW GRANTS FOR application");
      return grants.find("tenure_fence") != std::string::npos;
    }));
    SqlApplication application(url_of("application", node));
    EXPECT_TRUE(Eventually([&] { return application.Guard("'orders'", "1").empty(); }))
        << node << application.Guard("'orders'", "1");
  }

  galera_->server(0).Ask("REVOKE EXECUTE ON tenure.* FROM owner");
  const Finished checked = RunToEnd({Program("tenured"), "migrate", "--store", url_of("owner", 1)});
  EXPECT_EQ(checked.exit_code, 1);
  EXPECT_THAT(checked.errors, HasSubstr("Its definer needs EXECUTE"));
}

TEST_F(GaleraTest, AKilledNodeLosesNothing) {
  Tenured a(galera_->Url("tenure", 0));
  Tenured b(galera_->Url("tenure", 0));
  Terms terms;
  for (int i = 0; i < 5; ++i) terms.Take(i % 2 == 0 ? a : b);

  galera_->server(0).Kill();
  for (int i = 0; i < 5; ++i) terms.Take(i % 2 == 0 ? a : b);
  galera_->Rejoin(0);
  for (int i = 0; i < 5; ++i) terms.Take(i % 2 == 0 ? a : b);

  EXPECT_EQ(*terms.given().rbegin(), 15U);
  EXPECT_EQ(galera_->server(0).Ask("SET wsrep_sync_wait = 1; SELECT term FROM tenure.elections"),
            "15");
  EXPECT_THAT(a.process().Errors(), Not(HasSubstr("lost commits")));
}

// A replica that loses its node goes on with one whose clock differs. Nobody can renew until the
// other nodes have expelled it: leaders stop, and keep their seats in the next term.
TEST_F(GaleraTest, NoSeatChangesHandsOnNodesWhoseClocksDiffer) {
  constexpr size_t kSeats = 10;
  for (size_t i = 0; i < 2; ++i) {
    const auto seconds = [&](size_t node) {
      return std::stoll(galera_->server(node).Ask("SELECT UNIX_TIMESTAMP()"));
    };
    const auto behind = seconds(i);
    ASSERT_THAT(seconds(i + 1) - behind, Ge(59));
  }
  Tenured a(galera_->Url("tenure", 0));
  Tenured b(galera_->Url("tenure", 1));
  const auto new_client = [&](const std::string& candidate) {
    return Client(
        {.endpoints = a.endpoint() + "," + b.endpoint(), .candidate = candidate, .lease_ttl = 3s});
  };
  const Client first = new_client("first");
  const Client second = new_client("second");
  std::vector<Diary> leading(kSeats);
  std::vector<Diary> waiting(kSeats);
  std::vector<std::unique_ptr<Elector>> electors;
  for (size_t i = 0; i < kSeats; ++i) {
    const std::string seat = "seat " + std::to_string(i);
    electors.push_back(std::make_unique<Elector>(first, leading[i].Options(seat)));
    leading[i].WaitFor("elected 1");
    electors.push_back(std::make_unique<Elector>(second, waiting[i].Options(seat)));
  }
  const auto all_wait = [&] {
    return galera_->server(2).Ask("SELECT COUNT(*) FROM tenure.candidacies") ==
           std::to_string(kSeats);
  };
  EXPECT_TRUE(Eventually(all_wait));

  Terms terms;
  for (const size_t node : {0, 1, 2}) {
    galera_->server(node).Kill();
    terms.Take(a);
    terms.Take(b);
    galera_->Rejoin(node);
    galera_->WaitUntilWhole();
  }

  for (size_t i = 0; i < kSeats; ++i) {
    const std::string seat = "seat " + std::to_string(i);
    EXPECT_TRUE(Eventually([&] { return Leader(a, seat).leader().candidate() == "first"; }));
    EXPECT_THAT(waiting[i].Lines(), Not(Contains(StartsWith("elected"))));
  }
  EXPECT_TRUE(Eventually(all_wait));
}

}  // namespace
}  // namespace tenure::testing
