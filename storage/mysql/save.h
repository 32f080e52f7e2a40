// Saves what was decided about a loaded transaction, and commits.
#pragma once

#include <optional>
#include <vector>

#include "core/law/transaction_state.h"
#include "storage/mysql/load.h"
#include "storage/mysql/pool.h"
#include "storage/store.h"

namespace tenure::mysql {

// Ends the transaction that `loaded` began. If the reply to the commit is lost, looks up its
// outcome on a new connection. Returns the offset in each partition in which it wrote events.
// Throws MySqlError.
[[nodiscard]] std::vector<PartitionOffset> Save(Pool::Loan& loan, const CommitRules& rules,
                                                const Loaded& loaded,
                                                const TransactionState& decided);

// Saves in one message, without a loaded transaction, if what is remembered still holds. Otherwise
// saves nothing, and returns nothing.
// REQUIRES: MayCommitFromMemory.
[[nodiscard]] std::optional<std::vector<PartitionOffset>> SaveIfUnchanged(
    Pool::Loan& loan, const CommitRules& rules, const TransactionState& remembered,
    const TransactionState& decided);

}  // namespace tenure::mysql
