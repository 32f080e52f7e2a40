// The steps that bring a database to the schema that this program knows, one list per dialect.
//
// Steps are only ever added, and each may be run twice: who migrates may die in between. What has
// no IF NOT EXISTS in both MySQL and MariaDB, views, procedures and columns, is created plainly:
// the store takes "it exists already" for done. OR REPLACE is MariaDB's: elsewhere the store
// drops first, which also takes away what was granted.
#pragma once

#include <span>

namespace tenure {

struct Migration {
  int version;                              // rises by one
  std::span<const char* const> statements;  // run in order
};

[[nodiscard]] std::span<const Migration> SqliteMigrations();
[[nodiscard]] std::span<const Migration> MySqlMigrations();

// The version that a list of migrations leads to.
[[nodiscard]] inline int LatestVersion(std::span<const Migration> migrations) {
  return migrations.back().version;
}

}  // namespace tenure
