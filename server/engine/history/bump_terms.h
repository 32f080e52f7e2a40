// Makes a database safe to serve that may have lost commits: a restored backup, or what an
// asynchronous failover has left.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "core/error.h"
#include "core/types.h"
#include "storage/store.h"

namespace tenure::engine {

struct Bumped {
  uint64_t to = 0;       // all terms and revisions from now on are higher
  size_t elections = 0;  // deleted ones too
  size_t sessions = 0;   // that were ended
};

// Raises the terms and the revisions of all elections, including deleted and future ones, to the
// microseconds since 1970 by the database's clock. First ends every session, so that nobody leads
// in an earlier term. REQUIRES: no replica serves. Uses many transactions, and calls `before_each`
// before each; its error ends the work. The last one records who asked for it, and why. Repeating
// it, after an error or by mistake, raises some elections twice, which is harmless. Errors:
// kStoreUnavailable; kOverloaded, if an election or a session stays locked.
[[nodiscard]] Result<Bumped> BumpTerms(
    Store& store, const Author& author,
    const std::function<Result<void>()>& before_each = [] { return Result<void>(); });

}  // namespace tenure::engine
