#include "bench/report/table.h"

#include <vector>

#include "bench/report/columns.h"

namespace tenure::bench {
namespace {

constexpr size_t kFirstFigure = 2;  // columns before it are texts, and so are those after the last
constexpr size_t kLastFigure = kFirstFigure + kColumns.size() - 1;

// The heading, and the lines of the table.
std::vector<Line> Lines(const Results& results) {
  Line heading = {"work", "unit"};
  for (const Column column : kColumns) heading.push_back(Name(column));
  heading.insert(heading.end(), {"goal", "is", ""});
  std::vector<Line> lines = {heading};
  for (const Row& row : results.rows) {
    Line line = {row.work, row.unit};
    for (const Column column : kColumns) {
      const auto value = row.Value(column);
      line.push_back(value ? FigureText(*value) : "");
    }
    if (row.goals.empty()) line.insert(line.end(), {"", "", ""});
    for (const Goal& goal : row.goals) {
      const Verdict verdict = results.Judge(row, goal);
      line.insert(line.end(),
                  {verdict.goal, verdict.measured ? FigureText(*verdict.measured) : "not measured",
                   verdict.met ? "met" : "MISSED"});
      lines.push_back(line);
      line.assign(heading.size() - 3, "");
    }
    if (row.goals.empty()) lines.push_back(line);
  }
  return lines;
}

bool HoldsFigures(size_t column) { return column >= kFirstFigure && column <= kLastFigure; }

}  // namespace

std::string TextTable(const Results& results) { return AlignedText(Lines(results), &HoldsFigures); }

std::string MarkdownTable(const Results& results) {
  return MarkdownText(Lines(results), &HoldsFigures);
}

}  // namespace tenure::bench
