// Saves what was decided about a loaded docket, and commits.
#pragma once

#include <vector>

#include "core/docket.h"
#include "storage/mysql/load.h"
#include "storage/mysql/pool.h"
#include "storage/store.h"

namespace tenure::mysql {

// Ends the transaction that `loaded` began. If the reply to the commit is lost, what became of it
// is looked up on a new connection, unless the transaction is repeatable. Answers with its position
// in each lane in which it wrote events. Throws MySqlError.
[[nodiscard]] std::vector<LanePosition> Save(Pool::Loan& loan, const CommitRules& rules,
                                             const Loaded& loaded, const Docket& decided);

}  // namespace tenure::mysql
