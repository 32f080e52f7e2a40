// A file that is only in memory, for a reader that wants a path. Its content changes
// atomically: a reader that opens it gets the old one or the new one, never a mixture.
#pragma once

#include <string>
#include <tl/expected.hpp>

namespace tenure::access {

// Of one thread at a time, but its readers may be on others.
class MemoryFile {
 public:
  MemoryFile() = default;
  ~MemoryFile();
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  // The error is one sentence for the operator; the content is as before then.
  [[nodiscard]] tl::expected<void, std::string> Replace(const std::string& content);
  // For this process. REQUIRES: it was written.
  [[nodiscard]] std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_ = -1;
};

}  // namespace tenure::access
