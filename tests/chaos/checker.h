// Checks a history against what Tenure promises. Pure.
//
// It compares only what clients know by their own clocks, which are the same clock on one machine,
// and never asks the database. Readings are held to a register whose value only rises: a reader
// that asks after anybody got a revision gets no lower one, on any replica. For such a register,
// that is linearizability (Herlihy and Wing, 1990).
#pragma once

#include <string>
#include <vector>

#include "tests/chaos/history.h"

namespace tenure::testing {

// Each violation, in a sentence; none if all is well.
// - A term has one leader.
// - Nobody believes that it leads after another candidate began to in a later term, and nobody
//   begins before the deadline of an earlier leader that has not given up its seat.
// - A reader gets no lower revision or term than was known before it asked.
[[nodiscard]] std::vector<std::string> Violations(const History& history);

// A time without a leader in one election: from the end of one belief to the beginning of the next.
struct Vacancy {
  std::string election;
  Nanoseconds from;
  Nanoseconds until;
};
[[nodiscard]] std::vector<Vacancy> Vacancies(const History& history);

}  // namespace tenure::testing
