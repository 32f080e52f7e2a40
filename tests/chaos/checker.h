// Whether a history is one that Tenure promises. Pure.
//
// Terms only rise, and the database's clock is not asked: what is compared is what clients know by
// their own clocks, which are one on one machine. A reading is held to a register whose value only
// rises: a reader that asks after somebody got a revision gets no lower one, on any replica. For
// such a register that is linearizability (Herlihy and Wing, 1990).
#pragma once

#include <string>
#include <vector>

#include "tests/chaos/history.h"

namespace tenure::testing {

// Each violation, in a sentence; none if all is well.
// - A term has one leader.
// - Nobody believes to lead after somebody else began to in a later term; and nobody begins before
//   the deadline until which an earlier leader may believe that has not given up its seat.
// - A reader gets no lower revision or term than was known before it asked.
[[nodiscard]] std::vector<std::string> Violations(const History& history);

// Of one election's times without a leader, each between the end of a belief and the beginning of
// the next.
struct Vacancy {
  std::string election;
  Nanoseconds from;
  Nanoseconds until;
};
[[nodiscard]] std::vector<Vacancy> Vacancies(const History& history);

}  // namespace tenure::testing
