#include "bench/systems/mariadb_connection.h"

#include <errmsg.h>
#include <mysql.h>
#include <mysqld_error.h>

#include <algorithm>
#include <array>
#include <mutex>

namespace tenure::bench {
namespace {

constexpr unsigned int kConnectSeconds = 30;
constexpr unsigned int kAnswerSeconds = 120;  // longer than a contest with GET_LOCK

template <size_t count>
bool IsOneOf(unsigned int code, const std::array<unsigned int, count>& codes) {
  return std::ranges::find(codes, code) != codes.end();
}

[[noreturn]] void Throw(st_mysql* connection, const std::string& what) {
  throw SqlError(mysql_errno(connection), what + ": " + mysql_error(connection));
}

// The library's first connection initializes it, which is not thread-safe.
st_mysql* NewConnection() {
  static std::once_flag once;
  std::call_once(once, [] { mysql_library_init(0, nullptr, nullptr); });
  return mysql_init(nullptr);
}

std::vector<std::vector<std::string>> RowsOf(MYSQL_RES* result) {
  std::vector<std::vector<std::string>> rows;
  const unsigned int columns = mysql_num_fields(result);
  while (const MYSQL_ROW row = mysql_fetch_row(result)) {
    auto& cells = rows.emplace_back();
    for (unsigned int column = 0; column < columns; ++column) {
      cells.emplace_back(row[column] == nullptr ? "" : row[column]);
    }
  }
  return rows;
}

}  // namespace

bool SqlError::IsTransient() const {
  return IsOneOf(code_, std::array<unsigned int, 2>{ER_LOCK_DEADLOCK, ER_LOCK_WAIT_TIMEOUT});
}

bool SqlError::IsLoss() const {
  return IsOneOf(code_, std::array<unsigned int, 4>{CR_SERVER_GONE_ERROR, CR_SERVER_LOST,
                                                    ER_CONNECTION_KILLED, ER_QUERY_INTERRUPTED});
}

bool SqlAnswer::IsYes() const { return rows.empty() ? changed == 1 : rows[0][0] == "1"; }

void MariaDbConnection::Close::operator()(st_mysql* connection) const { mysql_close(connection); }

MariaDbConnection::MariaDbConnection(int port, const std::string& database)
    : connection_(NewConnection()) {
  mysql_options(connection_.get(), MYSQL_OPT_CONNECT_TIMEOUT, &kConnectSeconds);
  mysql_options(connection_.get(), MYSQL_OPT_READ_TIMEOUT, &kAnswerSeconds);
  if (mysql_real_connect(connection_.get(), "127.0.0.1", "root", "", database.c_str(),
                         static_cast<unsigned int>(port), nullptr, 0) == nullptr) {
    Throw(connection_.get(), "cannot connect to port " + std::to_string(port));
  }
}

SqlAnswer MariaDbConnection::Run(const std::string& statement) {
  st_mysql* const connection = connection_.get();
  if (mysql_real_query(connection, statement.data(), statement.size()) != 0) {
    Throw(connection, statement);
  }
  const std::unique_ptr<MYSQL_RES, decltype(&mysql_free_result)> result(
      mysql_store_result(connection), &mysql_free_result);
  if (result) return {.rows = RowsOf(result.get())};
  if (mysql_field_count(connection) != 0) Throw(connection, statement);
  return {.rows = {}, .changed = mysql_affected_rows(connection)};
}

uint64_t MariaDbConnection::id() const { return mysql_thread_id(connection_.get()); }

}  // namespace tenure::bench
