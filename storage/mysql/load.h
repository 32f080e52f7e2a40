// Loads what a transaction is decided by, under row locks.
//
// The order of locks: the connection's writer, elections by name, then sessions. Elections and
// sessions that others hold are skipped and not waited for, so no order among sessions is needed.
#pragma once

#include <set>

#include "core/law/transaction_state.h"
#include "storage/mysql/pool.h"
#include "storage/store.h"

namespace tenure::mysql {

struct Loaded {
  TransactionState transaction;
  std::set<ElectionName> created;  // whose rows have never held a campaign
};

// Begins the transaction, and leaves it open. Throws MySqlError.
[[nodiscard]] Loaded Load(Pool::Loan& loan, const LockSet& locks);

// Deleted, but by nobody: its row was made for a campaign.
[[nodiscard]] inline bool IsPlaceholder(const Election& election) {
  return election.deleted && election.history_from == Revision{0};
}

// What a single statement is answered.
[[nodiscard]] inline Rows RunOne(Pool::Loan& loan, std::string statement) {
  return std::move(loan.connection().Run({std::move(statement)})[0]);
}

}  // namespace tenure::mysql
