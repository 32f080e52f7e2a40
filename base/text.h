// Bytes that others chose, made fit for a terminal: harmless, and of a known width. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tenure {

// Whether all of it is well-formed.
[[nodiscard]] bool IsUtf8(std::string_view bytes);

// UTF-8 is kept; what would move the cursor, reorder the line or not show at all is escaped, as
// "\n" or "\x1b", and so is what is not UTF-8.
[[nodiscard]] std::string Printable(std::string_view bytes);

// The same of JSON, which means the same afterwards: a string may have "\u202e" for a character.
// REQUIRES: valid JSON in UTF-8.
[[nodiscard]] std::string PrintableJson(std::string_view json);

// The following take text that is printable. Widths are columns of a terminal.
[[nodiscard]] size_t WidthOf(std::string_view text);
// At most so wide: what is too long ends with an ellipsis.
[[nodiscard]] std::string CutTo(std::string_view text, size_t width);
// At least so wide, with blanks after it or before it.
[[nodiscard]] std::string PadAfter(std::string text, size_t width);
[[nodiscard]] std::string PadBefore(std::string text, size_t width);
// Without its last character.
[[nodiscard]] std::string WithoutLast(std::string_view text);

}  // namespace tenure
