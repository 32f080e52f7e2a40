#include "client/tool/top/keys.h"

#include <algorithm>
#include <map>
#include <optional>

namespace tenure::top {
namespace {

constexpr char kEscape = '\x1b';
constexpr size_t kSequenceBytesMax = 16;

// What follows Escape in the sequences that terminals send.
const std::map<std::string_view, Key::Kind> kSequences = {
    {"[A", Key::Kind::kUp},   {"OA", Key::Kind::kUp},      {"[B", Key::Kind::kDown},
    {"OB", Key::Kind::kDown}, {"[5~", Key::Kind::kPageUp}, {"[6~", Key::Kind::kPageDown},
    {"[H", Key::Kind::kHome}, {"OH", Key::Kind::kHome},    {"[1~", Key::Kind::kHome},
    {"[F", Key::Kind::kEnd},  {"OF", Key::Kind::kEnd},     {"[4~", Key::Kind::kEnd},
};

// Length of the control sequence at the start, which is an Escape; 0 if it is incomplete.
size_t SequenceLength(std::string_view bytes) {
  if (bytes.size() < 2) return 0;
  if (bytes[1] == 'O') return bytes.size() < 3 ? 0 : 3;
  if (bytes[1] != '[') return 1;  // the Escape key, followed by another key
  for (size_t i = 2; i < bytes.size(); ++i) {
    if (bytes[i] >= 0x40 && bytes[i] <= 0x7E) return i + 1;
  }
  return bytes.size() > kSequenceBytesMax ? bytes.size() : 0;
}

// Length of the UTF-8 character at the start; 0 if it is incomplete.
size_t CharacterLength(std::string_view bytes) {
  const auto lead = static_cast<unsigned char>(bytes[0]);
  const size_t length = lead < 0xC0 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  return bytes.size() < length ? 0 : length;
}

std::optional<Key> KeyOf(std::string_view bytes) {
  using Kind = Key::Kind;
  const auto first = static_cast<unsigned char>(bytes[0]);
  if (first == kEscape) {
    if (bytes.size() == 1) return Key{Kind::kEscape};
    const auto known = kSequences.find(bytes.substr(1));
    return known == kSequences.end() ? std::nullopt : std::optional(Key{known->second});
  }
  switch (first) {
    case '\r':
    case '\n': return Key{Kind::kEnter};
    case '\b':
    case 0x7F: return Key{Kind::kBackspace};
    case 0x03: return Key{Kind::kInterrupt};
    default: break;
  }
  if (first < 0x20 || (first >= 0x80 && first < 0xC0)) return std::nullopt;
  return Key{Kind::kCharacter, std::string(bytes)};
}

}  // namespace

std::vector<Key> KeyDecoder::Take(std::string_view bytes) {
  bytes_ += bytes;
  std::vector<Key> keys;
  while (!bytes_.empty()) {
    const size_t length = bytes_[0] == kEscape ? SequenceLength(bytes_) : CharacterLength(bytes_);
    if (length == 0) break;
    if (auto key = KeyOf(std::string_view(bytes_).substr(0, length))) keys.push_back(*key);
    bytes_.erase(0, length);
  }
  return keys;
}

std::vector<Key> KeyDecoder::Flush() {
  const bool escape = bytes_ == std::string(1, kEscape);
  bytes_.clear();
  return escape ? std::vector<Key>{Key{Key::Kind::kEscape}} : std::vector<Key>{};
}

}  // namespace tenure::top
