// Saves what was decided about a loaded docket.
#pragma once

#include <optional>
#include <vector>

#include "core/docket.h"
#include "storage/sqlite/connection.h"
#include "storage/store.h"

namespace tenure::sqlite {

// REQUIRES: the transaction in which `loaded` was loaded. Answers with its position in each lane
// in which it wrote events. Throws if the lanes are not where `stand` says.
[[nodiscard]] std::vector<LanePosition> Save(Connection& connection, const Docket& loaded,
                                             const Docket& decided,
                                             const std::optional<Stand>& stand);

}  // namespace tenure::sqlite
