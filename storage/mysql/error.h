// What goes wrong with a MySQL or MariaDB server: exceptions, which stay in this room.
#pragma once

#include <stdexcept>
#include <string>

#include "base/text.h"

namespace sql {
class SQLException;
}

namespace tenure::mysql {

class MySqlError : public std::runtime_error {
 public:
  enum class Kind {
    kConflict,      // deadlock, lock wait, certification: retry the transaction
    kAway,          // the connection is unusable
    kUnfit,         // so is the server: it cannot be written to, or has left its cluster
    kNotCommitted,  // the connection broke during a commit, which did not happen: retry
    kInDoubt,       // the connection broke during a commit, and its outcome cannot be found out
    kOther,         // the statement is wrong, or the user lacks a right
  };

  // A message may repeat what the server said, so it is made printable.
  MySqlError(Kind kind, int code, const std::string& message)
      : std::runtime_error(Printable(message)), kind(kind), code(code) {}

  Kind kind;
  int code;
};

// Converts the Connector's error to ours.
[[nodiscard]] MySqlError Translate(const sql::SQLException& error);

}  // namespace tenure::mysql
