// What a service needs for the same work: memory, descriptors, rows, time. If that grows with its
// age, it will be too much some day.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "tests/chaos/history.h"
#include "tests/chaos/world.h"

namespace tenure::testing {

// Pure. Thread-safe.
class Vitals {
 public:
  void Note(const std::string& what, Nanoseconds at, double value);

  struct Course {
    std::string what;
    std::vector<double> medians;  // of parts of the same length, one after the other; not empty
    // From the first to the last by more than a twentieth.
    [[nodiscard]] bool grew() const;
  };
  // Of each thing that was noted, how it went in a time that is cut into parts of this length; what
  // is too short for one more is left out at the beginning. Throws std::runtime_error if something
  // was not noted in each of them.
  [[nodiscard]] std::vector<Course> Courses(Nanoseconds from, Nanoseconds until,
                                            Nanoseconds part) const;

 private:
  using Noted = std::vector<std::pair<Nanoseconds, double>>;

  mutable std::mutex mutex_;
  std::map<std::string, Noted> noted_;
};

// While it lives, it notes what the first replica and the tables of a world need, every few
// seconds, and, many times a second, how long a campaign with its resignation and a reading take
// there. What cannot be noted because of a fault is left out.
class VitalsRecorder {
 public:
  VitalsRecorder(World& world, Vitals& vitals);

 private:
  std::jthread needs_;
  std::jthread times_;
};

}  // namespace tenure::testing
