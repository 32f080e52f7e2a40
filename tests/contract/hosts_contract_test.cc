// A store whose URL names several database servers: which of them it uses, and what it does when
// that one is lost, or must not be written to any more.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/law/law.h"
#include "storage/mysql/open.h"
#include "storage/open_store.h"
#include "tests/support/database_server.h"

namespace tenure::testing {
namespace {

using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::StartsWith;

// The servers are independent: what each of them holds shows which one was used.
class HostsTest : public ::testing::Test {
 protected:
  static constexpr size_t kHosts = 2;

  HostsTest() {
    for (size_t i = 0; i < kHosts; ++i) {
      if (!Host(i).process().Running()) Host(i).Start();
      SetReadOnly(i, false);
      Host(i).Ask("SET GLOBAL init_connect = ''");
      Host(i).Ask("SET GLOBAL innodb_flush_log_at_trx_commit = DEFAULT");
      Host(i).FreshDatabase("tenure");
      // Root may write to a server that is read-only.
      Host(i).Ask(
          "DROP USER IF EXISTS replica; CREATE USER replica; GRANT ALL ON tenure.* TO replica");
      EXPECT_TRUE(OpenStore(ParseStoreUrl(UrlOf({i})).value()).value()->Migrate());
    }
    store_ = OpenStore(ParseStoreUrl(UrlOf({0, 1})).value()).value();
  }

  static DatabaseServer& Host(size_t number) {
    static std::array<DatabaseServer, kHosts> hosts;
    return hosts.at(number);
  }
  static void SetReadOnly(size_t number, bool on) {
    Host(number).Ask(std::string("SET GLOBAL read_only = ") + (on ? "ON" : "OFF"));
  }
  static std::string UrlOf(const std::vector<size_t>& numbers) {
    std::string addresses;
    for (const size_t i : numbers) addresses += (addresses.empty() ? "" : ",") + Host(i).address();
    return "mysql://replica@" + addresses + "/tenure";
  }
  static mysql::Config Servers() {
    return std::get<mysql::Config>(ParseStoreUrl(UrlOf({0, 1})).value());
  }

  // Campaigns with a new candidate.
  Result<Committed> Stand(const std::string& election) {
    SessionId session;
    session.bytes.fill(static_cast<uint8_t>(++sessions_));
    const Command campaign =
        Campaign{{election}, session, Campaign::Opening{"c", 60s}, {}, "", 0, {}};
    return store_->Transact(LockSetOf({&campaign}), {}, [&](TransactionState& transaction) {
      if (during_) during_();
      EXPECT_TRUE(Apply(transaction, {}, campaign));
    });
  }
  // The elections that a server holds.
  static std::string ElectionsOn(size_t number) {
    return Host(number).Ask(
        "SELECT COALESCE(GROUP_CONCAT(name ORDER BY name), '') FROM tenure.elections");
  }
  // The elections that the store reads from the server in use.
  std::string ElectionsShown() {
    std::string names;
    const auto views = store_->ListElections("", "", 10);
    EXPECT_TRUE(views) << views.error().message;
    if (!views) return "";
    for (const ElectionView& view : *views) {
      names += (names.empty() ? "" : ",") + view.election.name.bytes;
    }
    return names;
  }
  // The agreed number, by the server that answers.
  uint64_t AgreedNumber() {
    const auto sight =
        store_->AgreeOnHistory(0, [](const HistoryReading&) { return std::nullopt; });
    EXPECT_TRUE(sight) << sight.error().message;
    return sight ? sight->server.number : 0;
  }

  // Logins to this server have to wait for this number of seconds.
  static void SlowDownLogin(size_t number, const std::string& seconds) {
    Host(number).Ask("SET GLOBAL init_connect = 'DO GET_LOCK(\"login\", 0), SLEEP(" + seconds +
                     ")'");
  }
  static bool SomebodyLogsIn(size_t number) {
    return Host(number).Ask("SELECT IS_USED_LOCK('login') IS NOT NULL") == "1";
  }

