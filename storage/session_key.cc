#include "storage/session_key.h"

#include <unistd.h>

#include <array>

namespace tenure {
namespace {

constexpr size_t kKeyBytes = 32;

}  // namespace

Result<std::string> NewSessionKey() {
  std::array<char, kKeyBytes> key{};
  if (getentropy(key.data(), key.size()) != 0) {
    return Fail(Reason::kStoreUnavailable, "the kernel has no random numbers for a session key");
  }
  return std::string(key.begin(), key.end());
}

}  // namespace tenure
