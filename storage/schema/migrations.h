// The steps that bring a database to the schema that this program knows, one list per dialect.
//
// Steps are only ever added, and each may be run twice: who migrates may die in between. What has
// no IF NOT EXISTS in both MySQL and MariaDB, views, procedures and columns, is created plainly:
// the store takes "it exists already" for done. OR REPLACE is MariaDB's: elsewhere the store
// drops first, which also takes away what was granted.
#pragma once

#include <span>

#include "storage/store.h"

namespace tenure {

struct Migration {
  int version;                              // rises by one
  std::span<const char* const> statements;  // run in order
};

[[nodiscard]] std::span<const Migration> SqliteMigrations();
[[nodiscard]] std::span<const Migration> MySqlMigrations();

// What a database of a version is to a program that knows these migrations.
[[nodiscard]] inline SchemaState StateOf(int version, std::span<const Migration> migrations) {
  const int latest = migrations.back().version;
  return version == latest  ? SchemaState::kCurrent
         : version < latest ? SchemaState::kTooOld
                            : SchemaState::kTooNew;
}

}  // namespace tenure