  std::unique_ptr<Store> store_;
  std::function<void()> during_;  // called in each try of a transaction
  int sessions_ = 0;
};

TEST_F(HostsTest, TheFirstOfTheListIsUsed) {
  ASSERT_TRUE(Stand("e"));

  EXPECT_EQ(ElectionsOn(0), "e");
  EXPECT_THAT(ElectionsOn(1), IsEmpty());
}

TEST_F(HostsTest, IfTheFirstIsDownTheNextIsUsed) {
  Host(0).Stop();

  ASSERT_TRUE(Stand("e"));

  EXPECT_EQ(ElectionsOn(1), "e");
  EXPECT_EQ(ElectionsShown(), "e");
  EXPECT_TRUE(store_->Ping());
}

TEST_F(HostsTest, IfNoneCanBeUsedEachIsNamedWithItsReason) {
  SetReadOnly(0, true);
  Host(1).Stop();

  const auto refused = store_->Ping();

  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message,
              MatchesRegex(Host(0).address() + ": .* is not used: it is read-only; " +
                           Host(1).address() + ": .*200[23].*"));
}

TEST_F(HostsTest, IfTheFirstIsReadOnlyItIsNeitherWrittenNorRead) {
  ASSERT_TRUE(Stand("old"));
  store_ = OpenStore(ParseStoreUrl(UrlOf({0, 1})).value()).value();
  SetReadOnly(0, true);

  EXPECT_THAT(ElectionsShown(), IsEmpty());
  ASSERT_TRUE(Stand("e"));

  EXPECT_EQ(ElectionsOn(0), "old");
  EXPECT_EQ(ElectionsOn(1), "e");
}

TEST_F(HostsTest, AServerKilledWhileInUseIsLeft) {
  ASSERT_TRUE(Stand("old"));
  Host(0).Kill();

  ASSERT_TRUE(Stand("e"));

  EXPECT_EQ(ElectionsOn(1), "e");
}

TEST_F(HostsTest, AServerThatBecomesReadOnlyWhileInUseIsLeftByItsWriters) {
  ASSERT_TRUE(Stand("old"));
  SetReadOnly(0, true);

  ASSERT_TRUE(Stand("e"));

  EXPECT_EQ(ElectionsOn(0), "old");
  EXPECT_EQ(ElectionsOn(1), "e");
}

TEST_F(HostsTest, ATransactionWhoseServerBecomesReadOnlyIsDecidedAgainOnAnother) {
  ASSERT_TRUE(Stand("old"));
  int tries = 0;
  during_ = [&] {
    if (++tries == 1) SetReadOnly(0, true);
  };

  ASSERT_TRUE(Stand("e"));

  EXPECT_EQ(tries, 2);
  EXPECT_EQ(ElectionsOn(0), "old");
  EXPECT_EQ(ElectionsOn(1), "e");
}

// It may show old rows: another server may take the writes by now.
TEST_F(HostsTest, AServerThatBecomesReadOnlyWhileInUseIsNoLongerRead) {
  ASSERT_TRUE(Stand("old"));
  store_ = OpenStore(ParseStoreUrl(UrlOf({1})).value()).value();
  ASSERT_TRUE(Stand("new"));
  ASSERT_TRUE(Stand("newer"));
  const PartitionOffsets offsets = store_->ReadPartitions().value().offsets;
  const std::vector<std::pair<std::string, std::function<bool()>>> reads = {
      {"ReadElections", [&] { return store_->ReadElections({{"old"}}).value().empty(); }},
      {"ReadElections, of an election it lacks",
       [&] { return !store_->ReadElections({{"new"}}).value().empty(); }},
      {"ListElections", [&] { return ElectionsShown() == "new,newer"; }},
      {"ListElections, of an election it lacks",
       [&] { return !store_->ListElections("new", "", 10).value().empty(); }},
      {"ReadPartitions", [&] { return store_->ReadPartitions().value().offsets == offsets; }},
      {"ReadAttendance",
       [&] { return store_->ReadAttendance({}).value().partitions.offsets == offsets; }},
      {"Ping", [&] { return store_->Ping().has_value(); }},
  };
  for (const auto& [name, shows_the_other] : reads) {
    SetReadOnly(0, false);
    store_ = OpenStore(ParseStoreUrl(UrlOf({0, 1})).value()).value();
    ASSERT_EQ(ElectionsShown(), "old") << name;
    SetReadOnly(0, true);

    EXPECT_TRUE(shows_the_other()) << name;
    EXPECT_EQ(ElectionsShown(), "new,newer") << name;
  }
}

TEST_F(HostsTest, AllConnectionsMoveTogether) {
  ASSERT_TRUE(Stand("old"));
  std::string shown = "nothing";
  // While a transaction has one connection to the first server, reads have another.
  during_ = [&] {
    during_ = nullptr;
    ASSERT_EQ(ElectionsShown(), "old");
    SetReadOnly(0, true);
    ASSERT_TRUE(store_->Ping());
    SetReadOnly(0, false);
    shown = ElectionsShown();
  };

  ASSERT_TRUE(Stand("e"));

  EXPECT_THAT(shown, IsEmpty());
  ASSERT_TRUE(Stand("f"));
  EXPECT_THAT(ElectionsOn(1), HasSubstr("f"));
}

// A server that changes back and forth: it takes writes when somebody connects, and then none.
TEST_F(HostsTest, AServerThatRefusesAWriteIsLeftEvenIfItTakesTheNext) {
  SetReadOnly(0, true);
  ASSERT_TRUE(Stand("old"));
  SessionId session;
  session.bytes.fill(static_cast<uint8_t>(sessions_));
  SetReadOnly(0, false);
  Host(1).Ask(
      "CREATE PROCEDURE tenure.recover() SQL SECURITY DEFINER SET GLOBAL read_only = OFF;"
      "SET GLOBAL init_connect = 'CALL tenure.recover()'");
  ASSERT_EQ(ElectionsShown(), "old");

  const auto renewed = store_->Transact({{}, {session}}, {}, [&](TransactionState& transaction) {
    SetReadOnly(1, true);
    (void)Adopt(transaction, session);
  });

  ASSERT_TRUE(renewed) << renewed.error().message;
  EXPECT_THAT(ElectionsShown(), IsEmpty());
}

TEST_F(HostsTest, AServerThatComesBackIsNotUsedWhileTheOtherIs) {
  ASSERT_TRUE(Stand("old"));
  SetReadOnly(0, true);
  ASSERT_TRUE(Stand("e"));
  SetReadOnly(0, false);

  ASSERT_TRUE(Stand("f"));

  EXPECT_EQ(ElectionsOn(0), "old");
  EXPECT_EQ(ElectionsOn(1), "e,f");
}

// Its history may differ.
TEST_F(HostsTest, AnotherServerIsNotUsedBeforeTheHistoryIsAgreedOn) {
  const uint64_t first = AgreedNumber();
  store_->StayOn(first);
  ASSERT_TRUE(Stand("old"));
  SetReadOnly(0, true);

  const auto refused = Stand("e");
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("has not been checked yet"));
  EXPECT_FALSE(store_->ListElections("", "", 10));
  EXPECT_FALSE(store_->Ping());
  EXPECT_THAT(ElectionsOn(1), IsEmpty());

