// Makes untrusted bytes fit for a terminal: harmless, and of a known width. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tenure {

// Whether all of it is well-formed.
[[nodiscard]] bool IsUtf8(std::string_view bytes);

// Escapes, as "\n" or "\x1b", characters that would move the cursor, reorder the line or not show
// at all, and bytes that are not UTF-8. Keeps everything else.
[[nodiscard]] std::string Printable(std::string_view bytes);

// Like `Printable`, for JSON, whose meaning does not change: in a string, a character becomes
// "\u202e".
// REQUIRES: valid JSON in UTF-8.
[[nodiscard]] std::string PrintableJson(std::string_view json);

// The following take text that is printable. Widths are columns of a terminal.
[[nodiscard]] size_t WidthOf(std::string_view text);
// Cuts text that is wider than `width`; it then ends with an ellipsis.
[[nodiscard]] std::string CutTo(std::string_view text, size_t width);
// Pads text with blanks, after it or before it, to at least `width`.
[[nodiscard]] std::string PadAfter(std::string text, size_t width);
[[nodiscard]] std::string PadBefore(std::string text, size_t width);
// Without its last character.
[[nodiscard]] std::string WithoutLast(std::string_view text);

}  // namespace tenure
