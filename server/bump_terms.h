// What has to happen before a database serves that may have lost what it had committed: a restored
// backup, or what an asynchronous failover has left.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/error.h"
#include "storage/store.h"

namespace tenure {

struct Bumped {
  uint64_t to = 0;       // all terms and revisions from now on are higher
  size_t elections = 0;  // deleted ones too
  size_t sessions = 0;   // that were ended
};

// Raises the terms and the revisions of all elections to the microseconds since 1970 by the
// database's clock, of deleted ones and of those that are still to come, too, after it has ended
// every session: nobody leads in a number of before.
// REQUIRES: no replica serves. In many transactions; whoever does it again after an error, or by
// mistake, raises some twice, which does no harm.
// Errors: kStoreUnavailable; kOverloaded, if somebody keeps an election or a session locked.
[[nodiscard]] Result<Bumped> BumpTerms(Store& store);

}  // namespace tenure
