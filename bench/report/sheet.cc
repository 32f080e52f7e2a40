#include "bench/report/sheet.h"

#include <fmt/format.h>

namespace tenure::bench {
namespace {

std::string WithRemarks(const std::vector<std::string>& lines, const Sheet& sheet) {
  std::string text = fmt::format("{}\n", fmt::join(lines, "\n"));
  for (const std::string& remark : sheet.remarks) text += "\n" + remark + "\n";
  return text;
}

}  // namespace

std::string Sheet::Text() const { return WithRemarks(table.Lines(), *this); }

std::string Sheet::Markdown() const { return WithRemarks(table.MarkdownLines(), *this); }

Sheet ToSheet(const Results& results) {
  Table table({{.title = "work"},
               {.title = "unit"},
               {.title = Name(Column::kTenure), .align = Align::kRight},
               {.title = Name(Column::kEtcd), .align = Align::kRight},
               {.title = Name(Column::kZooKeeper), .align = Align::kRight},
               {.title = "goal"},
               {.title = "is"},
               {.title = ""}});
  for (const Row& row : results.rows) {
    std::vector<std::string> cells = {row.work, row.unit};
    for (const Column column : kColumns) {
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
  return {table};
}

}  // namespace tenure::bench
