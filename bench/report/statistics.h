// Summaries of many measurements of one thing.
#pragma once

#include <vector>

namespace tenure::bench {

// The middle value, or the mean of the two in the middle. REQUIRES: at least one value.
[[nodiscard]] double Median(std::vector<double> values);

// The smallest value that at least this share of all values does not exceed. REQUIRES: at least one
// value, and 0 < share <= 1.
[[nodiscard]] double Percentile(std::vector<double> values, double share);

}  // namespace tenure::bench
