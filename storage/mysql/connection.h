// One connection to a MySQL or MariaDB server, and the pool that bounds how many there are.
//
// A Connection belongs to one thread at a time. Errors are exceptions of type MySqlError, which
// stay in this room.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "storage/mysql/config.h"
#include "storage/store.h"

namespace sql {
class Connection;
}

namespace tenure::mysql {

class MySqlError : public std::runtime_error {
 public:
  enum class Kind {
    kConflict,      // deadlock, lock wait, certification: the transaction is to be tried again
    kAway,          // the connection is of no more use
    kNotCommitted,  // the connection broke during a commit, which did not happen: to be tried again
    kInDoubt,  // the connection broke during a commit, and what became of it cannot be found out
    kOther,    // the statement is wrong, or the user may not
  };

  MySqlError(Kind kind, int code, const std::string& message)
      : std::runtime_error(message), kind(kind), code(code) {}

  Kind kind;
  int code;
};

using Cell = std::optional<std::string>;
using Row = std::vector<Cell>;
using Rows = std::vector<Row>;  // what one statement was answered; none if it is no query

class Connection {
 public:
  // Connects to the first address that answers and can be written to, protected as `config.tls`
  // asks, and sets the session up: UTC, READ COMMITTED, strict mode, bounded lock waits. Throws
  // MySqlError.
  explicit Connection(const Config& config);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Sends the statements in one message, and answers with one Rows for each. The server stops at
  // the first that fails.
  std::vector<Rows> Run(const std::vector<std::string>& statements);

  // Whether the server refuses writes.
  bool ReadOnly();

 private:
  bool Encrypted();

  std::unique_ptr<sql::Connection> connection_;
};

class Pool {
 public:
  // A place for one connection, made when it is first needed. `writer` names it in the table of
  // that name, and `transaction` counts what it has committed.
  struct Slot {
    std::string writer;
    uint64_t transaction = 0;
    std::unique_ptr<Connection> connection = {};
    std::chrono::steady_clock::time_point returned_at = {};
  };

  // A slot on loan; goes back when destroyed.
  class Loan {
   public:
    Loan(Pool& pool, Slot& slot) : pool_(pool), slot_(slot) {}
    ~Loan() { pool_.Return(slot_); }
    Loan(const Loan&) = delete;
    Loan& operator=(const Loan&) = delete;

    Slot& slot() { return slot_; }
    // The slot's connection, made anew if there is none.
    Connection& connection();
    void Drop() { slot_.connection.reset(); }

   private:
    Pool& pool_;
    Slot& slot_;
  };

  explicit Pool(Config config);

  // Waits a bounded time for a slot, without the connection that the server may have ended for its
  // silence. Throws kAway if none came free. Thread-safe.
  Loan Borrow();

  // Of the connections. Thread-safe.
  [[nodiscard]] StoreActivity Activity() const;

 private:
  void Return(Slot& slot);

  const Config config_;
  mutable std::mutex mutex_;
  std::condition_variable returned_;
  std::vector<std::unique_ptr<Slot>> slots_;
  std::vector<Slot*> free_;  // guarded by mutex_; the last returned is lent first
};

}  // namespace tenure::mysql
