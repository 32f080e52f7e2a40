#include "storage/mysql/migrator.h"

#include <chrono>
#include <string>
#include <string_view>
#include <thread>

#include "storage/mysql/sql.h"
#include "storage/schema/migrations.h"

namespace tenure::mysql {
namespace {

constexpr std::string_view kCreate = "CREATE ";

// How long others wait for a process that died while it updated the schema; longer than a statement
// takes.
constexpr Duration kMigrationLease = std::chrono::minutes(2);
constexpr auto kMigrationPatience = std::chrono::seconds(30);
constexpr auto kMigrationPause = std::chrono::milliseconds(100);

// Runs one statement of a migration. Its object may exist: another run created it.
void Create(Connection& connection, std::string statement) {
  try {
    const size_t replace = statement.find(query::kOrReplace);
    if (replace == kCreate.size() && !connection.server().mariadb) {
      statement.erase(replace, query::kOrReplace.size());
      connection.Run({query::kDropFence});
    }
    connection.Run({statement});
  } catch (const MySqlError& error) {
    switch (error.code) {
      case 1050:  // the view
      case 1060:  // the columns
      case 1304:  // the procedure
      case 1054:  // the column was renamed
      case 1091:  // or dropped
        return;
      case 1044:
      case 1142:
      case 1370:  // denied
        throw MySqlError(
            error.kind, error.code,
            std::string("cannot update the schema: ") + error.what() +
                ". This needs the privileges CREATE, ALTER, DROP, INDEX, CREATE VIEW, CREATE "
                "ROUTINE, "
                "ALTER ROUTINE and EXECUTE; a user who has them can run: tenured migrate");
      default: throw;
    }
  }
}

// The server gives the definer of a procedure the right to execute it only where it was created:
// not on the other nodes of Galera, and not where a dump was restored.
void CheckFence(Connection& connection) {
  try {
    connection.Run({query::kTryFence});
  } catch (const MySqlError& error) {
    if (error.code == query::kSignal) return;  // no term stands
    throw MySqlError(error.kind, error.code,
                     std::string("tenure_fence cannot be called: ") + error.what() +
                         ". Its definer needs EXECUTE, SELECT, INSERT and UPDATE on the schema");
  }
}

// Statements that define something are not transactions, and two at once on different nodes of
// Galera can stop the cluster. So the process that migrates takes a row.
bool TakeMigrationLock(Connection& connection, const std::string& holder) {
  const std::vector<Rows> results =
      connection.Run({query::TakeMigrationLock(holder, kMigrationLease), query::kRowCount});
  return results[1].at(0).Unsigned(0) == 1;
}

// Gives the row back, however the migration ends.
struct MigrationTurn {
  Connection& connection;
  const std::string& holder;
  ~MigrationTurn() {
    try {
      connection.Run({query::FreeMigrationLock(holder)});
    } catch (const MySqlError&) {  // the row expires by itself
    }
  }
};

MySqlError MigrationIsLocked() {
  return {MySqlError::Kind::kOther, 0, "another process is updating the schema"};
}

void WaitForMigrationLock(Connection& connection, const std::string& holder) {
  const auto end = std::chrono::steady_clock::now() + kMigrationPatience;
  while (!TakeMigrationLock(connection, holder)) {
    if (std::chrono::steady_clock::now() > end) throw MigrationIsLocked();
    std::this_thread::sleep_for(kMigrationPause);
  }
}

void RefuseBesideReplicasOf01(Connection& connection) {
  try {
    const Rows replicas = connection.Run({query::kReplicaOf01})[0];
    if (replicas.empty()) return;
    throw MySqlError(MySqlError::Kind::kOther, 0, ReplicaOf01Serves(replicas[0].Bytes(0)));
  } catch (const MySqlError& error) {
    if (error.code != query::kNoSuchTable) throw;  // or a migration was begun
  }
}

}  // namespace

bool HasSchema(Connection& connection) {
  return connection.Run({query::kHasSchemaVersion})[0].at(0).at(0) != "0";
}

int SchemaVersion(Connection& connection) {
  if (!HasSchema(connection)) return 0;
  const Rows rows = connection.Run({query::kSchemaVersion})[0];
  return rows.empty() ? 0 : static_cast<int>(rows[0].Unsigned(0));
}

void MigrateSchema(Connection& connection, const std::string& holder) {
  Create(connection, query::kCreateSchemaVersion);
  Create(connection, query::kCreateMigrationLock);
  connection.Run({query::kAddMigrationLock});
  WaitForMigrationLock(connection, holder);
  const MigrationTurn turn{connection, holder};
  const int version = SchemaVersion(connection);
  if (version >= kReplicasSince && version < kHomesAloneSince) RefuseBesideReplicasOf01(connection);
  for (const Migration& migration : MySqlMigrations()) {
    if (migration.version <= version) continue;
    for (const char* statement : migration.statements) {
      if (!TakeMigrationLock(connection, holder)) throw MigrationIsLocked();
      Create(connection, statement);
    }
    connection.Run({query::SetSchemaVersion(migration.version)});
  }
  CheckFence(connection);
}

}  // namespace tenure::mysql
