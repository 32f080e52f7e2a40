// `tenured check`.
#pragma once

#include "server/process/config.h"

namespace tenure::process {

// Prints whether tenured would serve: one line for each server, one for each warning and fault, and
// the verdict. Changes nothing. Returns the exit code.
[[nodiscard]] int Check(const ServerConfig& config);

}  // namespace tenure::process
