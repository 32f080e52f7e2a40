#include "bench/report/scheme_table.h"

#include <algorithm>

#include "bench/report/results.h"
#include "bench/report/statistics.h"

namespace tenure::bench {
namespace {

constexpr double kKilobyte = 1024;

std::string CountText(size_t count) { return FigureText(static_cast<double>(count)); }

// A share of one processor. 0 only for a program that used none.
std::string ProcessorText(double processors) {
  constexpr double kLeast = 0.01;
  return processors > 0 && processors < kLeast / 2 ? "< 0.01" : FigureText(processors);
}

std::string MedianText(const std::vector<double>& times_ms) {
  return times_ms.empty() ? "" : FigureText(Median(times_ms));
}

std::vector<double> Overlaps(const SeatLosses& losses) {
  std::vector<double> overlaps;
  std::ranges::copy_if(losses.overlap_ms, std::back_inserter(overlaps),
                       [](double overlap) { return overlap > 0; });
  return overlaps;
}

// How often two processes led at once, and for how long.
std::string OverlapText(const SeatLosses& losses) {
  if (losses.overlap_ms.empty()) return "";
  const auto overlaps = Overlaps(losses);
  const std::string times =
      std::to_string(overlaps.size()) + " of " + std::to_string(losses.overlap_ms.size());
  return overlaps.empty() ? times : times + ", " + MedianText(overlaps) + " ms";
}

void AddRow(Table& table, const SchemeRow& row) {
  const SteadyCost& cost = row.cost;
  table.Add({row.scheme, CountText(row.candidates), CountText(row.elections),
             FigureText(cost.statements_per_second), ProcessorText(cost.database_processors),
             cost.tenured_processors ? ProcessorText(*cost.tenured_processors) : "",
             FigureText(cost.log_bytes_per_second / kKilobyte), FigureText(cost.connections),
             MedianText(row.losses.crash_ms), MedianText(row.losses.resign_ms),
             OverlapText(row.losses)});
}

std::string RowText(const SchemeRow& row) {
  return row.scheme + ", " + CountText(row.candidates) + " candidates, " +
         CountText(row.elections) + (row.elections == 1 ? " election" : " elections");
}

void Remark(std::vector<std::string>& remarks, const SchemeRow& row) {
  if (row.cost.new_leaders > 0) {
    remarks.push_back("Leaders did not hold their seats: " + RowText(row) + ": " +
                      CountText(row.cost.new_leaders) + " new leaders");
  }
  if (row.cost.failed_statements > 0) {
    remarks.push_back("Statements failed: " + RowText(row) + ": " +
                      CountText(row.cost.failed_statements));
  }
}

nlohmann::ordered_json ToJson(const SchemeRow& row) {
  nlohmann::ordered_json json = {{"scheme", row.scheme},
                                 {"candidates", row.candidates},
                                 {"elections", row.elections},
                                 {"statements_per_second", row.cost.statements_per_second},
                                 {"database_processors", row.cost.database_processors},
                                 {"log_bytes_per_second", row.cost.log_bytes_per_second},
                                 {"connections", row.cost.connections},
                                 {"new_leaders", row.cost.new_leaders},
                                 {"failed_statements", row.cost.failed_statements}};
  if (row.cost.tenured_processors) json["tenured_processors"] = *row.cost.tenured_processors;
  if (!row.losses.crash_ms.empty()) {
    json["crash_ms"] = row.losses.crash_ms;
    json["resign_ms"] = row.losses.resign_ms;
    json["overlap_ms"] = row.losses.overlap_ms;
  }
  return json;
}

}  // namespace

Sheet ToSheet(const SchemeTable& table) {
  Sheet sheet{Table({{.title = "scheme"},
                     {.title = "candidates", .align = Align::kRight},
                     {.title = "elections", .align = Align::kRight},
                     {.title = "statements/s", .align = Align::kRight},
                     {.title = "processors: database", .align = Align::kRight},
                     {.title = "tenured", .align = Align::kRight},
                     {.title = "binary log KB/s", .align = Align::kRight},
                     {.title = "connections", .align = Align::kRight},
                     {.title = "crash to next ms", .align = Align::kRight},
                     {.title = "resign to next ms", .align = Align::kRight},
                     {.title = "two led"}}),
              table.remarks};
  for (const SchemeRow& row : table.rows) {
    AddRow(sheet.table, row);
    Remark(sheet.remarks, row);
  }
  return sheet;
}

nlohmann::ordered_json ToJson(const SchemeTable& table) {
  auto rows = nlohmann::ordered_json::array();
  for (const SchemeRow& row : table.rows) rows.push_back(ToJson(row));
  return {{"rows", rows}, {"remarks", table.remarks}};
}

}  // namespace tenure::bench
