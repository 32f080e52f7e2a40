// Bytes as lower-case hexadecimal digits: for ids, and for SQL literals that need no escaping.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tenure {

inline constexpr std::string_view kHexDigits = "0123456789abcdef";

[[nodiscard]] inline std::string ToHex(std::string_view bytes) {
  std::string hex;
  hex.reserve(2 * bytes.size());
  for (const char c : bytes) {
    const auto byte = static_cast<uint8_t>(c);
    hex.push_back(kHexDigits[byte >> 4]);
    hex.push_back(kHexDigits[byte & 15]);
  }
  return hex;
}

}  // namespace tenure
