// The exit codes of `tenure`: the same number means the same with every command. 0 is success.
#pragma once

#include <grpcpp/support/status.h>

namespace tenure {

inline constexpr int kExitError = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitNotElected = 3;
inline constexpr int kExitLost = 4;
inline constexpr int kExitNotFound = 5;
inline constexpr int kExitRefused = 6;  // as things stand; look again
// Of a command that cannot be run, as shells have it.
inline constexpr int kExitCannotRun = 126;
inline constexpr int kExitNoCommand = 127;

// Of a call that failed.
[[nodiscard]] int ExitCodeOf(const grpc::Status& status);

}  // namespace tenure
