#include "bench/report/statistics.h"

#include <algorithm>
#include <cmath>

namespace tenure::bench {

double Median(std::vector<double> values) {
  std::ranges::sort(values);
  const size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

double Percentile(std::vector<double> values, double share) {
  const auto rank =
      static_cast<std::ptrdiff_t>(std::ceil(share * static_cast<double>(values.size())));
  const auto wanted = values.begin() + rank - 1;
  std::ranges::nth_element(values, wanted);
  return *wanted;
}

}  // namespace tenure::bench
