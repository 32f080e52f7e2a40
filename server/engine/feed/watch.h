// What a call watches: an election, all whose names begin with a prefix, or a session's seats.
#pragma once

#include <compare>
#include <string>
#include <variant>

#include "core/types.h"

namespace tenure::engine {

struct WatchElection {
  ElectionName name;
  auto operator<=>(const WatchElection&) const = default;
};
struct WatchPrefix {
  std::string prefix;
  auto operator<=>(const WatchPrefix&) const = default;
};
struct WatchSession {
  SessionId session;
  auto operator<=>(const WatchSession&) const = default;
};
using Watch = std::variant<WatchElection, WatchPrefix, WatchSession>;

}  // namespace tenure::engine
