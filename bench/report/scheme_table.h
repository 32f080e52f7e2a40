// The cost of electing leaders by different schemes on one database, and how long their elections
// take: a row for each scheme, number of candidates and number of elections.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "bench/report/sheet.h"

namespace tenure::bench {

// The cost while the leaders hold their seats.
struct SteadyCost {
  double statements_per_second = 0;
  double database_processors = 0;
  std::optional<double> tenured_processors = {};
  double log_bytes_per_second = 0;  // of the binary log
  double connections = 0;           // to the database
  uint64_t new_leaders = 0;         // expected: none
  uint64_t failed_statements = 0;   // because of deadlocks, for example
};

// How leaders lose their seats: one figure for each time, in ms. All empty if not measured.
struct SeatLosses {
  std::vector<double> crash_ms;    // from the crash until the next leader knows
  std::vector<double> resign_ms;   // from the resignation until the next leader knows
  std::vector<double> overlap_ms;  // how long it kept working beside the next leader; 0: not at all
};

struct SchemeRow {
  std::string scheme;
  size_t candidates;
  size_t elections;
  SteadyCost cost;
  SeatLosses losses = {};
};

struct SchemeTable {
  std::vector<SchemeRow> rows;
  std::vector<std::string> remarks;  // for people: what the rows do not show
};

// Medians. Below the table, also the rows with new leaders or failed statements.
[[nodiscard]] Sheet ToSheet(const SchemeTable& table);
// With every single figure.
[[nodiscard]] nlohmann::ordered_json ToJson(const SchemeTable& table);

}  // namespace tenure::bench
