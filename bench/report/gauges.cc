#include "bench/report/gauges.h"

#include <ctime>
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
