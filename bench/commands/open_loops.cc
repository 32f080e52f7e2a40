#include "bench/commands/open_loops.h"

#include <fmt/format.h>

#include "bench/report/statistics.h"
#include "bench/works/open_loop.h"

namespace tenure::bench {
namespace {

using enum RowId;

constexpr size_t kCandidates = 256;
constexpr double kShare = 0.5;  // of etcd's rate

// The rows, and the percentiles in them.
struct Share {
  RowId row;
  double share;
};
constexpr Share kCampaigns[] = {
    {kOpenCampaignP50, 0.5}, {kOpenCampaignP99, 0.99}, {kOpenCampaignP999, 0.999}};
constexpr Share kResigns[] = {
    {kOpenResignP50, 0.5}, {kOpenResignP99, 0.99}, {kOpenResignP999, 0.999}};

}  // namespace

std::optional<double> OpenLoopRate(const Results& results) {
  const auto capacity = results.At(kCycles32).Value(Column::kEtcd);
  return capacity ? std::optional(kShare * *capacity) : std::nullopt;
}

void NoteOpenLoop(Ledger& ledger, const Contender& contender, double cycles_per_second,
                  const Window& window) {
  const Column column = contender.column;
  std::vector<CpuTimes> used;
  OpenLoopPlan plan{cycles_per_second, kCandidates, window};
  plan.window.at_edge = [&] { used.push_back(contender.CpuTime()); };
  const OpenLoopTimes times =
      MeasureOpenLoop(*contender.system, ledger.Label(kOpenCampaignP50), plan);
  for (const auto& [row, share] : kCampaigns) {
    ledger.Note(row, column, Percentile(times.campaigns, share));
    ledger.NoteAlso(row, column, "begun late, ms", Percentile(times.lags, share));
    if (times.delayed > 0) ledger.Spoil(row, column);
  }
  for (const auto& [row, share] : kResigns) {
    ledger.Note(row, column, Percentile(times.resigns, share));
    if (times.delayed > 0) ledger.Spoil(row, column);
  }
  ledger.NoteProcessorTime(kOpenCampaignP50, column, used,
                           static_cast<double>(times.campaigns.size()));
  if (times.delayed == 0) return;
  ledger.Remark(fmt::format(
      "Open loop, round {}: {} of {} campaigns of {} were due when all {} candidates were busy. "
      "They "
      "had to wait, which is in their times, and no goal is met with these figures.",
      ledger.round() + 1, times.delayed, times.campaigns.size(), Name(column), kCandidates));
}

}  // namespace tenure::bench
