// Standard output and standard error, and what to do if writing fails: a full disk, or a pipe
// without a reader. REQUIRES: SIGPIPE is ignored. Thread-safe.
#pragma once

#include <string>

namespace tenure {

// Writes all buffered output.
void FlushOutput();
// Whether a write has ever failed.
[[nodiscard]] bool OutputFailed();
// Why it failed, as a sentence; empty if all was written.
[[nodiscard]] std::string FaultOfOutput();

// Writes a line to standard error, after all earlier output to standard output, unless that is a
// full pipe. Drops the line if nobody has read standard error for a second. Does not use std::cerr,
// whose lock a thread that waits for a reader may hold forever.
void WriteError(std::string line);
// The same, but leaves standard output alone.
void WriteErrorAlone(std::string line);

}  // namespace tenure
