// Brings the schema of a database up to date.
//
// The functions throw MySqlError.
#pragma once

#include <string>

#include "storage/mysql/connection.h"

namespace tenure::mysql {

// Whether Tenure has begun to create its tables here. Another application's table of versions does
// not count.
[[nodiscard]] bool HasSchema(Connection& connection);
// The version of the database's schema; 0 if it has none.
[[nodiscard]] int SchemaVersion(Connection& connection);

// Runs the steps that are missing, one process at a time, and checks that applications can call the
// fence. `holder` names this process to the others.
void MigrateSchema(Connection& connection, const std::string& holder);

}  // namespace tenure::mysql
