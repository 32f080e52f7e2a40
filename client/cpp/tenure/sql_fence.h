// Fencing inside your own SQL transactions, with any driver: docs/fencing.md has the rules.
//
// If your tables are on the same MySQL or MariaDB server as Tenure's, a transaction that starts
// with a fence commits only while its term lasts, and the next term is not granted before the
// transaction has ended. This header has the SQL statement, the meaning of the server's errors, and
// a retry loop. It has no driver, no connection and no state, and can be used from any number of
// threads.
//
// It need not know when your lease ends: the database does. It does not fence effects outside the
// database.
#pragma once

#include <cstdint>
#include <string>
#include <tl/expected.hpp>

namespace tenure {

// The driver's error for a statement that failed.
struct SqlError {
  int code = 0;  // the server's error number, such as 1213; 0 if it is not the server's error
  std::string message;  // the server's text, with or without additions by the driver

  bool operator==(const SqlError&) const = default;
};

// Rows are not part of it: read them with your driver.
using SqlResult = tl::expected<void, SqlError>;

enum class SqlErrorMeaning {
  kTermOver,  // the term has ended: roll back, and stop acting as the leader
  kTryAgain,  // says nothing about the term: roll back, and start again with the fence
  kOther,     // anything else: roll back; what to do next is up to you
};
[[nodiscard]] SqlErrorMeaning MeaningOf(const SqlError& error);

struct SqlFence {
  std::string election;
  uint64_t term = 0;                // the one in which this process leads
  std::string database = "tenure";  // the one with Tenure's tables

  // The first statement of a transaction: after START TRANSACTION, and before anything you read. A
  // message of its own, as each one after it.
  // Safe for any election name, character set and SQL mode of the connection.
  [[nodiscard]] std::string Statement() const;
};

// Maximum number of attempts of Guarded.
inline constexpr int kGuardedTriesMax = 5;

// Runs `work` in one transaction behind `fence`, and commits it. Starts again after errors that can
// be retried, with at most `tries_max` attempts in all. On any other error, or the last one, it
// sends ROLLBACK and returns the error; an exception of `work` is passed on in the same way.
//
// `run` sends one statement on your connection: SqlResult(const std::string&). It must not throw.
// `work` sends the reads and writes on the same connection: SqlResult(). It may run several times,
// and must have no effects that a ROLLBACK does not undo. To end the transaction without another
// attempt, return an error with the code 0.
//
// If the connection breaks during COMMIT, it is unknown whether the transaction was committed. The
// error is kOther; check your data.
template <typename Run, typename Work>
[[nodiscard]] SqlResult Guarded(const Run& run, const SqlFence& fence, const Work& work,
                                int tries_max = kGuardedTriesMax) {
  const auto once = [&]() -> SqlResult {
    try {
      return run("START TRANSACTION")
          .and_then([&] { return run(fence.Statement()); })
          .and_then([&] { return work(); })
          .and_then([&] { return run("COMMIT"); });
    } catch (...) {
      (void)run("ROLLBACK");
      throw;
    }
  };
  for (int tries = 1;; ++tries) {
    SqlResult result = once();
    if (result) return result;
    (void)run("ROLLBACK");
    if (tries >= tries_max || MeaningOf(result.error()) != SqlErrorMeaning::kTryAgain) {
      return result;
    }
  }
}

}  // namespace tenure
