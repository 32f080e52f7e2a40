// Results as a picture: a panel of bars for each row that compares systems.
#pragma once

#include <string>

#include "bench/report/results.h"

namespace tenure::bench {

// An SVG document. Each bar is a system's figure, with its smallest and largest round; a dashed
// line is what Tenure has to reach.
[[nodiscard]] std::string Plot(const Results& results);

}  // namespace tenure::bench
