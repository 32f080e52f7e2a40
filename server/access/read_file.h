// Files that an operator may change at any time.
#pragma once

#include <fstream>
#include <iterator>
#include <string>
#include <tl/expected.hpp>

namespace tenure::access {

// The whole content. The error is one sentence for the operator.
[[nodiscard]] inline tl::expected<std::string, std::string> ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return tl::unexpected("cannot read " + path);
  std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (file.bad()) return tl::unexpected("cannot read " + path);
  return text;
}

}  // namespace tenure::access
