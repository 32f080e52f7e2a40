// Standard output, and what to do if it cannot be written: a full disk, or a pipe that nobody
// reads. REQUIRES: SIGPIPE is ignored. Thread-safe.
#pragma once

#include <string>

namespace tenure {

// Writes what is left.
void FlushOutput();
// Whether something could not be written, now or earlier.
[[nodiscard]] bool OutputFailed();
// Why, as a sentence; empty if all was written.
[[nodiscard]] std::string FaultOfOutput();

}  // namespace tenure
