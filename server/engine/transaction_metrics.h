// Counts what committed transactions have brought about.
#pragma once

#include "core/transaction_state.h"
#include "metrics/metrics.h"

namespace tenure::engine {

void CountEndedSessions(Metrics& metrics, const TransactionState& transaction);
// The ended sessions, and everything else.
void CountTransaction(Metrics& metrics, const TransactionState& transaction);

// The share of its lease that a session has left, from 0 to 1.
[[nodiscard]] double LeaseShareLeft(const Session& session, DbTime now);

}  // namespace tenure::engine
