// Works that only Tenure does.
#pragma once

#include <string>
#include <vector>

#include "bench/systems/tenure_system.h"
#include "bench/works/observers.h"
#include "tests/support/database_server.h"

namespace tenure::bench {

// In a new election that these observers watch, a leader is elected and resigns, `rounds` times.
// Returns, for each event, the time in ms from the first observer that gets it to the last. Throws
// if one misses an event.
[[nodiscard]] std::vector<double> MeasureTelling(TenureSystem& system, Observers& observers,
                                                 const std::string& election, size_t rounds);

// The number of SQL statements sent to a database server.
[[nodiscard]] uint64_t CountStatements(const testing::DatabaseServer& database);

// The SQL statements per second sent to a database server in this time.
[[nodiscard]] double MeasureStatements(const testing::DatabaseServer& database,
                                       std::chrono::milliseconds duration);

// The same, with given numbers of elections, each with a leader; of candidates waiting in another
// election; and of observers of that one. Nothing happens meanwhile.
[[nodiscard]] double MeasureStatementsWithMany(TenureSystem& system,
                                               const testing::DatabaseServer& database,
                                               const std::string& label, size_t many,
                                               std::chrono::milliseconds duration);

}  // namespace tenure::bench
