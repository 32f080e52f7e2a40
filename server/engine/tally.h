// Counts what committed transactions have brought about.
#pragma once

#include "core/docket.h"
#include "metrics/metrics.h"

namespace tenure {

void TallyEndedSessions(Metrics& metrics, const Docket& docket);
// The ended sessions, and everything else.
void Tally(Metrics& metrics, const Docket& docket);

// The share of its lease that a session has left, from 0 to 1.
[[nodiscard]] double LeaseShareLeft(const Session& session, DbTime now);

}  // namespace tenure
