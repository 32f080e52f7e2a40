// Expectations of the programs' outputs, taken together.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tests/polyglot/stubs/candidate.h"

namespace tenure::testing {

// The time in which one process believed that it led, by its own lines.
struct Reign {
  uint64_t term;
  std::string candidate;
  int64_t from_ms;   // when it said that it is elected
  int64_t until_ms;  // its belief had not ended before
};

// The reigns of one process. Fails the test where it works without being elected, or after it has
// said that it does not lead any more.
std::vector<Reign> ReignsOf(const std::string& candidate, const std::vector<Line>& lines);

// Fails the test where two reigns share a term or a moment, or a later one has the lower term.
void ExpectOneLeaderAtATime(std::vector<Reign> reigns);

// Fails the test where an observer missed a change, or got one twice or too early, or where two got
// different ones. The key is the observer's name.
void ExpectOneHistory(const std::map<std::string, std::vector<Line>>& lines_by_observer);

}  // namespace tenure::testing
