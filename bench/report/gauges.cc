#include "bench/report/gauges.h"

#include <ctime>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace tenure::bench {

double MetricOnPage(const std::string& page, const std::string& name) {
  std::istringstream lines(page);
  double sum = 0;
  bool found = false;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(name + " ") && !line.starts_with(name + "{")) continue;
    sum += std::stod(line.substr(line.rfind(' ') + 1));
    found = true;
  }
  if (!found) throw std::runtime_error("there is no metric " + name);
  return sum;
}

double ResidentBytes(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/status");
  constexpr std::string_view kField = "VmRSS:";
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(kField)) return std::stod(line.substr(kField.size())) * 1024;
  }
  throw std::runtime_error("process " + std::to_string(process) + " is gone");
}

std::chrono::microseconds ProcessorTime(pid_t process) {
  clockid_t clock{};
  timespec time{};
  if (clock_getcpuclockid(process, &clock) != 0 || clock_gettime(clock, &time) != 0) {
    throw std::runtime_error("process " + std::to_string(process) + " is gone");
  }
  return std::chrono::duration_cast<std::chrono::microseconds>(
      std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec));
}

}  // namespace tenure::bench
