#include "server/access/memory_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace tenure::access {
namespace {

constexpr unsigned kNotExecutable = 0x0008;  // MFD_NOEXEC_SEAL, since Linux 6.3

// Some kernels are set to refuse files that might be executed; older ones do not know the flag.
int NewFile() {
  const int file = memfd_create("tenured", MFD_CLOEXEC | kNotExecutable);
  return file < 0 && errno == EINVAL ? memfd_create("tenured", MFD_CLOEXEC) : file;
}

tl::unexpected<std::string> CannotKeep(int error) {
  return tl::unexpected(std::string("cannot keep a file in memory: ") + std::strerror(error));
}

}  // namespace

MemoryFile::~MemoryFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

tl::expected<void, std::string> MemoryFile::Replace(const std::string& content) {
  const int next = NewFile();
  if (next < 0) return CannotKeep(errno);
  for (size_t written = 0; written < content.size();) {
    const ssize_t more = write(next, content.data() + written, content.size() - written);
    if (more < 0 && errno == EINTR) continue;
    if (more <= 0) {
      const int error = errno;
      close(next);
      return CannotKeep(error);
    }
    written += static_cast<size_t>(more);
  }
  if (descriptor_ < 0) {
    descriptor_ = next;
    return {};
  }
  const bool replaced = dup3(next, descriptor_, O_CLOEXEC) >= 0;
  const int error = errno;
  close(next);
  if (!replaced) return CannotKeep(error);
  return {};
}

}  // namespace tenure::access
