// The steps that bring a database to the schema that this program knows, one list per dialect.
//
// Steps are only ever added; a procedure is only in the step that has its latest version. Each step
// may be run twice: a process may die while it migrates. Views, procedures and columns, for which
// MySQL or MariaDB has no IF NOT EXISTS, are created, renamed and dropped plainly: the store
// accepts "it exists already" and "it is gone already". Only MariaDB has OR REPLACE: elsewhere the
// store drops first, which also takes away grants.
#pragma once

#include <chrono>
#include <span>
#include <string>
#include <string_view>

#include "storage/store.h"

namespace tenure {

struct Migration {
  int version;                              // rises by one
  std::span<const char* const> statements;  // run in order
};

// Until kHomesAloneSince, leases were judged by the database's clock, which later versions do not
// write for older ones: they cannot serve together. Since kReplicasSince, each of those replicas
// announced itself in a table every 5 s; older ones, as of release 0.1.0, did not.
inline constexpr int kReplicasSince = 10;
inline constexpr int kHomesAloneSince = 15;
inline constexpr Duration kReplicaOf01SilenceMax = std::chrono::seconds(20);
[[nodiscard]] inline std::string ReplicaOf01Serves(std::string_view address) {
  return "a replica of Tenure 0.1 serves at " + std::string(address) +
         ", and cannot serve beside this version: stop all of them; the schema is updated 20 s "
         "later";
}

[[nodiscard]] std::span<const Migration> SqliteMigrations();
[[nodiscard]] std::span<const Migration> MySqlMigrations();

// How a schema of a version compares with these migrations.
[[nodiscard]] inline SchemaState StateOf(int version, std::span<const Migration> migrations) {
  const int latest = migrations.back().version;
  return version == latest  ? SchemaState::kCurrent
         : version < latest ? SchemaState::kTooOld
                            : SchemaState::kTooNew;
}

}  // namespace tenure
