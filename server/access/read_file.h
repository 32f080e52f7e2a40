// Files that an operator may change at any time.
#pragma once

#include <fstream>
#include <string>
#include <tl/expected.hpp>

namespace tenure::access {

// The whole content. The error is one sentence for the operator.
[[nodiscard]] inline tl::expected<std::string, std::string> ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text;
  char buffer[4'096];
  while (file.read(buffer, sizeof buffer) || file.gcount() > 0) {
    text.append(buffer, static_cast<size_t>(file.gcount()));
  }
  if (!file.eof()) return tl::unexpected("cannot read " + path);
  return text;
}

}  // namespace tenure::access
