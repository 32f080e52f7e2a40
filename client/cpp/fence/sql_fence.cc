#include "tenure/sql_fence.h"

#include <string_view>

#include "base/hex.h"

namespace tenure {
namespace {

// The numbers are those of MySQL's and MariaDB's manuals; the text is that of the procedure
// (storage/schema/mysql_migrations.cc). Other programs raise 1644, too.
constexpr int kSignalled = 1644;
// Group Replication, when a transaction of another member was faster; two error codes.
constexpr int kNotCertified = 3101;
constexpr int kErrorDuringCommit = 1180;
constexpr std::string_view kDeadlockDuringCommit = "error 149 ";
constexpr std::string_view kRefusal = "tenure_fence: term ";

std::string Identifier(std::string_view name) {
  std::string quoted = "`";
  for (const char c : name) quoted.append(c == '`' ? 2 : 1, c);
  return quoted + "`";
}

}  // namespace

SqlErrorMeaning MeaningOf(const SqlError& error) {
  switch (error.code) {
    case kSignalled:
      return error.message.find(kRefusal) != std::string::npos ? SqlErrorMeaning::kTermOver
                                                               : SqlErrorMeaning::kOther;
    case 1020:  // record has changed since last read
    case 1205:  // lock wait timeout
    case 1213:  // deadlock
    case kNotCertified: return SqlErrorMeaning::kTryAgain;
    case kErrorDuringCommit:
      return error.message.find(kDeadlockDuringCommit) != std::string::npos
                 ? SqlErrorMeaning::kTryAgain
                 : SqlErrorMeaning::kOther;
    default: return SqlErrorMeaning::kOther;
  }
}

std::string SqlFence::Statement() const {
  return "CALL " + Identifier(database) + ".tenure_fence(_utf8mb4 x'" + ToHex(election) + "', " +
         std::to_string(term) + ")";
}

}  // namespace tenure
