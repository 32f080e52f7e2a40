#include "bench/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace tenure::bench {
namespace {

using Line = std::vector<std::string>;

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

bool IsFigure(size_t column) { return column >= kFirstFigure && column <= kLastFigure; }

}  // namespace

std::string TextTable(const Results& results) {
  const std::vector<Line> lines = Lines(results);
  std::string text;
  for (const Line& line : lines) {
    std::string out;
    for (size_t column = 0; column < line.size(); ++column) {
      const size_t width =
          std::ranges::max(lines, {},
                           [&](const Line& other) { return other[column].size(); })[column]
              .size();
      out += IsFigure(column) ? fmt::format("{:>{}}  ", line[column], width)
                              : fmt::format("{:<{}}  ", line[column], width);
    }
    out.resize(out.find_last_not_of(' ') + 1);
    text += out + "\n";
  }
  return text;
}

std::string MarkdownTable(const Results& results) {
  std::string text;
  const auto add = [&](const Line& line) {
    text += fmt::format("| {} |\n", fmt::join(line, " | "));
  };
  const std::vector<Line> lines = Lines(results);
  add(lines.front());
  Line rule;
  for (size_t column = 0; column < lines.front().size(); ++column) {
    rule.emplace_back(IsFigure(column) ? "---:" : "---");
  }
  add(rule);
  std::for_each(lines.begin() + 1, lines.end(), add);
  return text;
}

}  // namespace tenure::bench
