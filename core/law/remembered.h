// Deciding from memory: a transaction whose state was not locked and read, but is remembered, and
// which the database commits only if nothing of it has changed. Pure.
//
// After H. T. Kung and J. T. Robinson, "On Optimistic Methods for Concurrency Control" (TODS 1981):
// read, validate, write. What is validated is all that the law looks at, so only states that
// are entirely in the rows of elections and sessions are decided in this way.
#pragma once

#include "core/law/transaction_state.h"
#include "core/types.h"

namespace tenure {

// The maximum difference between the `now` of a remembered state and the database's clock when it
// compares: events are dated by it.
inline constexpr Duration kRememberedClockTolerance = std::chrono::milliseconds(50);

// Whether all that the law asks about an election is in its row, and time alone changes none of its
// answers: it exists, nobody waits, and nothing is kept, delayed or forbidden.
[[nodiscard]] bool IsPlain(const ElectionState& state);

// Whether the database still agrees with what is remembered. `loaded` was locked and read for the
// same commands.
// REQUIRES: the elections that are remembered are plain.
[[nodiscard]] bool StillHolds(const TransactionState& remembered, const TransactionState& loaded);

// Whether a decision may be saved on conditions: it changes nothing but seats and places, and has
// an event, by which a commit whose reply was lost is found again.
[[nodiscard]] bool MayCommitFromMemory(const TransactionState& remembered,
                                       const TransactionState& decided);

}  // namespace tenure
