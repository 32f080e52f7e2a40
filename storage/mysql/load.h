// Loads the state that a transaction is decided from, under row locks.
//
// The order of locks: the connection's writer, elections by name, then sessions. Elections and
// sessions that others hold are skipped, not waited for, so sessions need no order among
// themselves.
#pragma once

#include <set>

#include "core/law/transaction_state.h"
#include "storage/mysql/pool.h"
#include "storage/store.h"

namespace tenure::mysql {

struct Loaded {
  TransactionState transaction;
  std::set<ElectionName> created;  // their rows have never held a campaign
};

// Begins the transaction, and leaves it open. Throws MySqlError.
[[nodiscard]] Loaded Load(Pool::Loan& loan, const LockSet& locks);

// A row that was created for a campaign: deleted, but by nobody.
[[nodiscard]] inline bool IsPlaceholder(const Election& election) {
  return election.deleted && election.history_from == Revision{0};
}

// Runs a single statement.
[[nodiscard]] inline Rows RunOne(Pool::Loan& loan, std::string statement) {
  return std::move(loan.connection().Run({std::move(statement)})[0]);
}

}  // namespace tenure::mysql
