#include "bench/commands/homegrown_command.h"

#include <iostream>
#include <string>

#include "bench/systems/sql_scheme.h"
#include "bench/works/seat_losses.h"
#include "bench/works/sql_venue.h"
#include "bench/works/steady_cost.h"
#include "bench/works/tenure_venue.h"

namespace tenure::bench {
namespace {

using namespace std::chrono_literals;

constexpr auto kStopped = 3s;  // for a scheme whose seat is held by the connection

class Homegrown {
 public:
  explicit Homegrown(const HomegrownPlan& plan)
      : plan_(plan), database_(testing::DatabaseServer::Engine::kMariaDb) {
    database_.StartWith({"--log-bin", "--max-connections=1500"});
  }

  SchemeTable ToItsEnd() {
    Remark(Settings());
    for (const SqlScheme& scheme : SqlSchemes()) {
      MeasureEach([&] { return SqlVenue(database_, scheme); });
      if (scheme.held_by_connection) MeasureStop(scheme);
    }
    for (const auto lease : plan_.leases) {
      MeasureEach([&] { return TenureVenue(database_, lease); });
    }
    return table_;
  }

 private:
  void Remark(std::string remark) { table_.remarks.push_back(std::move(remark)); }

  [[nodiscard]] std::string Settings() const {
    return "The database: MariaDB " +
           database_.Ask(
               "SELECT CONCAT(VERSION(), ', log_bin=', @@log_bin, ', binlog_format=', "
               "@@binlog_format, ', sync_binlog=', @@sync_binlog, "
               "', innodb_flush_log_at_trx_commit=', @@innodb_flush_log_at_trx_commit, "
               "', max_connections=', @@max_connections)") +
           ", all as shipped, but for log_bin and max_connections.";
  }

  // Each in its own venue, so that nothing of an earlier one is left.
  template <typename MakeVenue>
  void MeasureEach(const MakeVenue& make) {
    for (const SchemeShape& shape : plan_.shapes) {
      auto venue = make();
      MeasureShape(venue, shape);
    }
  }

  void MeasureShape(Venue& venue, const SchemeShape& shape) {
    const std::string label =
        std::to_string(shape.candidates) + "-for-" + std::to_string(shape.elections);
    std::cerr << "tenure-bench: " << venue.name() << ": " << label << std::endl;
    SchemeRow row{
        .scheme = venue.name(),
        .candidates = shape.candidates,
        .elections = shape.elections,
        .cost = MeasureSteadyCost(
            venue, database_,
            {.label = label, .candidates = shape.candidates, .elections = shape.elections},
            plan_.window)};
    if (shape.losses) {
      row.losses = MeasureSeatLosses(
          venue, {.label = label, .candidates = shape.candidates, .count = plan_.losses});
    }
    table_.rows.push_back(std::move(row));
  }

  void MeasureStop(const SqlScheme& scheme) {
    SqlVenue venue(database_, scheme);
    const bool replaced = ReplacesAStoppedHolder(venue, "stopped", kStopped);
    Remark(venue.name() +
           ": 'two led' is after the server has ended the leader's connection. A leader that was "
           "stopped for " +
           std::to_string(kStopped.count()) + " s " +
           (replaced ? "was replaced." : "kept its seat, and nobody worked."));
  }

  const HomegrownPlan plan_;
  testing::DatabaseServer database_;
  SchemeTable table_;
};

}  // namespace

HomegrownPlan FullHomegrownPlan() {
  return {.shapes = {{.candidates = 10, .elections = 1, .losses = true},
                     {.candidates = 100, .elections = 1, .losses = true},
                     {.candidates = 1'000, .elections = 1, .losses = false},
                     {.candidates = 100, .elections = 100, .losses = false},
                     {.candidates = 1'000, .elections = 100, .losses = false}},
          .leases = {2s, 10s},
          .window = 10s,
          .losses = 3};
}

HomegrownPlan QuickHomegrownPlan() {
  return {.shapes = {{.candidates = 10, .elections = 1, .losses = true},
                     {.candidates = 1'000, .elections = 100, .losses = false}},
          .leases = {2s},
          .window = 5s,
          .losses = 1};
}

SchemeTable MeasureHomegrown(const HomegrownPlan& plan) { return Homegrown(plan).ToItsEnd(); }

}  // namespace tenure::bench
