#include "command_line/table.h"

#include <algorithm>
#include <numeric>

#include "base/text.h"

namespace tenure {
namespace {

constexpr size_t kGap = 2;

}  // namespace

void Table::Add(std::vector<std::string> cells) {
  for (std::string& cell : cells) cell = Printable(cell);
  rows_.push_back(std::move(cells));
}

std::vector<std::string> Table::Lines(size_t width) const {
  const std::vector<size_t> widths = Widths(width);
  std::vector<std::string> titles;
  for (const Column& column : columns_) titles.push_back(column.title);
  std::vector<std::string> lines = {CutTo(Line(titles, widths), width)};
  for (const auto& row : rows_) lines.push_back(CutTo(Line(row, widths), width));
  return lines;
}

std::vector<std::string> Table::MarkdownLines() const {
  std::string titles = "|";
  std::string rule = "|";
  for (const Column& column : columns_) {
    titles += " " + column.title + " |";
    rule += column.align == Align::kRight ? " ---: |" : " --- |";
  }
  std::vector<std::string> lines = {titles, rule};
  for (const auto& row : rows_) {
    std::string& line = lines.emplace_back("|");
    for (const std::string& cell : row) line += " " + cell + " |";
  }
  return lines;
}

std::vector<size_t> Table::Widths(size_t width) const {
  std::vector<size_t> widths;
  for (size_t i = 0; i < columns_.size(); ++i) {
    const Column& column = columns_[i];
    size_t widest = std::max(WidthOf(column.title), column.width_min);
    for (const auto& row : rows_) widest = std::max(widest, WidthOf(row[i]));
    widths.push_back(std::min(widest, column.width_max));
  }
  size_t total = std::accumulate(widths.begin(), widths.end(), kGap * (widths.size() - 1));
  // The widest elastic column shrinks first.
  while (total > width) {
    size_t* widest = nullptr;
    for (size_t i = 0; i < columns_.size(); ++i) {
      const bool gives = columns_[i].elastic && widths[i] > WidthOf(columns_[i].title);
      if (gives && (widest == nullptr || widths[i] > *widest)) widest = &widths[i];
    }
    if (widest == nullptr) break;
    --*widest;
    --total;
  }
  return widths;
}

std::string Table::Line(const std::vector<std::string>& cells,
                        const std::vector<size_t>& widths) const {
  std::string line;
  for (size_t i = 0; i < cells.size(); ++i) {
    if (i > 0) line.append(kGap, ' ');
    std::string cell = CutTo(cells[i], widths[i]);
    line += columns_[i].align == Align::kRight ? PadBefore(std::move(cell), widths[i])
                                               : PadAfter(std::move(cell), widths[i]);
  }
  line.resize(line.find_last_not_of(' ') + 1);
  return line;
}

}  // namespace tenure
