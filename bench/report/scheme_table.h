// What it costs to elect leaders by different schemes on one database, and how long their
// elections take: a row for each scheme, number of candidates and number of elections.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "bench/report/sheet.h"

namespace tenure::bench {

// While the leaders hold their seats.
struct SteadyCost {
  double statements_per_second = 0;
  double database_processors = 0;
  std::optional<double> tenured_processors = {};
  double log_bytes_per_second = 0;  // of the binary log
  double connections = 0;           // to the database
  uint64_t new_leaders = 0;         // there should be none
  uint64_t failed_statements = 0;   // by a deadlock, for example
};

// Of a leader; a figure for each time, in ms. All are empty if this was not measured.
struct SeatLosses {
  std::vector<double> crash_ms;    // from its crash until the next one knows
  std::vector<double> resign_ms;   // from its resignation until the next one knows
  std::vector<double> overlap_ms;  // how long it worked on beside the next one; 0: it did not
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
  std::vector<std::string> remarks;  // for people: what the rows do not say
};

// Medians. Under the table, also which rows had new leaders or failed statements.
[[nodiscard]] Sheet ToSheet(const SchemeTable& table);
// With the figure of each time.
[[nodiscard]] nlohmann::ordered_json ToJson(const SchemeTable& table);

}  // namespace tenure::bench
