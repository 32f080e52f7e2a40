#include "base/duration_text.h"

#include <array>
#include <charconv>
#include <cmath>
#include <utility>

namespace tenure {
namespace {

using namespace std::chrono_literals;

// The longest suffix that fits is meant: "ms" before "s".
constexpr std::array<std::pair<std::string_view, std::chrono::microseconds>, 4> kUnits = {
    {{"ms", 1ms}, {"s", 1s}, {"m", 1min}, {"h", 1h}}};
constexpr double kMicrosMax = 1e18;

}  // namespace

std::optional<std::chrono::microseconds> ParseDuration(std::string_view text) {
  double number = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number, std::chars_format::fixed);
  if (error != std::errc() || !std::isfinite(number)) return std::nullopt;
  const std::string_view suffix(rest, static_cast<size_t>(end - rest));
  for (const auto& [name, unit] : kUnits) {
    if (suffix != name) continue;
    const double micros = std::round(number * static_cast<double>(unit.count()));
    if (std::abs(micros) > kMicrosMax) return std::nullopt;
    return std::chrono::microseconds(static_cast<int64_t>(micros));
  }
  return std::nullopt;
}

std::string DurationText(std::chrono::microseconds duration) {
  for (auto unit = kUnits.rbegin(); unit != kUnits.rend(); ++unit) {
    if (duration.count() % unit->second.count() == 0 && duration != std::chrono::microseconds(0)) {
      return std::to_string(duration / unit->second) + std::string(unit->first);
    }
  }
  return std::to_string(duration / 1ms) + "ms";
}

}  // namespace tenure
