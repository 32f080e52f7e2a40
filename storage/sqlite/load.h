// Loads the state that a transaction is decided from.
#pragma once

#include "core/law/transaction_state.h"
#include "storage/sqlite/connection.h"
#include "storage/store.h"

namespace tenure::sqlite {

// REQUIRES: a transaction that will write, which began before the clock was read.
[[nodiscard]] TransactionState Load(Connection& connection, DbTime now, const LockSet& locks);

}  // namespace tenure::sqlite
