// Whatever defaults a server gives to sessions, the store's sessions do what they are meant to:
// commits commit, reads are right, and an ordinary user needs no further right.
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "storage/mysql/connection.h"
#include "tests/contract/store_contract.h"

namespace tenure::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Default {
  const char* name;
  const char* worst;
};

// Global defaults, for all sessions that begin later. Those that the server does not have are
// skipped.
constexpr Default kDefaults[] = {
    {"alter_algorithm", "INSTANT"},
    {"autocommit", "0"},
    {"big_tables", "1"},
    {"character_set_client", "utf16"},  // refused: a client's own
    {"character_set_connection", "utf16"},
    {"character_set_results", "latin1"},
    {"character_set_server", "utf16"},
    {"check_constraint_checks", "0"},
    {"collation_connection", "latin1_bin"},
    {"collation_server", "latin1_general_cs"},
    {"completion_type", "1"},
    {"completion_type", "2"},
    {"cte_max_recursion_depth", "0"},
    {"default_storage_engine", "MyISAM"},
    {"div_precision_increment", "0"},
    {"eq_range_index_dive_limit", "1"},
    {"explicit_defaults_for_timestamp", "0"},
    {"foreign_key_checks", "0"},
    {"group_concat_max_len", "4"},
    {"idle_readonly_transaction_timeout", "1"},
    {"idle_transaction_timeout", "1"},
    {"idle_write_transaction_timeout", "1"},
    {"in_predicate_conversion_threshold", "2"},
    {"innodb_lock_wait_timeout", "100000"},
    {"innodb_snapshot_isolation", "1"},
    {"interactive_timeout", "1"},
    {"join_cache_level", "0"},
    {"lc_messages", "'de_DE'"},
    {"lock_wait_timeout", "1"},
    {"low_priority_updates", "1"},
    {"max_error_count", "0"},
    {"max_execution_time", "1"},
    {"max_heap_table_size", "16384"},
    {"max_join_size", "1"},
    {"max_length_for_sort_data", "4"},
    {"max_recursive_iterations", "0"},
    {"max_seeks_for_key", "1"},
    {"max_session_mem_used", "131072"},  // less than 64 kB can crash MariaDB 10.11 at a login
    {"max_sort_length", "64"},
    {"max_statement_time", "0.000001"},
    {"net_read_timeout", "1"},
    {"net_write_timeout", "1"},
    {"old_mode", "'NO_PROGRESS_INFO,ZERO_DATE_TIME_CAST'"},
    {"optimizer_max_sel_arg_weight", "1"},
    {"optimizer_max_sel_args", "1"},
    {"optimizer_search_depth", "1"},
    {"query_cache_type", "1"},
    {"range_optimizer_max_mem_size", "1"},
    {"read_buffer_size", "8192"},
    {"session_track_transaction_info", "2"},
    {"sort_buffer_size", "1024"},
    {"sql_auto_is_null", "1"},
    {"sql_big_selects", "0"},
    {"sql_buffer_result", "1"},
    {"sql_if_exists", "1"},
    {"sql_mode", "'ANSI,NO_BACKSLASH_ESCAPES,PAD_CHAR_TO_FULL_LENGTH,NO_UNSIGNED_SUBTRACTION'"},
    {"sql_notes", "0"},
    {"sql_safe_updates", "1"},
    {"sql_select_limit", "0"},
    {"sql_select_limit", "1"},
    {"sql_warnings", "1"},
    {"standard_compliant_cte", "0"},
    {"time_zone", "'-11:00'"},
    {"tmp_disk_table_size", "1024"},
    {"tmp_table_size", "1024"},
    {"transaction_isolation", "'READ-UNCOMMITTED'"},
    {"transaction_isolation", "'SERIALIZABLE'"},
    {"transaction_read_only", "1"},
    {"tx_isolation", "'READ-UNCOMMITTED'"},
    {"tx_isolation", "'SERIALIZABLE'"},
    {"tx_read_only", "1"},
    {"unique_checks", "0"},
    {"updatable_views_with_limit", "0"},
    {"use_secondary_engine", "FORCED"},
    {"wait_timeout", "1"},
    {"windowing_use_high_precision", "0"},
};

