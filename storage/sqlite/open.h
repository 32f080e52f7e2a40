// The embedded store: one SQLite file, or memory. For one machine, tests and simulation.
//
// One connection writes; a transaction is a transaction of SQLite, on disk when it returns. Another
// one reads, so that reads do not delay writes. Several processes on one machine
// may share the file.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "storage/open_store.h"
#include "storage/store.h"

namespace tenure::sqlite {

// The clock by which events are dated, and delays end; the machine's wall clock outside of tests.
using DbClock = std::function<DbTime()>;
[[nodiscard]] DbTime SystemDbTime();

// `path` may be ":memory:". kStoreUnavailable: the file cannot be opened or made.
[[nodiscard]] Result<std::unique_ptr<Store>> OpenSqliteStore(const std::string& path,
                                                             DbClock clock = SystemDbTime);

// Inspects the file, for a program that `migrates` or does not. Changes nothing.
[[nodiscard]] ServerReport CheckSqliteFile(const std::string& path, bool migrates);

}  // namespace tenure::sqlite
