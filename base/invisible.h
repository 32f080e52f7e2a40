// Characters that deceive the eye. Logs and tools escape them in untrusted text.
#pragma once

#include <algorithm>
#include <utility>

namespace tenure {

// Shows nothing itself, but changes how its neighbours are shown, or hides a difference: formats
// (Cf), separators of lines and paragraphs (Zl, Zp), and others that fonts show as nothing
// (Default_Ignorable_Code_Point of Unicode 15). Controls (Cc) are not among them.
[[nodiscard]] inline bool IsInvisible(char32_t code) {
  constexpr std::pair<char32_t, char32_t> kInvisible[] = {
      {0xAD, 0xAD},       {0x34F, 0x34F},     {0x600, 0x605},     {0x61C, 0x61C},
      {0x6DD, 0x6DD},     {0x70F, 0x70F},     {0x890, 0x891},     {0x8E2, 0x8E2},
      {0x115F, 0x1160},   {0x17B4, 0x17B5},   {0x180B, 0x180F},   {0x200B, 0x200F},
      {0x2028, 0x202E},   {0x2060, 0x206F},   {0x3164, 0x3164},   {0xFE00, 0xFE0F},
      {0xFEFF, 0xFEFF},   {0xFFA0, 0xFFA0},   {0xFFF0, 0xFFFB},   {0x110BD, 0x110BD},
      {0x110CD, 0x110CD}, {0x13430, 0x1343F}, {0x1BCA0, 0x1BCA3}, {0x1D173, 0x1D17A},
      {0xE0000, 0xE0FFF},
  };
  return std::ranges::any_of(kInvisible, [code](const auto& range) {
    return range.first <= code && code <= range.second;
  });
}

}  // namespace tenure
