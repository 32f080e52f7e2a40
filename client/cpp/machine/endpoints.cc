#include "client/cpp/machine/endpoints.h"

#include <algorithm>
#include <charconv>
#include <sstream>

namespace tenure {
namespace {

constexpr int kPortMax = 65'535;

std::string Trimmed(const std::string& text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(" \t") + 1 - first);
}

bool IsPort(const std::string& text) {
  int port = 0;
  const char* end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, port);
  return read.ec == std::errc() && read.ptr == end && port >= 1 && port <= kPortMax;
}

// What is wrong with the endpoint; empty if nothing is.
std::string Mistake(const std::string& endpoint) {
  if (endpoint.find("://") != std::string::npos) return "is a URL";
  if (endpoint.find_first_of("/ \t") != std::string::npos) return "is not an address";
  const bool brackets = endpoint.starts_with('[');
  if (!brackets && std::ranges::count(endpoint, ':') > 1) {
    return "is ambiguous; an IPv6 address is written [ADDRESS]:PORT";
  }
  const auto [host, port] = Split(endpoint);
  if (host.empty()) return "has no host";
  if (port.empty()) return "has no port";
  if (!IsPort(port)) return "has no port from 1 to 65535";
  return "";
}

}  // namespace

tl::expected<std::vector<std::string>, std::string> ParseEndpoints(const std::string& text) {
  std::vector<std::string> endpoints;
  std::istringstream list(text);
  for (std::string part; std::getline(list, part, ',');) {
    const std::string endpoint = Trimmed(part);
    if (endpoint.empty()) continue;
    const std::string mistake = Mistake(endpoint);
    if (!mistake.empty()) {
      return tl::unexpected("'" + endpoint + "' " + mistake + "; write HOST:PORT[,HOST:PORT...]");
    }
    endpoints.push_back(endpoint);
  }
  if (endpoints.empty()) {
    return tl::unexpected("'" + text + "' names no replica; write HOST:PORT[,HOST:PORT...]");
  }
  return endpoints;
}

HostAndPort Split(const std::string& endpoint) {
  const auto bracket = endpoint.starts_with('[') ? endpoint.find(']') : std::string::npos;
  const auto colon = endpoint.find(':', bracket == std::string::npos ? 0 : bracket);
  const std::string host = endpoint.substr(0, colon);
  return {bracket == std::string::npos ? host : endpoint.substr(1, bracket - 1),
          colon == std::string::npos ? "" : endpoint.substr(colon + 1)};
}

}  // namespace tenure
