#include "bench/works/steady_cost.h"

#include <thread>

#include "bench/systems/mariadb_connection.h"

namespace tenure::bench {
namespace {

using Seconds = std::chrono::duration<double>;
using namespace std::chrono_literals;

constexpr auto kSettle = 2s;            // a period of each scheme, after the last candidate stands
constexpr uint64_t kOwnStatements = 2;  // for one reading
constexpr uint64_t kOwnConnections = 1;

// The server's counters for all connections.
class Counters {
 public:
  explicit Counters(int port) : connection_(port, "") {}

  uint64_t Status(const std::string& name) {
    return std::stoull(connection_.Run("SHOW GLOBAL STATUS LIKE '" + name + "'").Cell());
  }

  uint64_t LogBytes() {
    constexpr size_t kSizeColumn = 1;
    uint64_t bytes = 0;
    for (const auto& row : connection_.Run("SHOW BINARY LOGS").rows) {
      bytes += std::stoull(row.at(kSizeColumn));
    }
    return bytes;
  }

 private:
  MariaDbConnection connection_;
};

// A reading at one time. The statements include its own.
struct Reading {
  Reading(Counters& counters, Venue& venue)
      : log_bytes(counters.LogBytes()),
        cpu(venue.CpuTime()),
        at(Clock::now()),
        statements(counters.Status("Questions")) {}

  uint64_t log_bytes;
  CpuTimes cpu;
  Clock::time_point at;
  uint64_t statements;
};

double Per(double amount, Seconds duration) { return amount / duration.count(); }

}  // namespace

SteadyCost MeasureSteadyCost(Venue& venue, const testing::DatabaseServer& database,
                             const ContestPlan& plan, std::chrono::milliseconds window) {
  Counters counters(database.port());
  const auto contest = venue.Open(plan);
  for (size_t election = 0; election < plan.elections; ++election) (void)contest->NextLeader();
  std::this_thread::sleep_for(kSettle);

  const uint64_t failed_before = contest->failed_statements();
  const size_t leaders_before = contest->leaders().CountRest();
  const Reading before(counters, venue);
  std::this_thread::sleep_for(window);
  const Reading after(counters, venue);

  const Seconds duration = after.at - before.at;
  const auto processors = [&](const std::string& program) {
    return Per(Seconds(after.cpu.at(program) - before.cpu.at(program)).count(), duration);
  };
  SteadyCost cost{
      .statements_per_second =
          Per(static_cast<double>(after.statements - before.statements - kOwnStatements), duration),
      .database_processors = processors(kDatabaseProgram),
      .log_bytes_per_second =
          Per(static_cast<double>(after.log_bytes - before.log_bytes), duration),
      .connections = static_cast<double>(counters.Status("Threads_connected") - kOwnConnections),
      .new_leaders = contest->leaders().CountRest() - leaders_before,
      .failed_statements = contest->failed_statements() - failed_before};
  if (after.cpu.contains("tenured")) cost.tenured_processors = processors("tenured");
  return cost;
}

}  // namespace tenure::bench
