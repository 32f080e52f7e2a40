// Durations as people write them on command lines.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace tenure {

// "500ms", "10s", "1.5s", "2m", "24h"; nothing for anything else. A unit is required.
[[nodiscard]] std::optional<std::chrono::microseconds> ParseDuration(std::string_view text);

// The shortest of those forms: "10s", "1500ms".
[[nodiscard]] std::string DurationText(std::chrono::microseconds duration);

}  // namespace tenure
