// What a candidate says on its standard output: one line of JSON for each event, as README.md
// describes.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tenure::testing {

// CLOCK_MONOTONIC, which all candidates read.
using Moment = std::chrono::steady_clock::time_point;

struct Line {
  enum class Event : uint8_t { kBelief, kLeading, kWorking, kStop, kStopped, kOver, kRefused };

  Event event = Event::kBelief;
  uint64_t term = 0;  // of a belief: 0 if the candidate does not lead
  Moment at;          // of a belief: after it was last asked for
  std::string cause = {};

  // For a belief: after it was first asked for, and before it was last asked for.
  Moment first = {};
  Moment last = {};
  std::optional<Moment> deadline = {};  // as the library showed it then, if it does
};

// Throws std::invalid_argument if it is no such line.
[[nodiscard]] Line ParseLine(std::string_view text);

}  // namespace tenure::testing
