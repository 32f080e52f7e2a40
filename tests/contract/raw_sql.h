// Plain SQL to the database behind a store URL, whatever engine it is.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <string>
#include <variant>
#include <vector>

#include "storage/mysql/connection.h"
#include "storage/open_store.h"

namespace tenure::testing {

// Each row as "one|two", NULL as "NULL". REQUIRES: the database is not in memory.
inline std::vector<std::string> QueryRows(const std::string& url, const std::string& sql) {
  std::vector<std::vector<std::string>> rows;
  const StoreLocation location = ParseStoreUrl(url).value();
  if (const auto* file = std::get_if<SqliteLocation>(&location)) {
    constexpr int kBusyTimeoutMs = 10'000;
    SQLite::Database database(file->path, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE,
                              kBusyTimeoutMs);
    SQLite::Statement statement(database, sql);
    while (statement.executeStep()) {
      auto& row = rows.emplace_back();
      for (int i = 0; i < statement.getColumnCount(); ++i) {
        const SQLite::Column cell = statement.getColumn(i);
        row.push_back(cell.isNull() ? "NULL" : cell.getString());
      }
    }
  } else {
    mysql::Connection connection(std::get<mysql::Config>(location));
    const mysql::Rows found = connection.Run({sql})[0];
    for (const mysql::Row& cells : found) {
      auto& row = rows.emplace_back();
      for (const mysql::Cell& cell : cells) row.push_back(cell.value_or("NULL"));
    }
  }

  std::vector<std::string> joined;
  for (const auto& row : rows) {
    std::string& line = joined.emplace_back();
    for (const std::string& cell : row) line += (line.empty() ? "" : "|") + cell;
  }
  return joined;
}

}  // namespace tenure::testing
