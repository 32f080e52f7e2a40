// Collects the figures of a run, and reports each on standard error.
#pragma once

#include <string>
#include <vector>

#include "bench/report/results.h"
#include "bench/systems/servers.h"
#include "bench/works/closed_loop.h"

namespace tenure::bench {

// For one thread.
class Ledger {
 public:
  explicit Ledger(size_t rounds) : rounds_(rounds) {}

  void BeginRound(size_t round) { round_ = round; }
  [[nodiscard]] size_t round() const { return round_; }
  // A unique name for the elections of this row and round.
  [[nodiscard]] std::string Label(RowId row) const;

  void Note(RowId id, Column column, double figure);
  // Figures that are not judged.
  void NoteAlso(RowId id, Column column, const std::string& what, double figure);
  void NoteLatencies(RowId id, Column column, const Throughput& done);
  // Processor time per operation of each program, between the first and the last of these. Returns
  // the sum without the generator, in us.
  double NoteProcessorTime(RowId id, Column column, const std::vector<CpuTimes>& used,
                           double operations);
  // This system could not do the work of the row as planned.
  void Spoil(RowId id, Column column) { results_.At(id).spoiled.insert(column); }
  void Remark(std::string text);

  [[nodiscard]] const Results& results() const { return results_; }

 private:
  const size_t rounds_;
  size_t round_ = 0;
  Results results_ = NoResults();
};

}  // namespace tenure::bench
