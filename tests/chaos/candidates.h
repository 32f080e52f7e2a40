// One of the run's many processes of candidates on the C++ library. Each candidate stands in one
// election; while it believes that it leads, it says so, and writes to a table behind the fence.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tenure::testing {

struct CandidatesOptions {
  std::string endpoints;               // of all replicas
  std::vector<std::string> databases;  // of each server, the URL of the application's database
  std::string name;                    // of the process
  std::vector<std::string> elections;  // a candidate for each
  uint64_t seed = 1;
};

// The table that the leaders write to: their writes in each election, by number.
inline constexpr char kMakeWrites[] =
    "CREATE TABLE writes (election VARCHAR(64), number BIGINT UNSIGNED,"
    " term BIGINT UNSIGNED NOT NULL, PRIMARY KEY (election, number)) ENGINE = InnoDB";

// Leaders of these elections keep their seats for as long as they can; those of others give them up
// after a moment.
inline constexpr char kSteady[] = "steady-";

// Runs until SIGTERM, and reports what happens on standard output, in the lines of history.h.
int RunCandidates(const CandidatesOptions& options);

}  // namespace tenure::testing
