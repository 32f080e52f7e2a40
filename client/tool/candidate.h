// What `tenure campaign` and `tenure run` have in common: a client of the library.
#pragma once

#include <chrono>
#include <optional>

#include "client/tool/commands.h"
#include "tenure/client.h"

namespace tenure {

// For the library, where zero stands for nothing.
[[nodiscard]] inline std::chrono::milliseconds MillisOf(const std::optional<Duration>& duration) {
  return std::chrono::ceil<std::chrono::milliseconds>(duration.value_or(Duration(0)));
}

// REQUIRES: signals are blocked already.
template <typename Options>
[[nodiscard]] ClientOptions ClientOptionsOf(const CommonOptions& common, const Options& options) {
  return {.endpoints = common.endpoints,
          .candidate = options.candidate,
          .lease_ttl = MillisOf(options.lease_ttl),
          .supersede = options.supersede,
          .credentials = common.Credentials()};
}

}  // namespace tenure
