#include "metrics/process_metrics.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <optional>
#include <sstream>
#include <string>
#include <utility>

namespace tenure {
namespace {

using prometheus::MetricType;

// The numbers of /proc/self/stat behind the name of the program (proc(5)).
struct Usage {
  double cpu_seconds = 0;
  double started_after_boot = 0;  // seconds
  double virtual_bytes = 0;
  double resident_bytes = 0;
};

std::optional<Usage> ReadUsage() {
  std::ifstream file("/proc/self/stat");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  std::istringstream behind_name(text.substr(std::min(text.size(), text.rfind(')') + 2)));
  const std::vector<std::string> fields{std::istream_iterator<std::string>(behind_name), {}};
  constexpr size_t kUserTicks = 11, kSystemTicks = 12, kStartTicks = 19, kVirtual = 20, kPages = 21;
  if (fields.size() <= kPages) return std::nullopt;
  const auto number = [&](size_t field) { return std::stod(fields[field]); };
  const auto ticks_per_second = static_cast<double>(sysconf(_SC_CLK_TCK));
  return Usage{(number(kUserTicks) + number(kSystemTicks)) / ticks_per_second,
               number(kStartTicks) / ticks_per_second, number(kVirtual),
               number(kPages) * static_cast<double>(sysconf(_SC_PAGESIZE))};
}

// Seconds since 1970.
std::optional<double> ReadBootTime() {
  std::ifstream file("/proc/stat");
  for (std::string name; file >> name;) {
    if (double seconds = 0; name == "btime" && file >> seconds) return seconds;
    file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return std::nullopt;
}

void Add(std::vector<prometheus::MetricFamily>& families, MetricType type, const char* name,
         const char* help, double value) {
  prometheus::ClientMetric metric;
  if (type == MetricType::Counter) {
    metric.counter.value = value;
  } else {
    metric.gauge.value = value;
  }
  families.push_back({name, help, type, {std::move(metric)}});
}

}  // namespace

std::vector<prometheus::MetricFamily> CollectProcessMetrics() {
  std::vector<prometheus::MetricFamily> families;
  if (const auto usage = ReadUsage()) {
    Add(families, MetricType::Counter, "process_cpu_seconds_total",
        "User and system time that this process has spent, in seconds.", usage->cpu_seconds);
    Add(families, MetricType::Gauge, "process_resident_memory_bytes", "Resident memory.",
        usage->resident_bytes);
    Add(families, MetricType::Gauge, "process_virtual_memory_bytes", "Virtual memory.",
        usage->virtual_bytes);
    if (const auto boot = ReadBootTime()) {
      Add(families, MetricType::Gauge, "process_start_time_seconds",
          "When this process started, in seconds since 1970.", *boot + usage->started_after_boot);
    }
  }
  std::error_code unreadable;
  const std::filesystem::directory_iterator descriptors("/proc/self/fd", unreadable);
  if (!unreadable) {
    Add(families, MetricType::Gauge, "process_open_fds", "Open file descriptors.",
        static_cast<double>(std::distance(begin(descriptors), end(descriptors))));
  }
  if (rlimit limit{}; getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    Add(families, MetricType::Gauge, "process_max_fds", "Maximum number of open file descriptors.",
        static_cast<double>(limit.rlim_cur));
  }
  return families;
}

}  // namespace tenure
