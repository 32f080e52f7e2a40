// Works that only Tenure is asked to do.
#pragma once

#include <string>
#include <vector>

#include "bench/systems/tenure_system.h"
#include "bench/works/observers.h"
#include "tests/support/database_server.h"

namespace tenure::bench {

// In an election in which nobody has stood, and which these observe, a leader is elected and
// resigns, `rounds` times. For each of the events, the time in ms from the first observer that is
// told to the last. Throws if one misses an event.
[[nodiscard]] std::vector<double> MeasureTelling(TenureSystem& system, Observers& observers,
                                                 const std::string& election, size_t rounds);

// The SQL statements that a database server was sent.
[[nodiscard]] uint64_t CountStatements(const testing::DatabaseServer& database);

// The SQL statements per second that a database server is sent, while this goes on.
[[nodiscard]] double MeasureStatements(const testing::DatabaseServer& database,
                                       std::chrono::milliseconds duration);

// The same, while there are given numbers of elections, each with a leader; of candidates that wait
// in another one; and of observers of that one. Nothing happens meanwhile.
[[nodiscard]] double MeasureStatementsWithMany(TenureSystem& system,
                                               const testing::DatabaseServer& database,
                                               const std::string& label, size_t many,
                                               std::chrono::milliseconds duration);

}  // namespace tenure::bench
