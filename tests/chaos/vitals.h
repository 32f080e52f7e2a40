// The resources that a service needs for the same work: memory, descriptors, rows, time. They must
// not grow with its age.
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
    // Whether the last median exceeds the first by more than a twentieth.
    [[nodiscard]] bool grew() const;
  };
  // The course of each series over a time that is cut into parts of this length; a remainder is
  // left out at the beginning. Throws std::runtime_error if a series has no value in a part.
  [[nodiscard]] std::vector<Course> Courses(Nanoseconds from, Nanoseconds until,
                                            Nanoseconds part) const;

 private:
  using Noted = std::vector<std::pair<Nanoseconds, double>>;

  mutable std::mutex mutex_;
  std::map<std::string, Noted> noted_;
};

// While it lives, it notes what the first replica and the tables of a world need, every few
// seconds, and many times a second how long a campaign with its resignation and a read take there.
// Values that a fault makes unavailable are left out.
class VitalsRecorder {
 public:
  VitalsRecorder(World& world, Vitals& vitals);

 private:
  std::jthread needs_;
  std::jthread times_;
};

}  // namespace tenure::testing
