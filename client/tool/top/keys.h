// Keys typed at a terminal.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tenure::top {

struct Key {
  enum class Kind {
    kCharacter,  // `text`, in UTF-8
    kEnter,
    kEscape,
    kBackspace,
    kUp,
    kDown,
    kPageUp,
    kPageDown,
    kHome,
    kEnd,
    kInterrupt,  // Ctrl-C
  };
  Kind kind = Kind::kCharacter;
  std::string text = {};

  bool operator==(const Key&) const = default;
};

// Takes bytes as they arrive; a key may arrive in two parts. Drops keys that have no meaning here.
// Not thread-safe.
class KeyDecoder {
 public:
  [[nodiscard]] std::vector<Key> Take(std::string_view bytes);
  // Whether an incomplete key, or the Escape key, is buffered.
  [[nodiscard]] bool pending() const { return !bytes_.empty(); }
  // No more bytes follow: it was the Escape key.
  [[nodiscard]] std::vector<Key> Flush();

 private:
  std::string bytes_;  // not decoded yet
};

}  // namespace tenure::top
