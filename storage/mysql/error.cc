#include "storage/mysql/error.h"

#include <cppconn/exception.h>

#include <string_view>

namespace tenure::mysql {
namespace {

constexpr int kErrorDuringCommit = 1180;
// In its text, the storage engine's own error: a deadlock, which rolled the transaction back.
constexpr char kDeadlockDuringCommit[] = "error 149 ";

// The error numbers are those of MySQL's and MariaDB's manuals.
MySqlError::Kind KindOf(int code, std::string_view text) {
  switch (code) {
    case 1062:  // duplicate key: another transaction made the row first
    case 1020:  // record has changed since last read (MariaDB 11, Galera)
    case 1205:  // lock wait timeout
    case 1213:  // deadlock, or certification failure of Galera
    case 3101:  // certification failure of Group Replication
    case 3572:  // NOWAIT
      return MySqlError::Kind::kConflict;
    case 0:     // the Connector's own: the connection is closed
    case 1040:  // too many connections
    case 1053:  // shutdown in progress
    case 1079:  // normal shutdown
    case 1104:  // a limit on the rows of a join
    case 1152:  // aborted connection
    case 1158:
    case 1159:
    case 1160:
    case 1161:                // packets that were not read or written
    case kErrorDuringCommit:  // its outcome is unknown
    case 1175:                // safe updates
    case 1317:                // KILL QUERY
    case 1665:                // the session's log format
    case 1792:                // the transaction is read only
    case 1927:                // connection was killed
    case 1969:
    case 3024:  // a limit on the time of a statement
    case 4031:  // disconnected for inactivity
    case 5013:
    case 5014:
    case 5015:  // MariaDB's client library: cannot read, write or uncompress
      return MySqlError::Kind::kAway;
    case 1290:  // an option forbids it: read_only, or a limit on the session's memory
      return text.find("max-session-mem-used") == std::string_view::npos ? MySqlError::Kind::kUnfit
                                                                         : MySqlError::Kind::kAway;
    case 1047:  // Galera: node is not ready
    case 1836:  // read only
    case 3100:
    case 3168:  // Group Replication: before_commit hook, not primary
      return MySqlError::Kind::kUnfit;
    default:
      return code >= 2000 && code < 3000 ? MySqlError::Kind::kAway : MySqlError::Kind::kOther;
  }
}

}  // namespace

MySqlError Translate(const sql::SQLException& error) {
  const int code = error.getErrorCode();
  const std::string text = error.what();
  const bool deadlock =
      code == kErrorDuringCommit && text.find(kDeadlockDuringCommit) != std::string::npos;
  return {deadlock ? MySqlError::Kind::kConflict : KindOf(code, text), code,
          "MySQL error " + std::to_string(code) + ": " + text};
}

}  // namespace tenure::mysql
