#pragma once

#include <cstdint>
#include <optional>

#include "core/types.h"
#include "storage/read_store.h"

namespace tenure::engine {

// A session's place in an election, as it was read.
struct Place {
  // Set if the election exists, and the position was asked for or the session does not wait.
  std::optional<ElectionView> election;
  bool waiting = false;
  uint64_t position = 0;  // if asked for

  [[nodiscard]] bool LedBy(const SessionId& session) const {
    return election && election->election.leader && election->election.leader->session == session;
  }
};

}  // namespace tenure::engine
