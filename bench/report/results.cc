#include "bench/report/results.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "bench/report/statistics.h"

namespace tenure::bench {
namespace {

using enum Goal::Sense;

Goal Of(Goal::Sense sense, double times, Column column) { return {sense, times, column}; }
Goal Of(Goal::Sense sense, double times, RowId row) { return {sense, times, row}; }
Goal AtMost(double limit) { return {kAtMost, limit, Goal::RowUnit{}}; }

// Whether Tenure, or the system that it is compared with, could not do the work as planned.
bool Spoiled(const Row& row, const Goal& goal) {
  const auto* other = std::get_if<Column>(&goal.of);
  return row.spoiled.contains(Column::kTenure) ||
         (other != nullptr && row.spoiled.contains(*other));
}

std::string Thousands(int64_t whole) {
  std::string digits = std::to_string(whole);
  for (auto place = static_cast<int64_t>(digits.size()) - 3; place > 0; place -= 3) {
    digits.insert(static_cast<size_t>(place), ",");
  }
  return digits;
}

}  // namespace

std::string Name(Column column) {
  switch (column) {
    case Column::kTenure: return "Tenure";
    case Column::kTenureBySocket: return "Tenure by socket";
    case Column::kTenureOnMySql: return "Tenure on MySQL";
    case Column::kEtcd: return "etcd";
    case Column::kZooKeeper: return "ZooKeeper";
  }
  return "";
}

std::optional<double> Row::Value(Column column) const {
  const auto found = rounds.find(column);
  if (found == rounds.end() || found->second.empty()) return std::nullopt;
  return summary == Summary::kMedian ? Median(found->second) : std::ranges::max(found->second);
}

Row& Results::At(RowId id) {
  const auto row = std::ranges::find(rows, id, &Row::id);
  if (row == rows.end()) throw std::out_of_range("there is no such row");
  return *row;
}

const Row& Results::At(RowId id) const { return const_cast<Results&>(*this).At(id); }

Verdict Results::Judge(const Row& row, const Goal& goal) const {
  std::optional<double> reference = 1;
  std::string what = " " + row.unit;
  if (const auto* column = std::get_if<Column>(&goal.of)) {
    reference = row.Value(*column);
    what = " x " + Name(*column);
  } else if (const auto* other = std::get_if<RowId>(&goal.of)) {
    reference = At(*other).Value(Column::kTenure);
    what = " x " + At(*other).work;
  }
  const auto tenure = row.Value(Column::kTenure);
  Verdict verdict{.goal = (goal.sense == kAtLeast ? "at least " : "at most ") +
                          FigureText(goal.times) + what};
  if (!reference || *reference <= 0) return verdict;
  verdict.bound = *reference * goal.times;
  if (!tenure) return verdict;
  verdict.measured = *tenure / *reference;
  const bool reached =
      goal.sense == kAtLeast ? *verdict.measured >= goal.times : *verdict.measured <= goal.times;
  verdict.met = reached && !Spoiled(row, goal);
  return verdict;
}

bool Results::Met(const Row& row) const {
  return std::ranges::all_of(row.goals, [&](const Goal& goal) { return Judge(row, goal).met; });
}

bool Results::AllMet() const {
  return std::ranges::all_of(rows, [&](const Row& row) { return Met(row); });
}

Results NoResults() {
  using enum RowId;
  using enum Row::Summary;
  return {{
      {kCycles1,
       "campaign + resign, 1 in flight, median",
       "ms",
       kMedian,
       {Of(kAtMost, 1.2, Column::kEtcd)}},
      {kCycles8,
       "campaign + resign, 8 in flight",
       "cycles/s",
       kMedian,
       {Of(kAtLeast, 0.9, Column::kEtcd)}},
      {kCycles32,
       "campaign + resign, 32 in flight",
       "cycles/s",
       kMedian,
       {Of(kAtLeast, 1.1, Column::kEtcd), Of(kAtLeast, 1.1, Column::kZooKeeper)}},
      {kCycleProcessor,
       "campaign + resign, processor time of the server",
       "us/cycle",
       kMedian,
       {Of(kAtMost, 1, Column::kEtcd)}},
      {kReads,
       "linearizable leader reads, 32 in flight",
       "reads/s",
       kMedian,
       {Of(kAtLeast, 1.2, Column::kEtcd)}},
      {kReadProcessor, "leader reads, processor time of the server", "us/read", kMedian, {}},
      {kKeepAlives,
       "keepalives, 32 in flight",
       "renewals/s",
       kMedian,
       {Of(kAtLeast, 1.3, Column::kEtcd)}},
      {kKeepAliveProcessor, "keepalives, processor time of the server", "us/renewal", kMedian, {}},
      {kHandOver,
       "resign to next told, 100 wait, median",
       "ms",
       kMedian,
       {Of(kAtMost, 1.3, Column::kEtcd)}},
      {kHandOverElsewhere,
       "the same, next on another of 3 replicas, p99",
       "ms",
       kMedian,
       {AtMost(5)}},
      {kReplicaCycles,
       "campaign + resign on 3 replicas, 32 in flight",
       "cycles/s",
       kMedian,
       {Of(kAtLeast, 0.9, kCycles32)}},
      {kHandOverElsewhereLoaded,
       "meanwhile: resign to next told on another replica, p99",
       "ms",
       kMedian,
       {}},
      {kOpenCampaignP50, "open loop: campaign, p50", "ms", kMedian, {}},
      {kOpenCampaignP99,
       "open loop: campaign, p99",
       "ms",
       kMedian,
       {Of(kAtMost, 1, Column::kEtcd)}},
      {kOpenCampaignP999, "open loop: campaign, p99.9", "ms", kMedian, {}},
      {kOpenResignP50, "open loop: resign, p50", "ms", kMedian, {}},
      {kOpenResignP99, "open loop: resign, p99", "ms", kMedian, {}},
      {kOpenResignP999, "open loop: resign, p99.9", "ms", kMedian, {}},
      {kCrash, "crash to next told, 800 wait, worst", "ms", kWorst, {AtMost(2100)}},
      {kHandOverLongQueue,
       "resign to next told, 10,000 wait, median",
       "ms",
       kMedian,
       {Of(kAtMost, 2, kHandOver)}},
      {kObservers, "10,000 observers: first to last told, worst", "ms", kWorst, {AtMost(1000)}},
      {kIdle, "statements of an idle replica", "per s", kMedian, {AtMost(5)}},
      {kIdleWithMany, "with 1,000 elections, waiters, observers", "per s", kMedian, {AtMost(5)}},
  }};
}

std::string FigureText(double value) {
  if (value >= 100) return Thousands(std::llround(value));
  std::string text = value >= 10 ? fmt::format("{:.1f}", value) : fmt::format("{:.2f}", value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

}  // namespace tenure::bench
