// The exit codes of `tenure`, the same for all commands. 0 is success, and 2 is wrong usage
// (kExitUsage, command_line.h).
#pragma once

#include <grpcpp/support/status.h>

namespace tenure {

inline constexpr int kExitError = 1;
inline constexpr int kExitNotElected = 3;
inline constexpr int kExitLost = 4;
inline constexpr int kExitNotFound = 5;
inline constexpr int kExitRefused = 6;      // in the current state; look again
inline constexpr int kExitUnavailable = 7;  // no replica can serve
// `tenure run`: the command cannot be run. The same codes as a shell's.
inline constexpr int kExitCannotRun = 126;
inline constexpr int kExitNoCommand = 127;

// The exit code after a failed call.
[[nodiscard]] int ExitCodeOf(const grpc::Status& status);

}  // namespace tenure