class SessionContract : public StoreContract {
 protected:
  static void SetUpTestSuite() { Server().RestartWith({"--log-bin=b", "--server-id=1"}); }
  static void TearDownTestSuite() { Server().RestartWith({}); }

  void SetUp() override {
    StoreContract::SetUp();
    // Its session keeps the present defaults.
    operator_.emplace(std::get<mysql::Config>(ParseStoreUrl(url_).value()));
    operator_->Run({"SET SESSION wait_timeout = 600"});
    operator_->Run({"DROP USER IF EXISTS ordinary", "CREATE USER ordinary",
                    "GRANT ALL ON tenure.* TO ordinary"});
    ordinary_url_ = url_;
    ordinary_url_.replace(ordinary_url_.find("root"), 4, "ordinary");
    const mysql::Rows variables = operator_->Run({"SHOW GLOBAL VARIABLES"})[0];
    for (const mysql::Row& row : variables) {
      defaults_[row[0].value()] = row[1].value_or("");
    }
  }
  void TearDown() override {
    while (!changed_.empty()) RestoreDefault(*changed_.begin());
  }

  // False if the server has no such default.
  bool SetDefault(const std::string& name, const std::string& value) {
    if (!defaults_.contains(name)) return false;
    try {
      operator_->Run({"SET GLOBAL " + name + " = " + value});
    } catch (const mysql::MySqlError&) {
      return false;
    }
    changed_.insert(name);
    return true;
  }
  void RestoreDefault(std::string name) {
    const std::string& value = defaults_.at(name);
    const bool number = value.find_first_not_of("0123456789.") == std::string::npos;
    operator_->Run(
        {"SET GLOBAL " + name + " = " + (number && !value.empty() ? value : "'" + value + "'")});
    changed_.erase(name);
  }

  std::string Ask(const std::string& sql) { return operator_->Run({sql})[0].at(0).at(0).value(); }

  // Does what a replica does, on a store of its own.
  void ExpectServes(const std::string& election) {
    const auto store = OpenUrl(ordinary_url_);
    const auto schema = store->CheckSchema();
    ASSERT_TRUE(schema) << schema.error().message;
    EXPECT_EQ(*schema, SchemaState::kCurrent);
    const auto ping = store->Ping();
    ASSERT_TRUE(ping) << ping.error().message;

    const SessionId session = NewSessionId();
    const Command campaign =
        Campaign{{election}, session, Campaign::Opening{"c", 60s}, {}, "v", 0, {7}};
    const auto elected = Run(*store, {campaign}).at(0);
    ASSERT_TRUE(elected) << elected.error().message;
    EXPECT_EQ(Ask("SELECT candidate FROM leaders WHERE election = '" + election + "'"), "c");

    for (int i = 0; i < 2; ++i) ExpectMoves(*store, session);
    const SessionId other = NewSessionId();
    EXPECT_TRUE(
        Run(*store, {Campaign{{election}, other, Campaign::Opening{"d", 60s}, {}, "", 0, {8}}})
            .at(0));
    EXPECT_TRUE(Run(*store, {Resign{{election}, session, {}}}).at(0));
    EXPECT_EQ(Ask("SELECT candidate FROM leaders WHERE election = '" + election + "'"), "d");

    const auto views = store->ReadElections({{election}});
    ASSERT_TRUE(views) << views.error().message;
    EXPECT_TRUE(views->at({election}).LeaderAlive());
    EXPECT_EQ(store->ReadEvents({election}, {1}, 10).value().size(), 3);
    EXPECT_EQ(store->ListElections(election, "", 10).value().size(), 1);
    EXPECT_EQ(store->ReadTerms({election}, {100}, 10).value().size(), 2);
    EXPECT_EQ(store->ReadPartitions().value().offsets.size(), 4);
    EXPECT_TRUE(store->FindDueWork(10));
    EXPECT_TRUE(store->ReadStatistics());
    // Nothing is left open that another session would wait for.
    EXPECT_EQ(Ask("SELECT COUNT(*) FROM information_schema.innodb_trx"), "0");
  }

