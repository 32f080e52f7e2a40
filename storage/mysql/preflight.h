// Whether this program could serve with a database, asked without changing it.
#pragma once

#include <string>
#include <vector>

#include "storage/mysql/connection.h"

namespace tenure::mysql {

// What keeps the user of this connection from serving: its schema, or rights that are missing; each
// is one sentence. If it `migrates`, an old schema is no fault, and rights to change it are needed.
// Does not see rights to routines that come from a role. Throws MySqlError.
[[nodiscard]] std::vector<std::string> FaultsOf(Connection& connection, bool migrates);

}  // namespace tenure::mysql
