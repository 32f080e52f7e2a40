// What is typed at a terminal, key by key.
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

// Takes bytes as they come: one key may come in two parts. Keys that mean nothing here are dropped.
// Not thread-safe.
class KeyDecoder {
 public:
  [[nodiscard]] std::vector<Key> Take(std::string_view bytes);
  // Whether the beginning of a key has come, or the key Escape.
  [[nodiscard]] bool pending() const { return !bytes_.empty(); }
  // Nothing more comes: it was Escape.
  [[nodiscard]] std::vector<Key> Flush();

 private:
  std::string bytes_;  // not understood yet
};

}  // namespace tenure::top
