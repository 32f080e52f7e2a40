// The script: what is done to candidates on each bad day, and what must be seen then. The witness
// checks what must never be seen, on any day.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tests/polyglot/bad_days/cast.h"
#include "tests/polyglot/bad_days/stage.h"

namespace tenure::testing {

struct Day {
  std::string name;
  // How the leader works when it is asked to stop: it lingers until its term ends, so that its
  // deadline is seen; or it stops.
  bool lingers = false;
  // What one cast goes through, from when it has settled. Throws Missed.
  std::function<void(Cast&)> play = {};
  // What must be seen once the strike has been healed. Throws Missed.
  std::function<void(Cast&)> afterwards = {};
  // What happens to the service, and so to all casts at once, before they play and after.
  std::function<void(Stage&)> strike = {};
  std::function<void(Stage&)> heal = {};
};

[[nodiscard]] const std::vector<Day>& AllDays();

}  // namespace tenure::testing
