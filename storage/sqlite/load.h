// Loads the docket of a transaction.
#pragma once

#include "core/docket.h"
#include "storage/sqlite/connection.h"
#include "storage/store.h"

namespace tenure::sqlite {

// REQUIRES: a transaction that will write, which began before the clock was read.
[[nodiscard]] Docket Load(Connection& connection, DbTime now, const LockSet& locks);

}  // namespace tenure::sqlite
