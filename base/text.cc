#include "base/text.h"

#include <wchar.h>
#include <wctype.h>

#include <clocale>
#include <cstdio>
#include <optional>

#include "base/invisible.h"

namespace tenure {
namespace {

constexpr std::string_view kEllipsis = "…";

// libc's character tables depend on the locale of the thread.
class Utf8 {
 public:
  Utf8() : before_(uselocale(Locale())) {}
  ~Utf8() { uselocale(before_); }
  Utf8(const Utf8&) = delete;
  Utf8& operator=(const Utf8&) = delete;

 private:
  static locale_t Locale() {
    static const locale_t locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
    return locale == nullptr ? LC_GLOBAL_LOCALE : locale;
  }

  const locale_t before_;
};

struct Character {
  char32_t code = 0;
  size_t bytes = 0;
};

// The character at the beginning of `text`; nothing if that is not well-formed UTF-8.
std::optional<Character> First(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return Character{lead, 1};
  const size_t bytes = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < bytes) return std::nullopt;
  char32_t code = lead & (0xFF >> (bytes + 1));
  for (size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return std::nullopt;
    code = code << 6 | (byte(i) & 0x3F);
  }
  constexpr char32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  if (code < kLeast[bytes] || code > 0x10FFFF || surrogate) return std::nullopt;
  return Character{code, bytes};
}

// REQUIRES: a Utf8 in scope. Negative if it cannot be printed.
int Columns(char32_t code) {
  if (code < 0x20 || (code >= 0x7F && code < 0xA0) || IsInvisible(code)) return -1;
  return code < 0x7F ? 1 : wcwidth(static_cast<wchar_t>(code));
}

std::string Escaped(unsigned char byte) {
  constexpr char kDigits[] = "0123456789abcdef";
  switch (byte) {
    case '\n': return "\\n";
    case '\r': return "\\r";
    case '\t': return "\\t";
    default: return {'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15]};
  }
}

// JSON's numeric escape of a character, in UTF-16.
std::string Numbered(char32_t code) {
  const auto unit = [](char32_t it) {
    char text[sizeof("\\uffff")];
    std::snprintf(text, sizeof(text), "\\u%04x", static_cast<unsigned>(it & 0xFFFF));
    return std::string(text);
  };
  if (code < 0x10000) return unit(code);
  return unit(0xD800 + ((code - 0x10000) >> 10)) + unit(0xDC00 + (code & 0x3FF));
}

// Calls `take(bytes, columns)` for each character, until that answers false.
template <typename Take>
void ForEach(std::string_view text, Take take) {
  const Utf8 locale;
  while (!text.empty()) {
    const auto character = First(text);
    const size_t bytes = character ? character->bytes : 1;
    const int columns = character ? Columns(character->code) : -1;
    if (!take(text.substr(0, bytes), columns)) return;
    text.remove_prefix(bytes);
  }
}

size_t Positive(int columns) { return columns > 0 ? static_cast<size_t>(columns) : 0; }

}  // namespace

bool IsUtf8(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto character = First(bytes);
    if (!character) return false;
    bytes.remove_prefix(character->bytes);
  }
  return true;
}

std::string Printable(std::string_view bytes) {
  std::string text;
  ForEach(bytes, [&](std::string_view character, int columns) {
    if (columns >= 0) {
      text += character;
    } else {
      for (const char byte : character) text += Escaped(static_cast<unsigned char>(byte));
    }
    return true;
  });
  return text;
}

std::string PrintableJson(std::string_view json) {
  std::string text;
  ForEach(json, [&](std::string_view character, int columns) {
    const auto known = First(character);
    // JSON itself escapes those of ASCII, except the last.
    const bool escaped = columns < 0 && known && known->code >= 0x7F;
    text += escaped ? Numbered(known->code) : std::string(character);
    return true;
  });
  return text;
}

size_t WidthOf(std::string_view text) {
  size_t width = 0;
  ForEach(text, [&](std::string_view, int columns) {
    width += Positive(columns);
    return true;
  });
  return width;
}

std::string CutTo(std::string_view text, size_t width) {
  if (WidthOf(text) <= width) return std::string(text);
  if (width == 0) return "";
  std::string cut;
  size_t taken = 0;
  ForEach(text, [&](std::string_view character, int columns) {
    taken += Positive(columns);
    if (taken > width - 1) return false;
    cut += character;
    return true;
  });
  return cut + std::string(kEllipsis);
}

std::string PadAfter(std::string text, size_t width) {
  const size_t now = WidthOf(text);
  if (now < width) text.append(width - now, ' ');
  return text;
}

std::string PadBefore(std::string text, size_t width) {
  const size_t now = WidthOf(text);
  if (now < width) text.insert(0, width - now, ' ');
  return text;
}

std::string WithoutLast(std::string_view text) {
  size_t last = 0;
  size_t end = 0;
  ForEach(text, [&](std::string_view character, int) {
    last = end;
    end += character.size();
    return true;
  });
  return std::string(text.substr(0, last));
}

}  // namespace tenure
