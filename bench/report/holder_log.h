// The log of a process that holds a seat: one line for each event. Its times are on the clock that
// all processes of the machine share.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace tenure::bench {

enum class HolderEvent { kBegan, kRenewed, kWorked, kResigning, kEnded };

using HolderTime = std::chrono::steady_clock::time_point;

[[nodiscard]] std::string HolderLine(HolderEvent event, HolderTime at);

struct HolderLog {
  std::optional<HolderTime> began;      // it believes that it leads
  std::optional<HolderTime> resigning;  // it is about to send the release
  std::optional<HolderTime> ended;      // it knows that it no longer leads
  size_t renewals = 0;
  std::vector<HolderTime> worked;

  // How long it kept working after `since`, when another process led already, in ms. Zero if it did
  // no work in that time.
  [[nodiscard]] double OverlapMs(HolderTime since) const;
};

// Throws std::runtime_error if a line cannot come from a holder.
[[nodiscard]] HolderLog ReadHolderLog(const std::vector<std::string>& lines);

}  // namespace tenure::bench
