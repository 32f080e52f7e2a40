// Standard output and standard error, and what to do if they cannot be written: a full disk, or a
// pipe that nobody reads. REQUIRES: SIGPIPE is ignored. Thread-safe.
#pragma once

#include <string>

namespace tenure {

// Writes what is left.
void FlushOutput();
// Whether something could not be written, now or earlier.
[[nodiscard]] bool OutputFailed();
// Why, as a sentence; empty if all was written.
[[nodiscard]] std::string FaultOfOutput();

// Writes a line to standard error, after what was written to standard output, unless that is a pipe
// that is full. Drops the line if nobody has read standard error for a second. Not by std::cerr,
// whose lock a thread that waits for a reader may hold for good.
void WriteError(std::string line);

}  // namespace tenure
