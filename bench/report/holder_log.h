// What a process writes that holds a seat: a line for each thing that it does or learns, with the
// time on the clock that all processes of the machine share.
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
  std::optional<HolderTime> resigning;  // the release is about to be sent
  std::optional<HolderTime> ended;      // it knows that it no longer leads
  size_t renewals = 0;
  std::vector<HolderTime> worked;

  // How long it went on believing, from `since`, when another already led: zero unless it worked in
  // that time. In ms.
  [[nodiscard]] double OverlapMs(HolderTime since) const;
};

// Throws std::runtime_error if a line is none of a holder's.
[[nodiscard]] HolderLog ReadHolderLog(const std::vector<std::string>& lines);

}  // namespace tenure::bench
