// What other applications keep in a database that Tenure would create its tables in.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "storage/schema/migrations.h"
#include "storage/store.h"

namespace tenure {

// `tables` are the names of all tables and views of a database without a schema of Tenure's.
// Names are compared without case, as some databases do. Pure.
[[nodiscard]] ForeignTables JudgeTables(const std::vector<std::string>& tables,
                                        std::span<const Migration> migrations);

// Why Tenure must not create its tables there, phrased to follow the database's name; empty if it
// may. Pure.
[[nodiscard]] std::string WhyNotShared(const ForeignTables& foreign, bool may_share);

}  // namespace tenure
