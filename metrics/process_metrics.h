// How much of its machine this process uses, under the names that client libraries of Prometheus
// share: process_cpu_seconds_total, process_open_fds and so on.
#pragma once

#include <prometheus/metric_family.h>

#include <vector>

namespace tenure {

// Reads /proc now. Leaves out metrics that cannot be read. Thread-safe.
[[nodiscard]] std::vector<prometheus::MetricFamily> CollectProcessMetrics();

}  // namespace tenure