  void ExpectMoves(Store& store, const SessionId& session) {
    const auto moved = store.Transact(
        {{}, {session}}, {}, [&](TransactionState& it) { EXPECT_TRUE(Adopt(it, session)); });
    ASSERT_TRUE(moved) << moved.error().message;
    EXPECT_EQ(Ask("SELECT moves FROM sessions WHERE id = x'" + ToHex(session) + "'"),
              std::to_string(moved->transaction.sessions.at(session).moves));
  }

  static std::string ToHex(const SessionId& id) {
    std::string hex;
    for (const uint8_t byte : id.bytes) {
      constexpr char kDigits[] = "0123456789abcdef";
      hex += {kDigits[byte / 16], kDigits[byte % 16]};
    }
    return hex;
  }

  std::optional<mysql::Connection> operator_;
  std::string ordinary_url_;
  std::map<std::string, std::string> defaults_;
  std::set<std::string> changed_;
};

INSTANTIATE_TEST_SUITE_P(Stores, SessionContract, ::testing::Values(Kind::kServer), KindName);

TEST_P(SessionContract, ServesWhateverDefaultsTheServerGivesToSessions) {
  int tried = 0;
  for (const Default& it : kDefaults) {
    SCOPED_TRACE(std::string(it.name) + " = " + it.worst);
    if (!SetDefault(it.name, it.worst)) continue;

    EXPECT_NO_THROW(ExpectServes("e" + std::to_string(++tried)));

    RestoreDefault(it.name);
  }
  EXPECT_GT(tried, 30);
}

TEST_P(SessionContract, EverySessionVariableOfTheServerIsJudged) {
  std::set<std::string> judged;
  std::ifstream file(TENURE_SESSION_VARIABLES);
  for (std::string line; std::getline(file, line);) judged.insert(line);
  std::vector<std::string> missing;
  mysql::Connection session(std::get<mysql::Config>(ParseStoreUrl(url_).value()));
  for (const auto& [name, value] : defaults_) {
    try {
      session.Run({"SET SESSION " + name + " = DEFAULT"});
      if (!judged.contains(name)) missing.push_back(name);
    } catch (const mysql::MySqlError&) {  // it has none, or cannot be set
    }
  }

  EXPECT_THAT(missing, IsEmpty());
  EXPECT_GT(judged.size(), 200);
}

TEST_P(SessionContract, MigratesWhateverDefaultsTheServerGivesToSessions) {
  for (const char* name :
       {"autocommit", "completion_type", "sql_mode", "sql_if_exists", "sql_select_limit",
        "alter_algorithm", "sql_safe_updates", "default_storage_engine", "character_set_server"}) {
    for (const Default& it : kDefaults) {
      if (it.name == std::string(name)) SetDefault(name, it.worst);
    }
  }
  Server().Query("SET sql_mode = ''; DROP DATABASE tenure; CREATE DATABASE tenure");

  const auto migrated = OpenUrl(ordinary_url_)->Migrate();
  ASSERT_TRUE(migrated) << migrated.error().message;
  TearDown();
  ExpectServes("e");
}

TEST_P(SessionContract, ServesWhateverTheServerRunsWhenASessionBegins) {
  SetDefault("init_connect",
             "'SET autocommit = 0, completion_type = 1, timestamp = 1, insert_id = 1,"
             " sql_safe_updates = 1, sql_select_limit = 0, unique_checks = 0'");

  ExpectServes("e");
}

TEST_P(SessionContract, ASessionThatMayNotWriteInItsLogFormatIsRefusedAndSaysWhy) {
  if (!SetDefault("binlog_format", "'STATEMENT'")) GTEST_SKIP() << "it has no formats";

  const auto refused = OpenUrl(ordinary_url_)->Ping();
  const auto privileged = OpenUrl(url_)->Ping();

  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message,
              AllOf(HasSubstr("binlog_format is STATEMENT"), HasSubstr("privilege")));
  EXPECT_TRUE(privileged) << privileged.error().message;
}

}  // namespace
}  // namespace tenure::testing
