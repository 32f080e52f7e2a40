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

// Each kind, once, that can be done to such a world.
[[nodiscard]] std::vector<Fault> FaultsFor(const WorldPlan& plan);

}  // namespace tenure::testing
