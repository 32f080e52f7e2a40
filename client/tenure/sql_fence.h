// Fencing inside your own SQL transactions, with any driver: docs/fencing.md has the rules.
//
// If your tables are on the MySQL or MariaDB server that holds Tenure's, a transaction that begins
// with a fence commits only while its term stands, and the next term is not granted before it has
// ended. Here are the statement, what the server's answer to it means, and a loop over both. No
// driver, no connection, no state: it may be used from any number of threads.
//
// It does not know when your lease is over, and need not: the database does. It does not fence what
// leaves the database.
#pragma once

#include <cstdint>
#include <string>
#include <tl/expected.hpp>

namespace tenure {

// What a driver says of a statement that failed.
struct SqlError {
  int code = 0;         // the server's number, such as 1213; 0 if the error is not the server's
  std::string message;  // the server's text, with or without what a driver puts around it

  bool operator==(const SqlError&) const = default;
};

// The rows of a statement stay between the driver and you.
using SqlResult = tl::expected<void, SqlError>;

enum class SqlErrorMeaning {
  kTermOver,  // the term does not stand: roll back, and stop acting as the leader
  kTryAgain,  // says nothing about the term: roll back, and begin again with the fence
  kOther,     // anything else: roll back; what to do next is yours to know
};
[[nodiscard]] SqlErrorMeaning MeaningOf(const SqlError& error);

struct SqlFence {
  std::string election;
  uint64_t term = 0;                // the one in which this process leads
  std::string database = "tenure";  // that holds Tenure's tables

  // The first statement of a transaction: after START TRANSACTION, before all that you read. Any
  // name may stand in it, whatever the connection's character set and SQL mode.
  [[nodiscard]] std::string Statement() const;
};

// How often Guarded begins, at most.
inline constexpr int kGuardedTriesMax = 5;

// Runs `work` in one transaction behind `fence`, and commits it. What may be tried again is, from
// the beginning, at most `tries_max` times in all. An error of anything, the last one if there were
// several, is returned after a ROLLBACK; so is an exception of `work`.
//
// `run` sends one statement on your connection: SqlResult(const std::string&). It does not throw.
// `work` sends the reads and writes on the same connection: SqlResult(). It may run several times,
// and has to leave nothing behind but what a ROLLBACK undoes. An error of its own, with a code that
// is 0, ends the transaction without another try.
//
// If COMMIT breaks the connection, nobody here knows whether the transaction was committed. The
// error is kOther, and your data has to tell.
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
