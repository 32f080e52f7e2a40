// Figures for people: a table with remarks below it.
#pragma once

#include <string>
#include <vector>

#include "bench/report/results.h"
#include "command_line/table.h"

namespace tenure::bench {

struct Sheet {
  Table table;
  std::vector<std::string> remarks = {};

  [[nodiscard]] std::string Text() const;
  [[nodiscard]] std::string Markdown() const;
};

// A row with several goals takes several lines.
[[nodiscard]] Sheet ToSheet(const Results& results);

}  // namespace tenure::bench
