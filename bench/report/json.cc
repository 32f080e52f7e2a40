#include "bench/report/json.h"

#include "bench/report/statistics.h"

namespace tenure::bench {
namespace {

using Json = nlohmann::ordered_json;

Json OrNull(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

}  // namespace

Json ToJson(const Results& results) {
  Json rows = Json::array();
  for (const Row& row : results.rows) {
    Json figures = Json::object();
    for (const auto& [column, rounds] : row.rounds) {
      figures[Name(column)] = {{"value", OrNull(row.Value(column))}, {"rounds", rounds}};
    }
    for (const auto& [what, columns] : row.also) {
      for (const auto& [column, rounds] : columns) figures[Name(column)][what] = Median(rounds);
    }
    for (const Column column : row.spoiled) figures[Name(column)]["spoiled"] = true;
    Json goals = Json::array();
    for (const Goal& goal : row.goals) {
      const Verdict verdict = results.Judge(row, goal);
      goals.push_back({{"goal", verdict.goal},
                       {"bound", OrNull(verdict.bound)},
                       {"is", OrNull(verdict.measured)},
                       {"met", verdict.met}});
    }
    rows.push_back({{"work", row.work},
                    {"unit", row.unit},
                    {"summary", row.summary == Row::Summary::kMedian ? "median" : "worst"},
                    {"figures", figures},
                    {"goals", goals}});
  }
  return {{"met", results.AllMet()}, {"rows", rows}, {"remarks", results.remarks}};
}

}  // namespace tenure::bench
