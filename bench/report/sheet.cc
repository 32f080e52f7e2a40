#include "bench/report/sheet.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace tenure::bench {
namespace {

std::string WithRemarks(const std::vector<std::string>& lines, const Sheet& sheet) {
  std::string text = fmt::format("{}\n", fmt::join(lines, "\n"));
  for (const std::string& remark : sheet.remarks) text += "\n" + remark + "\n";
  return text;
}

// Every system, and the additional measurements.
std::vector<Column> ColumnsOf(const Results& results) {
  std::vector<Column> columns;
  std::ranges::copy_if(kColumns, std::back_inserter(columns), [&](Column column) {
    const bool measured = std::ranges::any_of(
        results.rows, [&](const Row& row) { return row.Value(column).has_value(); });
    return measured || std::ranges::find(kSystems, column) != kSystems.end();
  });
  return columns;
}

}  // namespace

std::string Sheet::Text() const { return WithRemarks(table.Lines(), *this); }

std::string Sheet::Markdown() const { return WithRemarks(table.MarkdownLines(), *this); }

Sheet ToSheet(const Results& results) {
  const std::vector<Column> columns = ColumnsOf(results);
  std::vector<tenure::Column> titles = {{.title = "work"}, {.title = "unit"}};
  for (const Column column : columns) {
    titles.push_back({.title = Name(column), .align = Align::kRight});
  }
  titles.insert(titles.end(), {{.title = "goal"}, {.title = "is"}, {.title = ""}});
  Table table(std::move(titles));
  for (const Row& row : results.rows) {
    std::vector<std::string> cells = {row.work, row.unit};
    for (const Column column : columns) {
      const auto value = row.Value(column);
      cells.push_back(value ? FigureText(*value) : "");
    }
    const size_t before_goals = cells.size();
    for (const Goal& goal : row.goals) {
      const Verdict verdict = results.Judge(row, goal);
      cells.insert(cells.end(),
                   {verdict.goal, verdict.measured ? FigureText(*verdict.measured) : "not measured",
                    verdict.met ? "met" : "MISSED"});
      table.Add(cells);
      cells.assign(before_goals, "");
    }
    if (row.goals.empty()) {
      cells.insert(cells.end(), {"", "", ""});
      table.Add(cells);
    }
  }
  return {table, results.remarks};
}

}  // namespace tenure::bench
