#include "bench/report/columns.h"

#include <fmt/format.h>

#include <algorithm>

namespace tenure::bench {

std::string AlignedText(const std::vector<Line>& lines, const IsFigure& is_figure) {
  std::vector<size_t> widths(lines.front().size());
  for (const Line& line : lines) {
    for (size_t column = 0; column < line.size(); ++column) {
      widths[column] = std::max(widths[column], line[column].size());
    }
  }
  std::string text;
  for (const Line& line : lines) {
    std::string out;
    for (size_t column = 0; column < line.size(); ++column) {
      out += is_figure(column) ? fmt::format("{:>{}}  ", line[column], widths[column])
                               : fmt::format("{:<{}}  ", line[column], widths[column]);
    }
    out.resize(out.find_last_not_of(' ') + 1);
    text += out + "\n";
  }
  return text;
}

std::string MarkdownText(const std::vector<Line>& lines, const IsFigure& is_figure) {
  std::string text;
  const auto add = [&](const Line& line) {
    text += fmt::format("| {} |\n", fmt::join(line, " | "));
  };
  add(lines.front());
  Line rule;
  for (size_t column = 0; column < lines.front().size(); ++column) {
    rule.emplace_back(is_figure(column) ? "---:" : "---");
  }
  add(rule);
  std::for_each(lines.begin() + 1, lines.end(), add);
  return text;
}

}  // namespace tenure::bench
