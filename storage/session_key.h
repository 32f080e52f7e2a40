// The random key of a database from which the ids of sessions are derived.
#pragma once

#include <string>

#include "core/error.h"

namespace tenure {

// 256 bits of the kernel's generator. Error: kStoreUnavailable, if it has none.
[[nodiscard]] Result<std::string> NewSessionKey();

}  // namespace tenure
