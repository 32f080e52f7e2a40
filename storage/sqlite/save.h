// Saves what was decided about a loaded docket.
#pragma once

#include <optional>

#include "core/docket.h"
#include "storage/sqlite/connection.h"
#include "storage/store.h"

namespace tenure::sqlite {

// REQUIRES: the transaction in which `loaded` was loaded. Throws if the lanes are not where `stand`
// says.
[[nodiscard]] Committed Save(Connection& connection, const Docket& loaded, const Docket& decided,
                             const std::optional<Stand>& stand);

}  // namespace tenure::sqlite