  const uint64_t second = AgreedNumber();
  EXPECT_GT(second, first);
  EXPECT_FALSE(Stand("e"));
  store_->StayOn(second);
  ASSERT_TRUE(Stand("e"));
  EXPECT_EQ(ElectionsOn(1), "e");
}

TEST_F(HostsTest, IfNoneMayBeUsedTheErrorSaysWhyUntilOneMay) {
  Host(0).Stop();
  SetReadOnly(1, true);

  const auto refused = Stand("e");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().reason, Reason::kStoreUnavailable);
  EXPECT_THAT(refused.error().message, HasSubstr("is not used: it is read-only"));

  SetReadOnly(1, false);
  EXPECT_TRUE(Eventually([&] { return Stand("e").has_value(); }));
  EXPECT_EQ(ElectionsOn(1), "e");
}

TEST_F(HostsTest, AnotherServerAtTheSameAddressIsNotUsedBeforeTheHistoryIsAgreedOn) {
  if (Host(0).Ask("SELECT @@version").find("MariaDB") == std::string::npos) {
    GTEST_SKIP() << "MySQL is known by its server_uuid";
  }
  const uint64_t first = AgreedNumber();
  store_->StayOn(first);
  ASSERT_TRUE(Stand("old"));
  Host(0).RestartWith({"--server-id=7"});

  EXPECT_FALSE(Stand("e"));
  EXPECT_GT(AgreedNumber(), first);

  Host(0).RestartWith({});
}

