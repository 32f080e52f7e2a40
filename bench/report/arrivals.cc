#include "bench/report/arrivals.h"

namespace tenure::bench {

Schedule::TimePoint Schedule::Due(size_t arrival) const {
  const std::chrono::duration<double> after(static_cast<double>(arrival) / per_second_);
  return start_ + std::chrono::duration_cast<TimePoint::duration>(after);
}

Arrivals::Arrivals(size_t workers) : workers_(workers) {
  for (size_t worker = 0; worker < workers; ++worker) free_.push_back(worker);
}

std::optional<size_t> Arrivals::Arrive(size_t arrival) {
  if (free_.empty()) {
    delayed_.push_back(arrival);
    return std::nullopt;
  }
  const size_t worker = free_.front();
  free_.pop_front();
  return worker;
}

std::optional<size_t> Arrivals::Done(size_t worker) {
  if (delayed_.empty()) {
    free_.push_back(worker);
    return std::nullopt;
  }
  const size_t arrival = delayed_.front();
  delayed_.pop_front();
  return arrival;
}

}  // namespace tenure::bench
