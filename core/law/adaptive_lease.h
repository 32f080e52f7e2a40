// Adaptive leases: a candidate that lost its session while it lived gets a longer lease next time,
// which shrinks back to the requested one in calm times. After Niazi, Ismail, Berthou and Dowling,
// "Leader Election Using NewSQL Database Systems" (DAIS 2015), section 4.3.
//
// Only the home of a session shortens its lease, and nothing is written: the row keeps the longest
// lease that somebody may still believe in, and the next home begins with that one. So only the
// home may say how long a lease is.
#pragma once

#include "core/types.h"

namespace tenure {

// The lease for a candidate whose session `lost` expired: twice the lease that it had at its end,
// at most eight times `asked` and no more than `max`, but no less than `asked`. Computed as if one
// home had kept the session throughout: the row does not record when a move restarted the calm
// period.
[[nodiscard]] Duration LongerLease(const Session& lost, Duration asked, Duration max);

// The lease after `calm`: halved after every thirty leases, down to the requested one.
[[nodiscard]] Duration LeaseAfterCalm(const Session& session, Duration calm);

}  // namespace tenure
