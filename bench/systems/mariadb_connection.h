// A connection to MariaDB for programs that elect leaders with their own statements.
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

struct st_mysql;

namespace tenure::bench {

class SqlError : public std::runtime_error {
 public:
  SqlError(unsigned int code, const std::string& message)
      : std::runtime_error(message), code_(code) {}

  // A deadlock, or a lock wait timeout: the statement may be repeated.
  [[nodiscard]] bool IsTransient() const;
  // The connection has ended.
  [[nodiscard]] bool IsLoss() const;

 private:
  unsigned int code_;
};

struct SqlAnswer {
  std::vector<std::vector<std::string>> rows;  // for a query
  uint64_t changed = 0;                        // rows that the statement changed

  // Whether the query returned 1, or the statement changed one row.
  [[nodiscard]] bool IsYes() const;
  // The cell in the last column of the first row. Throws std::out_of_range if there is none.
  [[nodiscard]] const std::string& Cell() const { return rows.at(0).back(); }
};

// For one thread at a time.
class MariaDbConnection {
 public:
  // Connects to a server on loopback, as root. Throws SqlError.
  MariaDbConnection(int port, const std::string& database);

  // Runs one statement. Throws SqlError, also if the answer takes longer than two minutes.
  SqlAnswer Run(const std::string& statement);
  // The server's number for this connection.
  [[nodiscard]] uint64_t id() const;

 private:
  struct Close {
    void operator()(st_mysql* connection) const;
  };

  std::unique_ptr<st_mysql, Close> connection_;
};

}  // namespace tenure::bench