TEST_F(HostsTest, AServerThatBecomesReadOnlyIsNotAgreedOn) {
  const uint64_t first = AgreedNumber();
  SetReadOnly(0, true);

  EXPECT_GT(AgreedNumber(), first);
}

TEST_F(HostsTest, AServerThatIsReadOnlyAfterAReconnectIsLeft) {
  ASSERT_TRUE(Stand("old"));
  SetReadOnly(0, true);
  Host(0).EndConnections("tenure");

  EXPECT_THAT(store_->ReadEvents({"old"}, {1}, 10).value(),
              IsEmpty());  // looks at no variable itself
}

TEST_F(HostsTest, AServerThatRefusesALoginIsNotLeft) {
  ASSERT_TRUE(Stand("old"));
  Host(0).Ask("ALTER USER replica IDENTIFIED BY 'another'");
  during_ = [&] {  // holds the only connection
    during_ = nullptr;
    const auto refused = store_->ListElections("", "", 10);
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message, HasSubstr("1045"));
  };

  ASSERT_TRUE(Stand("e"));

  EXPECT_EQ(ElectionsOn(0), "e,old");
  EXPECT_THAT(ElectionsOn(1), IsEmpty());
}

TEST_F(HostsTest, AFailureOnOurSideEndsNoConnection) {
  const TempDir folder;
  const std::string password = folder.path() / "password";
  std::ofstream(password) << "\n";
  mysql::Config config = Servers();
  config.password_file = password;
  store_ = OpenStore(config).value();
  ASSERT_TRUE(Stand("old"));
  std::filesystem::remove(password);
  during_ = [&] {  // holds the only connection
    during_ = nullptr;
    const auto refused = store_->ListElections("", "", 10);
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message, HasSubstr("cannot read '" + password));
  };

  ASSERT_TRUE(Stand("e"));

  EXPECT_EQ(ElectionsShown(), "e,old");
}

TEST_F(HostsTest, AServerThatRefusesLoginsIsLeftWhenNoConnectionRemains) {
  ASSERT_TRUE(Stand("old"));
  Host(0).Ask("ALTER USER replica ACCOUNT LOCK");
  Host(0).EndConnections("tenure");

  ASSERT_TRUE(Stand("e"));

  EXPECT_EQ(ElectionsOn(1), "e");
}

TEST_F(HostsTest, IfNoneAcceptsALoginEachIsNamed) {
  ASSERT_TRUE(Stand("old"));
  Host(1).Stop();
  Host(0).Ask("ALTER USER replica ACCOUNT LOCK");
  Host(0).EndConnections("tenure");

  (void)store_->Ping();
  const auto refused = store_->Ping();

  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message,
              MatchesRegex(Host(0).address() + ": .*locked.*; " + Host(1).address() + ": .*"));
}

