#include "storage/sqlite/sqlite_store.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <system_error>

#include "core/law/remembered.h"
#include "storage/rows.h"
#include "storage/schema/foreign_tables.h"
#include "storage/schema/migrations.h"
#include "storage/sqlite/load.h"
#include "storage/sqlite/save.h"
#include "storage/sqlite/sql.h"

namespace tenure::sqlite {

namespace {

int Version(Connection& connection) {
  const bool has_table = connection.Number(query::kHasSchemaVersion) != 0;
  return has_table ? static_cast<int>(connection.Number(query::kSchemaVersion)) : 0;
}

ForeignTables FindForeign(Connection& connection) {
  if (connection.Number(query::kHasSchemaVersion) != 0) return {};
  std::vector<std::string> tables;
  connection.ForEach(query::kTables, {},
                     [&](const Row& row) { tables.emplace_back(row.Bytes(0)); });
  return JudgeTables(tables, SqliteMigrations());
}

// Another replica may have adopted them since they were remembered.
void KeepHomes(const TransactionState& loaded, TransactionState& decided) {
  for (const auto& [id, session] : loaded.sessions) {
    Session& kept = decided.sessions.at(id);
    kept.home = session.home;
    kept.moves = session.moves;
  }
}

}  // namespace

Result<Committed> SqliteStore::Transact(const LockSet& locks, const CommitRules& rules,
                                        const Decide& decide) {
  const bool adopts = rules.witness && rules.witness->number;
  const auto whom = adopts ? Turns::For::kHomes : Turns::For::kOthers;
  const auto transact = [&](Connection& connection) {
    Transaction transaction(connection, query::kBegin);
    const TransactionState loaded = Load(connection, clock_(), locks);
    auto memory = Committed::Memory::kUnused;
    if (rules.remembered != nullptr) {
      TransactionState decided = *rules.remembered;
      decide(decided);
      if (MayCommitFromMemory(*rules.remembered, decided)) {
        if (StillHolds(*rules.remembered, loaded)) {
          KeepHomes(loaded, decided);
          auto offsets = Save(connection, loaded, decided, rules);
          transaction.Commit();
          return Committed{std::move(decided), std::move(offsets), Committed::Memory::kHeld};
        }
        memory = Committed::Memory::kRefused;
      }
    }
    TransactionState decided = loaded;
    decide(decided);
    auto offsets = Save(connection, loaded, decided, rules);
    transaction.Commit();
    return Committed{std::move(decided), std::move(offsets), memory};
  };
  return Write(transact, whom);
}

void SqliteStore::StayOn(uint64_t) {}  // there is only one
void SqliteStore::LeaveServer() {}

StoreActivity SqliteStore::Activity() const {
  const size_t all = reader_ ? 2 : 1;
  const size_t busy = (writer_.busy() ? 1u : 0u) + (reader_ && reader_->busy() ? 1u : 0u);
  return {.connections_busy = busy, .connections_idle = all - busy, .connections_max = all};
}

Result<void> SqliteStore::Ping() {
  return Write([&](Connection& connection) {
    Transaction transaction(connection, query::kBegin);
    transaction.Commit();
  });
}

Result<SchemaState> SqliteStore::CheckSchema() {
  return Read(
      [&](Connection& connection) { return StateOf(Version(connection), SqliteMigrations()); });
}

Result<ForeignTables> SqliteStore::FindForeignTables() {
  return Read([](Connection& connection) { return FindForeign(connection); });
}

Result<void> SqliteStore::Migrate() {
  return Write([&](Connection& connection) {
    connection.TakeOver();
    Transaction transaction(connection, query::kBegin);
    const int version = Version(connection);
    if (version >= kReplicasSince && version < kHomesAloneSince) {
      const DbTime lately = {clock_().since_epoch - kReplicaOf01SilenceMax};
      const auto replica = connection.First(query::kReplicaOf01, {Int(lately)},
                                            [](const Row& row) { return Text(row, 0); });
      if (replica) throw SQLite::Exception(ReplicaOf01Serves(*replica));
    }
    connection.ExecuteOnce(query::kCreateSchemaVersion);
    for (const Migration& migration : SqliteMigrations()) {
      if (migration.version <= version) continue;
      for (const char* statement : migration.statements) connection.ExecuteOnce(statement);
      connection.Execute(query::kSetSchemaVersion, {int64_t{migration.version}});
    }
    transaction.Commit();
  });
}

DbTime SystemDbTime() {
  return {
      std::chrono::duration_cast<Duration>(std::chrono::system_clock::now().time_since_epoch())};
}

Result<std::unique_ptr<Store>> OpenSqliteStore(const std::string& path, DbClock clock) {
  try {
    return std::make_unique<SqliteStore>(path, std::move(clock));
  } catch (const SQLite::Exception& error) {
    return Fail(Reason::kStoreUnavailable,
                "cannot open SQLite file '" + path + "': " + error.what());
  }
}

namespace {

constexpr char kNoSchema[] = "it has no schema: run tenured migrate";

// What keeps a program from serving with an existing file.
std::vector<std::string> FaultsOf(Connection& connection, bool migrates) {
  const int version = Version(connection);
  switch (StateOf(version, SqliteMigrations())) {
    case SchemaState::kTooNew:
      return {
          "its schema is newer than this program: run the version of tenured that created it, "
          "or a newer one"};
    case SchemaState::kTooOld:
      if (migrates) break;
      return {version == 0 ? kNoSchema
                           : "its schema is older than this program: run tenured migrate"};
    case SchemaState::kCurrent: break;
  }
  const Transaction written(connection, query::kBegin);  // fails if it cannot be written
  return {};
}

}  // namespace

ServerReport CheckSqliteFile(const std::string& path, bool migrates) {
  ServerReport report{path, "SQLite", "", {}};
  if (path == kInMemory) {
    report.warnings.emplace_back("all terms are lost when tenured ends");
    return report;
  }
  std::error_code error;
  const bool exists = std::filesystem::exists(path, error);
  if (error) {
    report.refusal = "cannot look for the file: " + error.message();
    return report;
  }
  if (!exists) {
    const auto folder = std::filesystem::absolute(path, error).parent_path();
    if (access(folder.c_str(), W_OK | X_OK) != 0) {
      report.refusal = std::string("the file is not there, and cannot be made: ") + strerror(errno);
    } else if (!migrates) {
      report.faults.emplace_back(kNoSchema);
    } else {
      report.warnings.emplace_back("the file is not there: tenured would make it");
    }
    return report;
  }
  try {
    Connection connection(path, Connection::Purpose::kLook);
    report.faults = FaultsOf(connection, migrates);
    report.foreign = FindForeign(connection);
    report.session_key = FindSessionKey(connection).value_or("");
  } catch (const SQLite::Exception& error) {
    report.faults.push_back(std::string("SQLite: ") + error.what());
  }
  return report;
}

}  // namespace tenure::sqlite
