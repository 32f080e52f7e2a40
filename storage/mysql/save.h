// Saves what was decided about a loaded transaction, and commits.
#pragma once

#include <optional>
#include <vector>

#include "core/law/transaction_state.h"
#include "storage/mysql/load.h"
#include "storage/mysql/pool.h"
#include "storage/store.h"

namespace tenure::mysql {

// Ends the transaction that `loaded` began. If the reply to the commit is lost, what became of it
// is looked up on a new connection. Answers with its offset
// in each partition in which it wrote events. Throws MySqlError.
[[nodiscard]] std::vector<PartitionOffset> Save(Pool::Loan& loan, const CommitRules& rules,
                                                const Loaded& loaded,
                                                const TransactionState& decided);

// Saves without a transaction that was begun: in one message, on condition that what is remembered
// still holds. Nothing if it does not, and then nothing was saved.
// REQUIRES: MayCommitFromMemory.
[[nodiscard]] std::optional<std::vector<PartitionOffset>> SaveIfUnchanged(
    Pool::Loan& loan, const CommitRules& rules, const TransactionState& remembered,
    const TransactionState& decided);

}  // namespace tenure::mysql
