// One worker: a process that adds to the shared set while it believes that it leads.
#pragma once

#include <cstdint>
#include <string>

namespace tenure::testing {

// The contest, and the set: one row of the application's own database.
inline constexpr char kGuardedElection[] = "guarded-set";
inline constexpr char kMakeSharedSet[] =
    "CREATE TABLE shared_set (id INT PRIMARY KEY, members MEDIUMTEXT NOT NULL)";
inline constexpr char kFillSharedSet[] = "INSERT INTO shared_set VALUES (1, '')";
inline constexpr char kReadSharedSet[] = "SELECT members FROM shared_set WHERE id = 1";
// Each member is followed by this.
inline constexpr char kAfterMember = ',';

struct WorkerOptions {
  std::string endpoints;  // of tenured
  std::string database;   // the store URL of the application's database
  uint64_t number = 0;    // less than `workers`: it adds the elements number, number + workers, ...
  uint64_t workers = 1;
  bool fenced = true;
  uint64_t seed = 1;
};

// The lines that a worker writes to standard output, as things happen.
inline constexpr char kAcknowledged[] = "acknowledged ";  // and the element, whose COMMIT succeeded
inline constexpr char kRefused[] = "refused ";            // by the fence
inline constexpr char kFailed[] = "failed ";              // for another reason, that follows

// The candidate that a worker stands as.
[[nodiscard]] std::string WorkerName(uint64_t number);

// Works until SIGTERM, and returns the exit code.
int RunWorker(const WorkerOptions& options);

}  // namespace tenure::testing
