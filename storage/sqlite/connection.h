// One connection to a SQLite file, and its prepared statements.
//
// Belongs to one thread at a time. Errors are exceptions of type SQLite::Exception, which stay in
// this room.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "core/types.h"
#include "storage/cells.h"
#include "storage/sqlite/database_file.h"

namespace tenure::sqlite {

inline constexpr char kInMemory[] = ":memory:";

// What can be bound to a parameter: bytes are a BLOB.
using Value = Cell;
using Values = std::initializer_list<Value>;

inline std::string_view Bytes(const SessionId& id) {
  return {reinterpret_cast<const char*>(id.bytes.data()), id.bytes.size()};
}
inline int64_t Int(uint64_t value) { return static_cast<int64_t>(value); }
inline int64_t Int(HomeId home) { return Int(home.value); }
inline int64_t Int(Duration duration) { return duration.count(); }
inline int64_t Int(DbTime time) { return time.since_epoch.count(); }

// The row that a statement is at. See storage/rows.h.
class Row {
 public:
  explicit Row(SQLite::Statement& statement) : statement_(statement) {}

  [[nodiscard]] bool IsNull(size_t column) const { return Cell(column).isNull(); }
  [[nodiscard]] int64_t Signed(size_t column) const { return Cell(column).getInt64(); }
  [[nodiscard]] uint64_t Unsigned(size_t column) const {
    return static_cast<uint64_t>(Signed(column));
  }
  [[nodiscard]] std::string_view Bytes(size_t column) const {
    const SQLite::Column cell = Cell(column);
    const auto* bytes = static_cast<const char*>(cell.getBlob());  // null if there are none
    return bytes == nullptr ? std::string_view()
                            : std::string_view(bytes, static_cast<size_t>(cell.getBytes()));
  }

 private:
  [[nodiscard]] SQLite::Column Cell(size_t column) const {
    return statement_.getColumn(static_cast<int>(column));
  }

  SQLite::Statement& statement_;
};

// `sql` is always a literal: each is prepared once.
class Connection {
 public:
  // Whether the file is to be used, or only inspected, and left as it is.
  enum class Purpose { kUse, kLook };

  explicit Connection(const std::string& path, Purpose purpose = Purpose::kUse);

  // Throws unless its name still leads to the open file.
  void CheckFile() const;
  // Whether both have the same file open. REQUIRES: neither is in memory.
  [[nodiscard]] bool IsSameFileAs(const Connection& other) const { return file_ == other.file_; }

  // From now on, only its owner may read the file, and readers and a writer may use it at once.
  // REQUIRES: Tenure's tables are in the file, or are about to be made.
  void TakeOver();
  void Execute(const char* sql, Values parameters = {});
  void Execute(const char* sql, std::span<const Value> parameters);
  // Without parameters, and not prepared.
  void ExecuteOnce(const char* sql) { database_.exec(sql); }
  // The number of rows that the last changing statement changed.
  size_t Changes() { return static_cast<size_t>(database_.getChanges()); }

  template <typename Visit>
  void ForEach(const char* sql, Values parameters, Visit visit) {
    SQLite::Statement& statement = Start(sql, {parameters.begin(), parameters.size()});
    while (statement.executeStep()) visit(Row(statement));
    statement.reset();
  }

  template <typename Convert>
  auto Collect(const char* sql, Values parameters, Convert convert) {
    std::vector<std::invoke_result_t<Convert, const Row&>> all;
    ForEach(sql, parameters, [&](const Row& row) { all.push_back(convert(row)); });
    return all;
  }

  // Converts the first row, if there is one.
  template <typename Convert>
  auto First(const char* sql, Values parameters, Convert convert) {
    SQLite::Statement& statement = Start(sql, {parameters.begin(), parameters.size()});
    std::optional<std::invoke_result_t<Convert, const Row&>> first;
    if (statement.executeStep()) first = convert(Row(statement));
    statement.reset();
    return first;
  }

  // The only cell of the first row; 0 if there is none.
  uint64_t Number(const char* sql, Values parameters = {}) {
    return First(sql, parameters, [](const Row& row) { return row.Unsigned(0); }).value_or(0);
  }

 private:
  // Lets readers and a writer use the file at once. REQUIRES: the file is Tenure's, or may be.
  void UseLog();
  // Bytes among the parameters must outlive the rows.
  SQLite::Statement& Start(const char* sql, std::span<const Value> parameters);

  SQLite::Database database_;
  std::optional<DatabaseFile> file_;  // nothing in memory
  std::map<const char*, std::unique_ptr<SQLite::Statement>> statements_;
};

// Rolls back unless committed. Commits nothing to a file that its name no longer leads to.
class Transaction {
 public:
  Transaction(Connection& connection, const char* begin) : connection_(connection) {
    connection_.Execute(begin);
  }
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

  void Commit();

 private:
  Connection& connection_;
  bool open_ = true;
};

}  // namespace tenure::sqlite
