// What fuzz targets are made of.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string_view>

// Ends the program unless `holds`; libFuzzer then keeps the input.
inline void Require(bool holds, std::string_view what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %.*s\n", static_cast<int>(what.size()), what.data());
  std::abort();
}

// The text before the next `end`, which is taken off `rest` with it; all of it if there is none.
inline std::string_view TakeUntil(std::string_view& rest, char end) {
  const std::string_view taken = rest.substr(0, rest.find(end));
  rest.remove_prefix(taken.size() < rest.size() ? taken.size() + 1 : rest.size());
  return taken;
}
