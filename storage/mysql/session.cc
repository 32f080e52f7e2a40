#include "storage/mysql/session.h"

#include <fmt/format.h>

namespace tenure::mysql {
namespace {

struct Setting {
  const char* name;
  const char* value;  // as SHOW VARIABLES prints it
  const char* literal;
};

// Set where the engine has them; any user may set them.
constexpr Setting kSettings[] = {
    // What a transaction is. Its isolation has a statement of its own, below.
    {"autocommit", "ON", "1"},
    {"completion_type", "NO_CHAIN", "0"},
    {"innodb_snapshot_isolation", "OFF", "0"},
    {"query_cache_type", "OFF", "0"},
    {"use_secondary_engine", "OFF", "OFF"},
    // What a statement means.
    {"old_mode", "", "''"},
    {"sql_auto_is_null", "OFF", "0"},
    {"sql_if_exists", "OFF", "0"},
    {"sql_mode", "STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION",
     "'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION'"},
    {"sql_safe_updates", "OFF", "0"},
    {"sql_select_limit", "18446744073709551615", "18446744073709551615"},
    {"time_zone", "+00:00", "'+00:00'"},
    // Which rows are refused.
    {"check_constraint_checks", "ON", "1"},
    {"foreign_key_checks", "ON", "1"},
    {"unique_checks", "ON", "1"},
    // What a statement may use up. With less, one that is right fails, or reads the whole table.
    {"in_predicate_conversion_threshold", "1000", "1000"},
    {"max_session_mem_used", "9223372036854775807", "9223372036854775807"},
    {"max_sort_length", "1024", "1024"},
    {"optimizer_max_sel_arg_weight", "32000", "32000"},
    {"optimizer_max_sel_args", "16000", "16000"},
    {"range_optimizer_max_mem_size", "8388608", "8388608"},
    {"sort_buffer_size", "2097152", "2097152"},
    {"tmp_disk_table_size", "18446744073709551615", "18446744073709551615"},
    // How long it may take, and wait.
    {"idle_readonly_transaction_timeout", "0", "0"},
    {"idle_transaction_timeout", "0", "0"},
    {"idle_write_transaction_timeout", "0", "0"},
    {"max_execution_time", "0", "0"},
    {"max_statement_time", "0.000000", "0"},
    // How it is answered. The store reads the texts of some errors.
    {"lc_messages", "en_US", "'en_US'"},
    {"resultset_metadata", "FULL", "FULL"},
    // How the schema is changed.
    {"alter_algorithm", "DEFAULT", "'DEFAULT'"},
    {"wsrep_osu_method", "TOI", "'TOI'"},
    // What Galera shows and sends.
    {"wsrep_dirty_reads", "OFF", "0"},
    {"wsrep_trx_fragment_size", "0", "0"},
};

// Also read.
constexpr const char* kOthers[] = {"binlog_format", "max_error_count", "skip_replication",
                                   "sql_log_bin", "wsrep_on"};

constexpr const char* kTimeouts[] = {"wait_timeout", "net_read_timeout", "net_write_timeout"};

}  // namespace

const char kFirstOfSession[] =
    "SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION', autocommit = 1,"
    " completion_type = 0, sql_select_limit = 18446744073709551615,"
    " max_join_size = 18446744073709551615, sql_big_selects = 1,"
    " lc_messages = 'en_US', innodb_lock_wait_timeout = 1"
    ", lock_wait_timeout = 3"
    "/*M! , max_statement_time = 0, max_session_mem_used = 9223372036854775807 */"
    "/*!80000 , max_execution_time = 0 */";

std::string SessionVariables() {
  std::string names;
  for (const char* name : kOthers) names += fmt::format("'{}', ", name);
  for (const Setting& setting : kSettings) names += fmt::format("'{}', ", setting.name);
  names.resize(names.size() - 2);
  return "SHOW SESSION VARIABLES WHERE Variable_name IN (" + names + ")";
}

SessionSetup SetUpSession(const std::map<std::string, std::string>& variables,
                          const Server& server) {
  const auto is = [&](const char* name, std::string_view value) {
    const auto found = variables.find(name);
    return found != variables.end() && found->second == value;
  };
  // A session's clock stands still if somebody has set it.
  std::string settings = "timestamp = DEFAULT";
  for (const char* name : kTimeouts) {
    settings += fmt::format(", {} = {}", name, kSilenceMax.count());
  }
  for (const Setting& setting : kSettings) {
    if (!variables.contains(setting.name) || is(setting.name, setting.value)) continue;
    settings += fmt::format(", {} = {}", setting.name, setting.literal);
  }
  // On MySQL, only a privileged user may set it, and procedures need none.
  if (server.mariadb && is("max_error_count", "0")) settings += ", max_error_count = 64";
  // Reads wait for what other nodes have committed before.
  if (server.engine == Engine::kGalera) settings += ", wsrep_sync_wait = 1";
  // Likewise; and an old primary that was cut off, and does not know it yet, shows nothing.
  if (server.engine == Engine::kGroupReplication) {
    settings += ", group_replication_consistency = 'BEFORE'";
  }

  SessionSetup setup;
  setup.statements = {"SET NAMES utf8mb4",
                      "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED, READ WRITE",
                      "SET SESSION " + settings};
  const auto demand = [&](const char* name, const char* unfit, const char* literal) {
    if (!is(name, unfit)) return;
    setup.privileged.push_back({name, unfit, fmt::format("SET SESSION {} = {}", name, literal)});
  };
  // Statements cannot be logged under READ COMMITTED. What is not logged reaches no replica.
  if (server.has_binlog) {
    demand("binlog_format", "STATEMENT", "'ROW'");
    demand("sql_log_bin", "OFF", "1");
    demand("skip_replication", "ON", "0");
  }
  if (server.engine == Engine::kGalera) demand("wsrep_on", "OFF", "1");
  return setup;
}

}  // namespace tenure::mysql
