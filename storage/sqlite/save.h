// Saves what was decided about a loaded transaction.
#pragma once

#include <vector>

#include "core/law/transaction_state.h"
#include "storage/sqlite/connection.h"
#include "storage/store.h"

namespace tenure::sqlite {

// REQUIRES: the transaction in which `loaded` was loaded is open. Returns its offset in each
// partition in which it wrote events. Throws if the partitions, or the home, break the rules.
[[nodiscard]] std::vector<PartitionOffset> Save(Connection& connection,
                                                const TransactionState& loaded,
                                                const TransactionState& decided,
                                                const CommitRules& rules);

}  // namespace tenure::sqlite
