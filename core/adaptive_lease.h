// Adaptive leases: a candidate that lost its session while it lived gets a longer lease next time,
// which shrinks back to the requested one in calm times. After Niazi, Ismail, Berthou and Dowling,
// "Leader Election Using NewSQL Database Systems" (DAIS 2015), section 4.3.
//
// Only the home of a session shortens its lease, and nothing is written: the row keeps the longest
// lease that somebody may still believe in, and the next home begins with that one. So only the
// home answers with a lease.
#pragma once

#include "core/types.h"

namespace tenure {

// What a candidate gets whose session `lost` expired, if it asks for `asked` and `max` is allowed:
// twice the lease that it lost, at most eight times `asked`, and no less than `asked`.
[[nodiscard]] Duration LongerLease(const Session& lost, Duration asked, Duration max);

// The lease of a session that has been calm for so long: it is halved whenever thirty such leases
// have passed, down to the requested one.
[[nodiscard]] Duration LeaseAfterCalm(const Session& session, Duration calm);

}  // namespace tenure
