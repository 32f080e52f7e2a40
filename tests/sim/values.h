// What clients advertise: "p3/17" is the value of a candidacy of priority 3. So the event of a
// grant shows the priority of the elected candidate.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>

namespace tenure::sim {

inline std::string ValueWith(int32_t priority, uint64_t number) {
  return "p" + std::to_string(priority) + "/" + std::to_string(number);
}

inline int32_t PriorityIn(const std::string& value) {
  return value.empty() ? 0 : static_cast<int32_t>(std::strtol(value.c_str() + 1, nullptr, 10));
}

}  // namespace tenure::sim
