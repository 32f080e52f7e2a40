// A row of the table of homes: one incarnation (run) of a replica.
#pragma once

#include <cstdint>
#include <string>

#include "core/types.h"

namespace tenure {

// A replica, as it makes itself known to the others.
struct Peer {
  std::string id;       // 16 random bytes of its process: known only to readers of the database
  std::string address;  // where it serves gRPC: HOST:PORT

  bool operator==(const Peer&) const = default;
};

struct HomeRow {
  HomeId id;
  uint64_t beat = 0;        // the number of the row's last write; only the home itself advances it
  bool dead = false;        // never unset
  uint64_t departures = 0;  // how many sessions others have taken from it, or ended
  Duration good_for{0};     // H: how long a beat is good for. Versions may differ
  Peer peer = {};

  bool operator==(const HomeRow&) const = default;
};

}  // namespace tenure
