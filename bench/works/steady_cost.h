// The cost of a scheme for its database while the leaders hold their seats.
#pragma once

#include "bench/report/scheme_table.h"
#include "bench/works/contest.h"
#include "tests/support/database_server.h"

namespace tenure::bench {

// Throws std::runtime_error if an election has no leader in time.
[[nodiscard]] SteadyCost MeasureSteadyCost(Venue& venue, const testing::DatabaseServer& database,
                                           const ContestPlan& plan,
                                           std::chrono::milliseconds window);

}  // namespace tenure::bench
