// Somebody's application: a database connection of its own, with which it guards its transactions.
#pragma once

#include <string>
#include <variant>

#include "storage/mysql/connection.h"
#include "storage/open_store.h"
#include "tenure/sql_fence.h"

namespace tenure::testing {

class SqlApplication {
 public:
  // REPEATABLE READ is what an application gets that asks for nothing.
  explicit SqlApplication(const std::string& url, const std::string& isolation = "REPEATABLE READ")
      : connection_(std::get<mysql::Config>(ParseStoreUrl(url).value())) {
    Run("SET SESSION TRANSACTION ISOLATION LEVEL " + isolation);
    Run("SET SESSION innodb_lock_wait_timeout = 20");
    Run("SET SESSION wait_timeout = 600");
  }

  // Throws mysql::MySqlError.
  mysql::Rows Run(const std::string& sql) { return connection_.Run({sql})[0]; }

  // The error as a value.
  tl::expected<mysql::Rows, SqlError> Query(const std::string& sql) {
    try {
      return Run(sql);
    } catch (const mysql::MySqlError& error) {
      return tl::unexpected(SqlError{error.code, error.what()});
    }
  }
  SqlResult Try(const std::string& sql) {
    return Query(sql).map([](const mysql::Rows&) {});
  }

  // "" if the guard lets through, or its error. The arguments are SQL.
  std::string Guard(const std::string& election, const std::string& term) {
    try {
      Run("CALL tenure_fence(" + election + ", " + term + ")");
      return "";
    } catch (const mysql::MySqlError& error) {
      return error.what();
    }
  }

 private:
  mysql::Connection connection_;
};

}  // namespace tenure::testing
