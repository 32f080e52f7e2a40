// Faults: what chaos does to a world, and undoes. Each has a name, and lasts until it is healed.
#pragma once

#include <functional>
#include <random>
#include <string>
#include <vector>

#include "tests/chaos/world.h"

namespace tenure::testing {

struct Fault {
  std::string name;
  // Breaks something, and returns a function that heals it.
  std::function<std::function<void()>(World&, std::mt19937_64&)> strike;
};

// One fault of each kind that is possible in such a world.
[[nodiscard]] std::vector<Fault> FaultsFor(const WorldPlan& plan);

}  // namespace tenure::testing
