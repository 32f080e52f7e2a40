// Text in aligned columns.
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

namespace tenure {

enum class Align { kLeft, kRight };

struct Column {
  std::string title;
  Align align = Align::kLeft;
  // In columns of the terminal. Wider text is cut.
  size_t width_max = std::numeric_limits<size_t>::max();
  size_t width_min = 0;
  // Shrinks if the whole table must be narrower, down to the width of its title.
  bool elastic = false;
};

// Not thread-safe.
class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // REQUIRES: one cell for each column. Makes the cells printable.
  void Add(std::vector<std::string> cells);
  [[nodiscard]] size_t size() const { return rows_.size(); }

  // The titles, then the rows. No line is wider than `width`, or ends with a blank.
  [[nodiscard]] std::vector<std::string> Lines(
      size_t width = std::numeric_limits<size_t>::max()) const;
  // As Markdown.
  [[nodiscard]] std::vector<std::string> MarkdownLines() const;

 private:
  [[nodiscard]] std::vector<size_t> Widths(size_t width) const;
  [[nodiscard]] std::string Line(const std::vector<std::string>& cells,
                                 const std::vector<size_t>& widths) const;

  const std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace tenure
