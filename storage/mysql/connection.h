// One connection to a MySQL or MariaDB server.
//
// A Connection belongs to one thread at a time. Errors are exceptions of type MySqlError, which
// stay in this room.
#pragma once

#include <charconv>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "storage/mysql/config.h"
#include "storage/mysql/error.h"
#include "storage/mysql/login.h"
#include "storage/mysql/server.h"

namespace sql {
class Connection;
}

namespace tenure::mysql {

using Cell = std::optional<std::string>;

// See storage/rows.h. Reading the bytes of an unexpected NULL throws std::bad_optional_access;
// reading a missing column throws std::out_of_range.
struct Row : std::vector<Cell> {
  using std::vector<Cell>::vector;

  [[nodiscard]] bool IsNull(size_t column) const { return !at(column); }
  [[nodiscard]] int64_t Signed(size_t column) const { return To<int64_t>(at(column)); }
  [[nodiscard]] uint64_t Unsigned(size_t column) const { return To<uint64_t>(at(column)); }
  [[nodiscard]] std::string_view Bytes(size_t column) const { return at(column).value(); }

 private:
  template <typename Number>
  static Number To(const Cell& cell) {
    Number number{};
    if (cell) std::from_chars(cell->data(), cell->data() + cell->size(), number);
    return number;
  }
};

using Rows = std::vector<Row>;  // the result of one statement; empty if it is no query

template <typename Convert>
auto ConvertAll(const Rows& rows, Convert convert) {
  std::vector<std::invoke_result_t<Convert, const Row&>> all;
  all.reserve(rows.size());
  for (const Row& row : rows) all.push_back(convert(row));
  return all;
}

class Connection {
 public:
  // Connects, protected as `config.tls` asks, finds out what it is connected to, and sets the
  // session up (storage/mysql/session.h). Throws MySqlError.
  Connection(const Config& config, const Address& address, const std::string& password);
  Connection(const Config& config, const Address& address)
      : Connection(config, address, PasswordOf(config)) {}
  explicit Connection(const Config& config) : Connection(config, config.addresses.at(0)) {}
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Runs the statements until one fails, and returns one Rows for each. They are sent in one
  // message, except to Galera: there, a transaction that a commit on another node has ended in the
  // middle of a message is not reported, and the server runs the rest of the message without it.
  std::vector<Rows> Run(const std::vector<std::string>& statements);

  // Runs one statement that changes rows, and returns how many it changed.
  uint64_t Change(const std::string& statement);

  [[nodiscard]] const Address& address() const { return address_; }
  // The server, as of the connection or the last AskAgain. It may be one that must not be used.
  [[nodiscard]] const Server& server() const { return server_; }
  // Asks the server again what it is. Throws kUnfit if it must not be used now.
  void AskAgain();
  // Throws kUnfit if the server refuses writes now: it is not, or no longer, the one that others
  // write to, and its data may be old. The second form checks a cell of @@global.read_only.
  void CheckWritable();
  static void CheckWritable(const Cell& read_only);

 private:
  std::vector<Rows> RunInOneMessage(const std::vector<std::string>& statements);
  // Runs `first` first, in the same message.
  [[nodiscard]] ServerFacts AskForFacts(std::vector<std::string> first = {});
  void SetUp(const ServerFacts& facts);

  const Address address_;
  std::unique_ptr<sql::Connection> connection_;
  Server server_;
};

}  // namespace tenure::mysql
