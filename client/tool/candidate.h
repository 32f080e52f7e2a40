// What `tenure campaign` and `tenure run` have in common: a client of the library.
#pragma once

#include <chrono>
#include <optional>

#include "client/tool/commands.h"
#include "client/tool/troubles.h"
#include "tenure/client.h"

namespace tenure {

// For the library, where zero means unset.
[[nodiscard]] inline std::chrono::milliseconds MillisOf(const std::optional<Duration>& duration) {
  return std::chrono::ceil<std::chrono::milliseconds>(duration.value_or(Duration(0)));
}

// A short wait ends with one line about the trouble, if there is any; a long one reports it at
// once.
template <typename Options>
[[nodiscard]] bool ShowsTroubles(const Options& options) {
  return !options.wait || *options.wait > Duration(kTryPatience);
}

// REQUIRES: signals are blocked already; `troubles` outlives the client.
template <typename Options>
[[nodiscard]] ClientOptions ClientOptionsOf(const CommonOptions& common, const Options& options,
                                            Troubles& troubles) {
  return {.endpoints = common.endpoints,
          .candidate = options.candidate,
          .lease_ttl = MillisOf(options.lease_ttl),
          .supersede = options.supersede,
          .log = [&troubles](const LogEntry& entry) { troubles.Hear(entry); },
          .service_id = common.service_id,
          .credentials = common.Credentials()};
}

}  // namespace tenure
