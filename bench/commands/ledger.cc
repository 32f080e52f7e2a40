#include "bench/commands/ledger.h"

#include <fmt/format.h>

#include <iostream>
#include <utility>

#include "bench/commands/contender.h"

namespace tenure::bench {

std::string Ledger::Label(RowId row) const {
  return fmt::format("work-{}-{}", static_cast<int>(row), round_);
}

void Ledger::Note(RowId id, Column column, double figure) {
  Row& row = results_.At(id);
  row.rounds[column].push_back(figure);
  std::cerr << fmt::format("tenure-bench: round {} of {}: {}: {}: {} {}", round_ + 1, rounds_,
                           row.work, Name(column), FigureText(figure), row.unit)
            << std::endl;
}

void Ledger::NoteAlso(RowId id, Column column, const std::string& what, double figure) {
  results_.At(id).also[what][column].push_back(figure);
}

void Ledger::NoteLatencies(RowId id, Column column, const Throughput& done) {
  NoteAlso(id, column, "median ms", done.median_ms);
  NoteAlso(id, column, "p99 ms", done.p99_ms);
}

double Ledger::NoteProcessorTime(RowId id, Column column, const std::vector<CpuTimes>& used,
                                 double operations) {
  double of_server = 0;
  for (const auto& [program, time] : used.back()) {
    const double each = static_cast<double>((time - used.front().at(program)).count()) / operations;
    NoteAlso(id, column, "processor time of " + program + ", us per operation", each);
    if (program != kGenerator) of_server += each;
  }
  return of_server;
}

void Ledger::Remark(std::string text) {
  std::cerr << "tenure-bench: " << text << std::endl;
  results_.remarks.push_back(std::move(text));
}

}  // namespace tenure::bench
