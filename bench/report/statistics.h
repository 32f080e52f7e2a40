// What is made of many measurements of one thing.
#pragma once

#include <vector>

namespace tenure::bench {

// The middle one, or the mean of the two in the middle. REQUIRES: there is one.
[[nodiscard]] double Median(std::vector<double> values);

// The smallest value that at least this share of all does not exceed. REQUIRES: there is one, and
// 0 < share <= 1.
[[nodiscard]] double Percentile(std::vector<double> values, double share);

}  // namespace tenure::bench
