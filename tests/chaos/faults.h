// What is done to a world, and undone. Each fault has a name, and breaks what it breaks until it is
// healed.
#pragma once

#include <functional>
#include <random>
#include <string>
#include <vector>

#include "tests/chaos/world.h"

namespace tenure::testing {

struct Fault {
  std::string name;
  // Breaks something, and answers with what heals it.
  std::function<std::function<void()>(World&, std::mt19937_64&)> strike;
};

// Each kind, once. `small_disk` is a folder on a disk that may be filled up; without one, that is
// left out.
[[nodiscard]] std::vector<Fault> AllFaults(const std::string& small_disk);

}  // namespace tenure::testing