TEST_F(HostsTest, ATransactionThatLeavesAServerLateDoesNotMoveTheOthers) {
  ASSERT_TRUE(Stand("old"));
  SessionId session;
  session.bytes.fill(static_cast<uint8_t>(sessions_));
  bool first = true;

  const auto renewed = store_->Transact({{}, {session}}, {}, [&](TransactionState& transaction) {
    (void)Adopt(transaction, session);
    if (!std::exchange(first, false)) return;
    ASSERT_EQ(ElectionsShown(), "old");  // by another connection
    SetReadOnly(0, true);
    ASSERT_TRUE(store_->Ping());  // moves to the other server
    // Later it takes writes again as soon as somebody connects to it.
    Host(0).Ask(
        "CREATE PROCEDURE tenure.recover() SQL SECURITY DEFINER SET GLOBAL read_only = OFF;"
        "SET GLOBAL init_connect = 'CALL tenure.recover()'");
  });

  ASSERT_TRUE(renewed) << renewed.error().message;
  EXPECT_THAT(ElectionsShown(), IsEmpty());
}

TEST_F(HostsTest, AServerThatSaysThatItIsUnfitIsLeft) {
  for (const int code : {1047, 1290, 1836, 3100, 3168}) {
    const std::string name = "e" + std::to_string(code);
    SetReadOnly(0, true);
    store_ = OpenStore(ParseStoreUrl(UrlOf({0, 1})).value()).value();
    ASSERT_TRUE(Stand("before-" + name));
    SetReadOnly(0, false);
    // To a server that was merely away, the store would connect again.
    Host(1).Ask(
        "CREATE TRIGGER tenure.planted BEFORE INSERT ON tenure.writers FOR EACH ROW"
        " SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = " +
        std::to_string(code));
    ASSERT_TRUE(store_->Ping());  // on a connection that is not new: an error on a new one is final

    EXPECT_TRUE(Stand(name)) << code;

    Host(1).Ask("DROP TRIGGER tenure.planted");
    EXPECT_THAT(ElectionsOn(0), HasSubstr(name)) << code;
  }
}

TEST_F(HostsTest, AServerThatHangsIsLeft) {
  ASSERT_TRUE(Stand("old"));
  Host(0).process().Signal(SIGSTOP);

  const bool stood = Stand("e").has_value();
  Host(0).process().Signal(SIGCONT);

  EXPECT_TRUE(stood);
  EXPECT_EQ(ElectionsOn(1), "e");
}

TEST_F(HostsTest, TheWaitForAFreeConnectionIsBounded) {
  auto config = std::get<mysql::Config>(ParseStoreUrl(UrlOf({0})).value());
  config.connections_max = 1;
  store_ = OpenStore(config).value();
  std::future<Result<void>> waiting;
  int tries = 0;

  ASSERT_TRUE(store_->Transact({}, {}, [&](TransactionState&) {
    waiting = std::async(std::launch::async, [&] { return store_->Ping(); });
    EXPECT_EQ(waiting.wait_for(200ms), std::future_status::timeout);
  }));
  ASSERT_EQ(waiting.wait_for(2s), std::future_status::ready);
  EXPECT_TRUE(waiting.get());

  // Meanwhile the server ends the idle connection, so this is decided a second time.
  ASSERT_TRUE(store_->Transact({}, {}, [&](TransactionState&) {
    if (++tries > 1) return;
    const auto refused = store_->Ping();
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message, HasSubstr("all 1 database connections are in use"));
  }));
}

TEST_F(HostsTest, WhileOneCallLooksForAServerTheOthersWait) {
  SlowDownLogin(1, "0.5");
  store_ = OpenStore(ParseStoreUrl(UrlOf({1})).value()).value();
  auto first = std::async(std::launch::async, [&] { return store_->Ping().has_value(); });
  ASSERT_TRUE(Eventually([] { return SomebodyLogsIn(1); }));

  EXPECT_TRUE(store_->Ping());
  EXPECT_TRUE(first.get());
}

