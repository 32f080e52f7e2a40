// An in-memory file, for a reader that needs a path. Its content changes atomically: a reader that
// opens it gets the old one or the new one, never a mixture.
#pragma once

#include <string>
#include <tl/expected.hpp>

namespace tenure::access {

// Not thread-safe, but its readers may be on other threads.
class MemoryFile {
 public:
  MemoryFile() = default;
  ~MemoryFile();
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  // The error is one sentence for the operator; the old content then stays.
  [[nodiscard]] tl::expected<void, std::string> Replace(const std::string& content);
  // Valid in this process only. REQUIRES: Replace has succeeded.
  [[nodiscard]] std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_ = -1;
};

}  // namespace tenure::access
