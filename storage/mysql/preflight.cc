#include "storage/mysql/preflight.h"

#include <optional>
#include <set>

#include "storage/mysql/migrator.h"
#include "storage/mysql/sql.h"
#include "storage/schema/migrations.h"

namespace tenure::mysql {
namespace {

// Why the server refuses a statement, if that is for want of a right. Rights come first: one about
// a table that is not there fails for that reason only if the user has them.
std::optional<std::string> Refusal(Connection& connection, const std::string& statement) {
  try {
    connection.Run({statement});
  } catch (const MySqlError& error) {
    if (error.kind != MySqlError::Kind::kOther) throw;
    const bool missing = error.code == query::kNoSuchTable || error.code == query::kUnknownTable;
    if (!missing) return error.what();
  }
  return std::nullopt;
}

// The statements to try, and the rights that they need.
std::string MissingRights(Connection& connection, const std::vector<query::Trial>& trials) {
  std::string missing;
  std::string first;
  for (const query::Trial& trial : trials) {
    const auto refusal = Refusal(connection, trial.statement);
    if (!refusal) continue;
    if (first.empty()) first = *refusal;
    missing += (missing.empty() ? "" : ", ") + trial.right;
  }
  return missing.empty() ? "" : missing + " (" + first + ")";
}

// What the server says of each table that the schema's version promises, and that is not there.
std::vector<std::string> MissingTables(Connection& connection) {
  std::set<std::string> missing;
  for (const query::Trial& trial : query::TrialsOfUse()) {
    try {
      connection.Run({trial.statement});
    } catch (const MySqlError& error) {
      if (error.code != query::kNoSuchTable) continue;  // of a right
      missing.insert(std::string(error.what()) + ": restore it from a backup");
    }
  }
  return {missing.begin(), missing.end()};
}

std::string MissingToMigrate(Connection& connection) {
  std::string missing;
  // A cluster takes even a statement that fails to all of its nodes.
  if (!connection.server().many_writers) {
    missing = MissingRights(connection, query::TrialsOfMigration());
  }
  for (const char* right : {"CREATE ROUTINE", "ALTER ROUTINE"}) {
    const bool has = connection.Run({query::HasRight(right)})[0].at(0).Unsigned(0) != 0;
    if (!has) missing += (missing.empty() ? "" : ", ") + std::string(right);
  }
  return missing;
}

}  // namespace

std::vector<std::string> FaultsOf(Connection& connection, bool migrates) {
  std::vector<std::string> faults;
  const int version = SchemaVersion(connection);
  const int known = MySqlMigrations().back().version;
  const std::string versions = "its schema has version " + std::to_string(version) +
                               ", and this program knows version " + std::to_string(known);
  const SchemaState state = StateOf(version, MySqlMigrations());
  if (state == SchemaState::kTooNew) {
    faults.push_back(versions + ": run the version of tenured that created it, or a newer one");
  } else if (state == SchemaState::kTooOld && !migrates) {
    faults.push_back(version == 0 ? "it has no schema: run tenured migrate"
                                  : versions + ": run tenured migrate");
  } else if (state == SchemaState::kTooOld) {
    const std::string missing = MissingToMigrate(connection);
    if (!missing.empty()) {
      faults.push_back("its schema has to be " + std::string(version == 0 ? "created" : "updated") +
                       ", and the user lacks the rights " + missing +
                       ": grant them, or run tenured migrate as a user who has them");
    }
  }
  if (state == SchemaState::kCurrent) {
    for (const std::string& table : MissingTables(connection)) faults.push_back(table);
  }
  const std::string missing = MissingRights(connection, query::TrialsOfUse());
  if (!missing.empty()) faults.push_back("the user lacks the rights " + missing + ": grant them");
  return faults;
}

}  // namespace tenure::mysql
