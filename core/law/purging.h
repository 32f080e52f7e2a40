// Purging: elections that nobody uses are removed for good. Pure.
//
// Nothing remembers a purged election, and its name may be used again. So all new elections begin
// after the highest number of every one that was ever purged (`TransactionState::origin_min`): no
// term is granted twice, and no revision is published twice.
#pragma once

#include <cstdint>

#include "core/law/transaction_state.h"
#include "core/types.h"

namespace tenure {

struct Purge {
  // No event, no end of a term and no operator's change is younger than this. The end of the last
  // term counts even if nothing is left of it in the history.
  Duration unused_for;
  bool dry_run = false;  // change nothing
  Author author;
};

enum class Purged {
  kNo,      // it is used, or does not exist
  kYes,     // or would be, if this were not a dry run
  kPartly,  // some of its events are gone, and it is still there
};

// Whether nothing permanent keeps it: nobody leads or waits, and no operator has paused
// it or given it settings that count. A deleted election has neither.
[[nodiscard]] bool MayBeUnused(const Election& election);

// Purges an election if nobody uses it. All purges of this transaction together may delete
// `events_max` events; it is reduced by those deleted here.
// REQUIRES: the election was locked, and its past was read.
[[nodiscard]] Purged Apply(TransactionState& transaction, const Purge& purge,
                           const ElectionName& name, uint64_t& events_max);

}  // namespace tenure
