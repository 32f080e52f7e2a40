// Counts the effects of committed transactions.
#pragma once

#include "core/law/transaction_state.h"
#include "metrics/metrics.h"

namespace tenure::engine {

void CountEndedSessions(Metrics& metrics, const TransactionState& transaction);
// Counts ended sessions, and everything else.
void CountTransaction(Metrics& metrics, const TransactionState& transaction);

}  // namespace tenure::engine
