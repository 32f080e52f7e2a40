#include "storage/sqlite/connection.h"

#include <sqlite3.h>

#include <chrono>
#include <thread>

#include "storage/sqlite/sql.h"

namespace tenure::sqlite {
namespace {

// How long to wait for the file's lock: this number of pauses of this length, each a fair try.
// SQLite's own timeout pauses ever longer, and lets the latest caller go first.
constexpr auto kBusyPause = std::chrono::milliseconds(1);
constexpr int kBusyPausesMax = 8000;

int WaitForLock(void*, int pauses) {
  std::this_thread::sleep_for(kBusyPause);
  return pauses < kBusyPausesMax ? 1 : 0;
}

void Bind(SQLite::Statement& statement, int index, const Value& value) {
  if (const auto* number = std::get_if<int64_t>(&value)) return statement.bind(index, *number);
  if (const auto* number = std::get_if<uint64_t>(&value)) {
    return statement.bind(index, static_cast<int64_t>(*number));
  }
  if (const auto* bytes = std::get_if<std::string_view>(&value)) {
    const char* data = bytes->empty() ? "" : bytes->data();  // a null pointer would bind NULL
    return statement.bindNoCopy(index, data, static_cast<int>(bytes->size()));
  }
  statement.bind(index);
}

// Returns the path, after creating a private file there.
const std::string& Made(const std::string& path) {
  if (path != kInMemory) MakePrivate(path);
  return path;
}

}  // namespace

Connection::Connection(const std::string& path, Purpose purpose)
    : database_(purpose == Purpose::kUse ? Made(path) : path, SQLite::OPEN_READWRITE) {
  sqlite3_busy_handler(database_.getHandle(), WaitForLock, nullptr);
  if (purpose == Purpose::kLook) return;
  // A file of another application stays as it is until Tenure may create its tables in it.
  if (Number(query::kHasSchemaVersion) != 0) {
    TakeOver();
  } else if (Number(query::kCountTables) == 0) {
    UseLog();
  }
  database_.exec("PRAGMA synchronous = FULL");
  if (path == kInMemory) return;
  (void)database_.execAndGet("SELECT COUNT(*) FROM sqlite_master");  // opens the log
  file_.emplace(path, database_.getHandle());
}

void Connection::CheckFile() const {
  if (!file_) return;
  if (const auto fault = file_->Fault()) throw SQLite::Exception(*fault);
}

void Connection::TakeOver() {
  const std::string path = database_.getFilename();
  if (path != kInMemory) KeepPrivate(path);
  UseLog();
}

void Connection::UseLog() {
  SQLite::Statement(database_, "PRAGMA journal_mode = WAL").executeStep();
}

void Connection::Execute(const char* sql, Values parameters) {
  Execute(sql, std::span<const Value>(parameters.begin(), parameters.size()));
}

void Connection::Execute(const char* sql, std::span<const Value> parameters) {
  SQLite::Statement& statement = Start(sql, parameters);
  while (statement.executeStep()) continue;
  statement.reset();
}

SQLite::Statement& Connection::Start(const char* sql, std::span<const Value> parameters) {
  auto& statement = statements_[sql];
  if (statement == nullptr) statement = std::make_unique<SQLite::Statement>(database_, sql);
  statement->tryReset();
  int index = 0;
  for (const Value& value : parameters) Bind(*statement, ++index, value);
  return *statement;
}

Transaction::~Transaction() {
  if (open_) try {
      connection_.Execute(query::kRollback);
    } catch (const SQLite::Exception&) {  // SQLite has rolled back by itself
    }
}

void Transaction::Commit() {
  connection_.CheckFile();
  connection_.Execute(query::kCommit);
  open_ = false;
}

}  // namespace tenure::sqlite
