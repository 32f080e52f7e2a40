// Lines of cells as a table for people.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace tenure::bench {

using Line = std::vector<std::string>;
// Whether a column holds figures, which stand at its right.
using IsFigure = std::function<bool(size_t column)>;

// Columns are aligned with spaces. REQUIRES: all lines have as many cells as the first, the
// heading.
[[nodiscard]] std::string AlignedText(const std::vector<Line>& lines, const IsFigure& is_figure);

[[nodiscard]] std::string MarkdownText(const std::vector<Line>& lines, const IsFigure& is_figure);

}  // namespace tenure::bench
