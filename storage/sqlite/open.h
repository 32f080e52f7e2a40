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

// Dates events and ends delays; the machine's wall clock outside of tests.
using DbClock = std::function<DbTime()>;
[[nodiscard]] DbTime SystemDbTime();

// `path` may be ":memory:". kStoreUnavailable: the file cannot be opened or made.
[[nodiscard]] Result<std::unique_ptr<Store>> OpenSqliteStore(const std::string& path,
                                                             DbClock clock = SystemDbTime);

// Inspects the file. `migrates`: whether the program may migrate the file. Changes nothing.
[[nodiscard]] ServerReport CheckSqliteFile(const std::string& path, bool migrates);

}  // namespace tenure::sqlite
