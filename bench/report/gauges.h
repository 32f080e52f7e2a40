// Readings of a running program from outside.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>

namespace tenure::bench {

// The sum of a metric over its labels, on a Prometheus page. Throws std::runtime_error if the
// metric is missing.
[[nodiscard]] double MetricOnPage(const std::string& page, const std::string& name);

// The processor time used by a process. Throws std::runtime_error if there is no such process.
[[nodiscard]] std::chrono::microseconds ProcessorTime(pid_t process);

}  // namespace tenure::bench
