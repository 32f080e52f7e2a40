#include "storage/mysql/preflight.h"

#include <optional>
#include <set>

#include "storage/mysql/migrator.h"
#include "storage/mysql/sql.h"
#include "storage/schema/migrations.h"

namespace tenure::mysql {
namespace {

struct Missing {
  std::string rights;            // with the error about the first; empty if none is missing
  std::set<std::string> tables;  // the server's error about each
};

// Servers check rights first: a statement about a missing table fails for that reason only if the
// user has the rights.
Missing Try(Connection& connection, const std::vector<query::Trial>& trials) {
  Missing missing;
  std::string first;
  for (const query::Trial& trial : trials) {
    try {
      connection.Run({trial.statement});
    } catch (const MySqlError& error) {
      if (error.kind != MySqlError::Kind::kOther) throw;
      if (error.code == query::kNoSuchTable || error.code == query::kUnknownTable) {
        missing.tables.insert(error.what());
        continue;
      }
      if (first.empty()) first = error.what();
      missing.rights += (missing.rights.empty() ? "" : ", ") + trial.right;
    }
  }
  if (!first.empty()) missing.rights += " (" + first + ")";
  return missing;
}

std::string MissingToMigrate(Connection& connection) {
  std::string missing;
  // A cluster runs even a failing statement on all of its nodes.
  if (!connection.server().many_writers) {
    missing = Try(connection, query::TrialsOfMigration()).rights;
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
  const Missing missing = Try(connection, query::TrialsOfUse());
  if (state == SchemaState::kCurrent) {
    for (const std::string& table : missing.tables) {
      faults.push_back(table + ": restore it from a backup");
    }
  }
  if (!missing.rights.empty()) {
    faults.push_back("the user lacks the rights " + missing.rights + ": grant them");
  }
  return faults;
}

}  // namespace tenure::mysql
