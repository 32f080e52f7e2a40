// A row of the table of homes: one incarnation (run) of a replica.
#pragma once

#include <cstdint>

#include "core/types.h"

namespace tenure {

struct HomeRow {
  HomeId id;
  uint64_t beat = 0;        // the number of the row's last write; only the home itself advances it
  bool dead = false;        // never unset again
  uint64_t departures = 0;  // how many sessions others have taken from it, or ended
  Duration good_for{0};     // H: how long a beat is good for. Versions may differ

  bool operator==(const HomeRow&) const = default;
};

}  // namespace tenure
