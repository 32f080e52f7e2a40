// The replicas that a user names. Pure.
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <vector>

namespace tenure {

// Parses "host:port[,host:port...]"; blanks around endpoints are ignored. The error says what is
// wrong, and what is allowed.
[[nodiscard]] tl::expected<std::vector<std::string>, std::string> ParseEndpoints(
    const std::string& text);

struct HostAndPort {
  std::string host;  // an IPv6 address without its brackets
  std::string port;
};
// REQUIRES: an endpoint that ParseEndpoints returned.
[[nodiscard]] HostAndPort Split(const std::string& endpoint);

}  // namespace tenure
