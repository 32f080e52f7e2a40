// Files that an operator may change at any time.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <tl/expected.hpp>

namespace tenure::access {

inline constexpr size_t kFileBytesMax = 4 << 20;

// The whole content. The error is one sentence for the operator. Refuses a pipe: it can be read
// only once, and reading it blocks until somebody writes.
[[nodiscard]] inline tl::expected<std::string, std::string> ReadFile(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_fifo(path, ignored)) {
    return tl::unexpected(path + " is a pipe; use a file, since it is read more than once");
  }
  std::ifstream file(path, std::ios::binary);
  std::string text;
  char buffer[4'096];
  while (file.read(buffer, sizeof buffer) || file.gcount() > 0) {
    text.append(buffer, static_cast<size_t>(file.gcount()));
    if (text.size() > kFileBytesMax) return tl::unexpected(path + " is larger than 4 MB");
  }
  if (!file.eof()) return tl::unexpected("cannot read " + path);
  return text;
}

}  // namespace tenure::access
