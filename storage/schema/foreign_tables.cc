#include "storage/schema/foreign_tables.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <string_view>

namespace tenure {
namespace {

constexpr size_t kNamesMax = 5;

std::string Lower(std::string name) {
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
  return name;
}

// The word after `before`, if the statement has it.
std::string WordAfter(std::string_view statement, std::string_view before) {
  const size_t at = statement.find(before);
  if (at == std::string_view::npos) return "";
  statement.remove_prefix(at + before.size());
  return std::string(statement.substr(0, statement.find_first_of(" (\n")));
}

// Names of the tables and views that the migrations create.
std::set<std::string> OwnNames(std::span<const Migration> migrations) {
  std::set<std::string> names = {"schema_version", "migration_lock"};
  for (const Migration& migration : migrations) {
    for (const char* statement : migration.statements) {
      if (!std::string_view(statement).starts_with("CREATE ")) continue;
      names.insert(WordAfter(statement, "TABLE IF NOT EXISTS "));
      names.insert(WordAfter(statement, " VIEW "));
    }
  }
  return names;
}

}  // namespace

ForeignTables JudgeTables(const std::vector<std::string>& tables,
                          std::span<const Migration> migrations) {
  const std::set<std::string> own = OwnNames(migrations);
  ForeignTables foreign;
  foreign.count = tables.size();
  for (const std::string& table : tables) {
    const bool in_the_way = own.contains(Lower(table));
    if (in_the_way && foreign.in_the_way.size() < kNamesMax) foreign.in_the_way.push_back(table);
    if (!in_the_way && foreign.names.size() < kNamesMax) foreign.names.push_back(table);
  }
  return foreign;
}

std::string WhyNotShared(const ForeignTables& foreign, bool may_share) {
  if (!foreign.in_the_way.empty()) {
    return fmt::format(
        "holds tables of another application with names that Tenure needs ({}); use an empty "
        "database",
        fmt::join(foreign.in_the_way, ", "));
  }
  if (foreign.count == 0 || may_share) return "";
  const size_t more = foreign.count - foreign.names.size();
  return fmt::format(
      "holds tables of another application ({}{}), so nothing was created in it; use an empty "
      "database, or allow this one with --share-database",
      fmt::join(foreign.names, ", "), more == 0 ? "" : fmt::format(", and {} more", more));
}

}  // namespace tenure
