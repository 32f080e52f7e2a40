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
    kConflict,      // deadlock, lock wait, certification: the transaction is to be tried again
    kAway,          // the connection is of no more use
    kUnfit,         // nor is the server: it cannot be written to, or has left its cluster
    kNotCommitted,  // the connection broke during a commit, which did not happen: to be tried again
    kInDoubt,  // the connection broke during a commit, and what became of it cannot be found out
    kOther,    // the statement is wrong, or the user may not
  };

  // A message may repeat what the server said, so it is made printable.
  MySqlError(Kind kind, int code, const std::string& message)
      : std::runtime_error(Printable(message)), kind(kind), code(code) {}

  Kind kind;
  int code;
};

// The Connector's error as ours.
[[nodiscard]] MySqlError Translate(const sql::SQLException& error);

}  // namespace tenure::mysql
