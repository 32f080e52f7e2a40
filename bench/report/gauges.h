// What is read of a running program from outside.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>

namespace tenure::bench {

// The sum of one metric over its labels, on a page for Prometheus. Throws std::runtime_error if it
// is not there.
[[nodiscard]] double MetricOnPage(const std::string& page, const std::string& name);

// The processor time that a process has used. Throws std::runtime_error if there is no such
// process.
[[nodiscard]] std::chrono::microseconds ProcessorTime(pid_t process);

}  // namespace tenure::bench
