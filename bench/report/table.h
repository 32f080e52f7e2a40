// Results for people: one table, as text for a terminal or as Markdown.
#pragma once

#include <string>

#include "bench/report/results.h"

namespace tenure::bench {

// Columns are aligned with spaces. A row with several goals takes as many lines.
[[nodiscard]] std::string TextTable(const Results& results);

[[nodiscard]] std::string MarkdownTable(const Results& results);

}  // namespace tenure::bench