TEST_F(HostsTest, AWaitForAServerThatTakesTooLongIsAnError) {
  SlowDownLogin(1, "6");
  store_ = OpenStore(ParseStoreUrl(UrlOf({1})).value()).value();
  auto first = std::async(std::launch::async, [&] { return store_->Ping().has_value(); });
  ASSERT_TRUE(Eventually([] { return SomebodyLogsIn(1); }));

  const auto refused = store_->Ping();

  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("no database server has answered yet"));
  EXPECT_TRUE(first.get());
}

TEST_F(HostsTest, WhileNoServerMayBeUsedTheyAreNotAskedEachTime) {
  ASSERT_TRUE(Stand("old"));
  SetReadOnly(0, true);
  SetReadOnly(1, true);
  Host(0).EndConnections("tenure");
  const auto connections = [] {
    const std::string line = Host(0).Ask("SHOW GLOBAL STATUS LIKE 'Connections'");
    return std::stoi(line.substr(line.find('\t') + 1));
  };
  const int before = connections();

  for (int i = 0; i < 100; ++i) EXPECT_FALSE(store_->Ping());

  EXPECT_LT(connections() - before, 30);
}

TEST_F(HostsTest, EveryConnectionIsToTheServerToStayOn) {
  store_->StayOn(AgreedNumber());
  during_ = [&] { EXPECT_EQ(ElectionsShown(), ""); };  // by a second connection

  EXPECT_TRUE(Stand("e"));
}

TEST_F(HostsTest, AServerThatComesBackIsTheSame) {
  store_->StayOn(AgreedNumber());
  SetReadOnly(1, true);
  Host(0).Kill();
  EXPECT_FALSE(store_->Ping());
  Host(0).Start();

  EXPECT_TRUE(Eventually([&] { return store_->Ping().has_value(); }));
}

TEST_F(HostsTest, ACommitInDoubtIsNotLookedUpOnAnotherServer) {
  store_->StayOn(AgreedNumber());
  ASSERT_TRUE(Stand("old"));
  int tries = 0;
  during_ = [&] {
    if (++tries == 1) Host(0).Kill();
  };

  const auto in_doubt = Stand("e");

  ASSERT_FALSE(in_doubt);
  EXPECT_THAT(in_doubt.error().message, HasSubstr("the reply to a commit was lost"));
  EXPECT_EQ(tries, 1);
  EXPECT_THAT(ElectionsOn(1), IsEmpty());
}

TEST_F(HostsTest, ACheckShowsWhyAServerIsNotUsed) {
  Host(0).Stop();
  SetReadOnly(1, true);

  const auto reports = mysql::CheckMySqlServers(Servers(), true);

  ASSERT_EQ(reports.size(), 2u);
  EXPECT_EQ(reports[0].address, Host(0).address());
  EXPECT_THAT(reports[0].refusal, HasSubstr("error 200"));
  EXPECT_EQ(reports[1].address, Host(1).address());
  EXPECT_EQ(reports[1].refusal, "it is read-only");
}

TEST_F(HostsTest, ACheckShowsWhatEachServerIsAndWhatToMindAboutIt) {
  Host(1).Ask("SET GLOBAL innodb_flush_log_at_trx_commit = 0");

  const auto reports = mysql::CheckMySqlServers(Servers(), true);

  ASSERT_EQ(reports.size(), 2u);
  EXPECT_THAT(reports[1].name, AnyOf(StartsWith("MariaDB "), StartsWith("MySQL ")));
  EXPECT_EQ(reports[1].refusal, "");
  EXPECT_THAT(reports[1].warnings, Contains(HasSubstr("innodb_flush_log_at_trx_commit is 0")));
}

}  // namespace
}  // namespace tenure::testing
